//! Random numbers from a range.

use fathom_base::{Rate, Rng};

/// Draws a number from `low` to `high` with a uniform logarithm.
pub(super) fn log_uniform(rng: &mut Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.uniform() * (high / low).ln()).exp()
}

/// Draws an integer with a uniform logarithm. Both ends are included.
pub(super) fn log_whole(rng: &mut Rng, low: u64, high: u64) -> u64 {
    let drawn = log_uniform(rng, low as f64, (high + 1) as f64) as u64;
    drawn.clamp(low, high)
}

/// Draws an integer uniformly. Both ends are included.
pub(super) fn whole(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

/// Draws one of `items` uniformly. The caller must pass at least one.
pub(super) fn pick<T: Copy>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.below(items.len() as u64) as usize]
}

pub(super) fn divisors(n: u64, most: u64) -> Vec<u64> {
    (1..=most.min(n)).filter(|d| n.is_multiple_of(*d)).collect()
}

/// Returns a rate of `units` times `unit` bytes per second, with `units` rounded to an integer; at least one unit.
pub(super) fn rate(units: f64, unit: f64) -> Rate {
    Rate::new((units.round() * unit) as u64).unwrap_or_else(|| rate(1.0, unit))
}

//! The statistics that turn samples into answers: pure functions over slices.
//!
//! Nothing here does I/O, knows a drive or reads a clock. What needs chance takes a [`fathom_base::Rng`], so that
//! an answer is a function of (record, seed). Latencies and rates are compared as ratios, on a log scale; every
//! test has a null model, and may answer that it cannot tell.
//!
//! Samples are taken as exchangeable within a group. A drive whose speed wanders over minutes breaks that; measure
//! the groups interleaved, not one after the other.

pub mod multiples;
pub mod onset;
pub mod paper;
pub mod place;
pub mod robust;
pub mod separate;
pub mod teeth;

/// From `low` to `high`, both included; the unit is that of the quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same interval after a growing function, such as `f64::exp`.
    pub fn map(self, grow: impl Fn(f64) -> f64) -> Self {
        Self {
            low: grow(self.low),
            high: grow(self.high),
        }
    }
}

/// Standard normal quantile of `p` in (0, 1); clamped to +-8.3 outside of what `f64` resolves.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    Normal::standard()
        .inverse_cdf(p.clamp(1e-16, 1.0 - 1e-16))
        .clamp(-8.3, 8.3)
}

//! The speed of a fill over its bytes: where it drops, and what a pause gives back.

use fathom_stats::levels::levels;
use fathom_stats::location::median;
use std::ops::Range;

/// A level has at least so many pieces, and a fill at most so many levels: the cache, direct writes, folding, and one more.
const PIECES_MIN: usize = 4;
const LEVELS_MAX: usize = 4;
/// A drop is to less than 1 / this of the speed.
const DROP_MIN: f64 = 1.25;
/// The most points of a curve; longer ones are thinned by adding neighbours.
const POINTS_MAX: usize = 512;

/// A piece of a fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) bytes: f64,
    pub(super) ns: f64,
}

impl Piece {
    fn log_speed(&self) -> f64 {
        (self.bytes / self.ns.max(1.0) * 1e9).ln()
    }
}

/// A drop of the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drop {
    /// The bytes written before it, and the interval.
    pub(super) bytes: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// The speeds before and after, in bytes per second.
    pub(super) fast: f64,
    pub(super) slow: f64,
    /// The number of pieces after the drop, as written.
    pub(super) after: usize,
}

impl Drop {
    /// Returns true if another fill drops at the same number of bytes.
    pub(super) fn comes_again(&self, other: &Drop) -> bool {
        let point = (self.high - self.low) / 2.0;
        (self.bytes - other.bytes).abs() <= (2.0 * point).max(0.1 * self.bytes)
    }

    /// Returns the bytes at the head of a fill that were written at the fast speed: up to two slow pieces in a row.
    pub(super) fn fast_bytes(&self, pieces: &[Piece]) -> f64 {
        let middle = (self.fast.ln() + self.slow.ln()) / 2.0;
        let slow: Vec<bool> = pieces.iter().map(|p| p.log_speed() < middle).collect();
        let end = (0..slow.len())
            .find(|i| slow[*i] && slow.get(i + 1).copied().unwrap_or(true))
            .unwrap_or(slow.len());
        pieces[..end]
            .iter()
            .fold(0.0, |sum, piece| sum + piece.bytes)
    }
}

fn thinned(pieces: &[Piece]) -> Vec<Piece> {
    let each = pieces.len().div_ceil(POINTS_MAX).max(1);
    let sum = |all: &[Piece]| Piece {
        bytes: all.iter().map(|piece| piece.bytes).sum(),
        ns: all.iter().map(|piece| piece.ns).sum(),
    };
    pieces.chunks(each).map(sum).collect()
}

/// Splits a range of points where two levels fit best, by the absolute deviations from their medians. Returns the first point of
/// the second level, and the first level. A level as short as the shortest may hold points of the next one: a cache of two
/// pieces is no level of its own.
fn split(logs: &[f64], range: Range<usize>) -> (usize, f64) {
    let level = |range: Range<usize>| median(&logs[range]).unwrap_or_default();
    let off = |range: Range<usize>| {
        let level = level(range.clone());
        let deviations = logs[range].iter().map(|log| (log - level).abs());
        deviations.sum::<f64>()
    };
    let both = |at: &usize| off(range.start..*at) + off(*at..range.end);
    let ends = range.start + 1..=(range.start + PIECES_MIN).min(range.end);
    let best = ends.min_by(|a, b| both(a).total_cmp(&both(b)));
    let at = best.unwrap_or(range.end);
    (at, level(range.start..at))
}

/// Returns the first lasting drop of a fill from its fastest level; `None` if the fill has none. The first `memory` bytes
/// may have gone into memory and do not count as a level.
pub(super) fn drop(pieces: &[Piece], memory: f64) -> Option<Drop> {
    let points = thinned(pieces);
    let logs: Vec<f64> = points.iter().map(Piece::log_speed).collect();
    let point = points.first()?.bytes;
    let skipped = ((memory / point).ceil() as usize).min(logs.len());
    let found = levels(&logs[skipped..], PIECES_MIN, LEVELS_MAX);
    let (top, fastest) = (found.iter().enumerate())
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
        .map(|(i, level)| (i, level.value))?;
    let below = |value: f64| value <= fastest - DROP_MIN.ln();
    let slower = found
        .iter()
        .skip(top + 1)
        .find(|level| below(level.value))?;
    let at = skipped + slower.from;
    // The speed must not come back: folding in the background makes it swing, and a stall ends.
    if !below(median(&logs[at..])?) {
        return None;
    }
    let last = &found[top];
    let (at, fastest) = match at - skipped - last.from {
        PIECES_MIN => split(&logs, skipped + last.from..skipped + slower.to),
        _ => (at, fastest),
    };
    let time = |log: f64| (-log).exp();
    let (fast_time, slow_time) = (time(fastest), time(slower.value));
    let left = |(i, point): (usize, &Piece)| {
        // The piece in which the cache ends lies on either side of the change.
        let share = match i + 1 {
            _ if i < skipped => 1.0,
            next if next < at => 1.0,
            next if next > at + 1 => 0.0,
            _ => (slow_time - time(point.log_speed())) / (slow_time - fast_time),
        };
        share.clamp(0.0, 1.0) * point.bytes
    };
    let bytes: f64 = points.iter().enumerate().map(left).sum();
    let before: f64 = points[..at].iter().map(|p| p.bytes).sum();
    let each = pieces.len().div_ceil(points.len()).max(1);
    Some(Drop {
        bytes,
        low: (before - point).max(0.0).min(bytes),
        high: (before + point).max(bytes),
        fast: fastest.exp(),
        slow: slower.value.exp(),
        after: pieces.len().saturating_sub(at * each),
    })
}

/// Returns the time in seconds after which a pause has given back nine tenths, by an exponential law through the shares
/// that pauses of given seconds gave back. `None` if none of them gave back a tenth.
pub(super) fn recovery(shares: &[(f64, f64)]) -> Option<f64> {
    let most = shares.iter().map(|share| share.1).fold(0.0, f64::max);
    if most < 0.1 {
        return None;
    }
    let off = |constant: f64| -> f64 {
        let law = |seconds: f64| 1.0 - (-seconds / constant).exp();
        shares
            .iter()
            .map(|(at, share)| (share.min(1.0) - law(*at)).abs())
            .sum()
    };
    // From 0.1 s to 10,000 s in steps of 2 %.
    let constants = (0..582).map(|i| 0.1 * 1.02_f64.powi(i));
    let best = constants.min_by(|a, b| off(*a).total_cmp(&off(*b)))?;
    Some(best * 10.0_f64.ln())
}

#[cfg(test)]
mod tests {
    use super::{Piece, drop, recovery};
    use fathom_base::Rng;

    const MIB: f64 = 1_048_576.0;

    /// Returns a fill in pieces of 1 MiB: so many bytes at each speed in turn, with a relative spread.
    fn fill(parts: &[(f64, f64)], spread: f64, seed: u64) -> Vec<Piece> {
        let mut rng = Rng::new(seed, 5);
        let ends: Vec<f64> = parts
            .iter()
            .scan(0.0, |end, part| {
                *end += part.0;
                Some(*end)
            })
            .collect();
        let total = ends.last().copied().unwrap_or_default();
        (0..(total / MIB) as usize)
            .map(|i| {
                let (from, to) = (i as f64 * MIB, (i + 1) as f64 * MIB);
                let ns: f64 = (parts.iter().zip(&ends))
                    .map(|((len, speed), end)| {
                        let bytes = (to.min(*end) - from.max(end - len)).max(0.0);
                        bytes / speed * 1e9
                    })
                    .sum();
                let ns = ns * (spread * rng.normal()).exp();
                Piece { bytes: MIB, ns }
            })
            .collect()
    }

    #[test]
    fn the_end_of_the_cache_is_found_within_a_piece() {
        for seed in 0..50 {
            let size = (20.0 + seed as f64 * 2.3) * MIB;
            let pieces = fill(&[(size, 2e9), (250.0 * MIB - size, 5e8)], 0.05, seed);
            let found = drop(&pieces, 0.0).unwrap();
            assert!((found.bytes - size).abs() <= 0.5 * MIB, "{size} {found:?}");
            assert!(found.low <= size && size <= found.high, "{size} {found:?}");
            assert!((found.fast / 2e9 - 1.0).abs() < 0.05 && (found.slow / 5e8 - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn a_cache_of_two_pieces_ends_where_it_does() {
        for seed in 0..50 {
            let size = (1.6 + seed as f64 * 0.1) * MIB;
            let pieces = fill(&[(size, 8e8), (190.0 * MIB, 1.5e8)], 0.02, seed);
            // Half of a level of four pieces at least must be fast.
            let Some(found) = drop(&pieces, 0.0) else {
                assert!(size < 2.2 * MIB, "{size}");
                continue;
            };
            assert!((found.bytes - size).abs() <= 0.3 * MIB, "{size} {found:?}");
            assert!(found.low <= size && size <= found.high, "{size} {found:?}");
            // The first piece is all fast.
            assert!(found.fast > 6e8, "{size} {found:?}");
        }
    }

    #[test]
    fn a_third_speed_does_not_hide_the_first_drop() {
        let parts = [(40.0 * MIB, 2e9), (100.0 * MIB, 8e8), (110.0 * MIB, 3e8)];
        let found = drop(&fill(&parts, 0.1, 1), 0.0).unwrap();
        assert!((found.bytes - 40.0 * MIB).abs() <= MIB, "{found:?}");
    }

    #[test]
    fn a_level_fill_and_a_passing_stall_have_no_drop() {
        for seed in 0..200 {
            assert_eq!(drop(&fill(&[(200.0 * MIB, 1e9)], 0.3, seed), 0.0), None);
            let stall = [(80.0 * MIB, 1e9), (20.0 * MIB, 4e8), (100.0 * MIB, 1e9)];
            assert_eq!(drop(&fill(&stall, 0.05, seed), 0.0), None);
        }
        // Erases that begin once the erased blocks are used up cost a tenth.
        let erases = [(80.0 * MIB, 1e9), (120.0 * MIB, 9e8)];
        assert_eq!(drop(&fill(&erases, 0.02, 1), 0.0), None);
    }

    #[test]
    fn what_memory_takes_is_no_level() {
        let memory = fill(&[(30.0 * MIB, 2e9), (170.0 * MIB, 5e8)], 0.05, 1);
        assert!(drop(&memory, 0.0).is_some());
        assert_eq!(drop(&memory, 64.0 * MIB), None);
        let cache = fill(&[(90.0 * MIB, 2e9), (110.0 * MIB, 5e8)], 0.05, 1);
        let found = drop(&cache, 64.0 * MIB).unwrap();
        assert!((found.bytes - 90.0 * MIB).abs() <= MIB, "{found:?}");
    }

    #[test]
    fn long_fills_are_thinned() {
        let pieces = fill(&[(3000.0 * MIB, 2e9), (6000.0 * MIB, 5e8)], 0.05, 1);
        let found = drop(&pieces, 0.0).unwrap();
        assert!((found.bytes / MIB - 3000.0).abs() < 20.0, "{found:?}");
        assert!(found.after.abs_diff(6000) < 40, "{found:?}");
    }

    #[test]
    fn the_head_of_a_fill_is_as_long_as_it_is_fast() {
        let found = drop(&fill(&[(40.0 * MIB, 2e9), (80.0 * MIB, 5e8)], 0.05, 1), 0.0).unwrap();
        let head = fill(&[(15.0 * MIB, 2e9), (80.0 * MIB, 5e8)], 0.05, 2);
        assert_eq!(found.fast_bytes(&head), 15.0 * MIB);
        assert_eq!(found.fast_bytes(&fill(&[(30.0 * MIB, 5e8)], 0.05, 3)), 0.0);
    }

    #[test]
    fn recovery_follows_the_exponential_law() {
        let law =
            |constant: f64| [1.0, 10.0, 60.0, 600.0].map(|t| (t, 1.0 - (-t / constant).exp()));
        for constant in [0.5, 8.0, 120.0] {
            let found = recovery(&law(constant)).unwrap();
            let wanted = constant * 10.0_f64.ln();
            assert!((found / wanted - 1.0).abs() < 0.02, "{found} {wanted}");
        }
        assert_eq!(recovery(&[(1.0, 0.0), (600.0, 0.02)]), None);
    }
}

//! Finds the piece of a run of equal writes from which on a write waits for the flash because memory is full.
//!
//! Every run begins with empty memory, so the piece that does not fit is the same one in all runs, while a stall from
//! another cause comes at a different piece in each run. The score of a piece is minus the logarithm of the share of times,
//! among those known to fit, that are at least as long. It has an exponential distribution if the piece fits. The mean over
//! the runs, less its expected value and an allowance, is summed from piece to piece (CUSUM; Page 1954). The sum begins to
//! rise at the onset, both if one piece waits and the next ones are fast again (because the flash is faster than the link)
//! and if all later pieces wait a little.

use crate::location;

/// The probability that the sum rises this high from a given piece on although nothing waits.
const ERROR: f64 = 1e-4;
/// The allowance that is subtracted from the mean score, in addition to its expected value.
const ALLOWANCE: f64 = 0.5;
/// Wald's exponent for the scores of pieces that fit, for each run: the root of `-ln(1 - c) = (1 + ALLOWANCE) c`.
const EXPONENT: f64 = 0.583;

/// The onset is the first piece of the rise that gains at least this share of the largest gain.
const CLEAR: f64 = 0.5;

/// Returns the index, from 0, of the first piece that waits in (nearly) all runs; `None` if no piece does.
///
/// `runs` are the times of the pieces, run by run; pieces beyond the length of the shortest run are ignored. The first
/// `fitting` pieces, at least one, are known to fit. `least` is the least wait that matters, in the unit of the times.
pub fn onset(runs: &[Vec<f64>], fitting: usize, least: f64) -> Option<usize> {
    let pieces = runs.iter().map(Vec::len).min()?;
    let first = |run: &Vec<f64>| run.iter().take(fitting).copied().collect::<Vec<_>>();
    let usual = location::sorted(&runs.iter().flat_map(first).collect::<Vec<_>>());
    let typical = location::median(&usual)?;
    let high = -ERROR.ln() / (EXPONENT * runs.len() as f64);
    let at = |index: usize| runs.iter().filter_map(move |run| run.get(index)).copied();
    let (mut sum, mut rise) = (0.0, Vec::new());
    for index in fitting..pieces {
        let scores: f64 = at(index).map(|time| score(&usual, time)).sum();
        let gain = scores / runs.len() as f64 - 1.0 - ALLOWANCE;
        sum += gain;
        rise.push(gain);
        if sum <= 0.0 {
            sum = 0.0;
            rise.clear();
        }
        if sum > high {
            // A fitting piece just before the onset may have been a little long by chance.
            let most = rise.iter().copied().fold(0.0, f64::max);
            let early = rise
                .iter()
                .position(|gain| *gain >= CLEAR * most)
                .unwrap_or(0);
            let begin = index + 1 - rise.len() + early;
            let times: Vec<f64> = (begin..=index).flat_map(at).collect();
            // During the rise, the typical time must exceed the usual one by a wait that matters.
            if location::median(&times)? - typical > least {
                return Some(begin);
            }
        }
    }
    None
}

/// Returns minus the logarithm of the share of `usual` (ascending) that is at least as long as `time`, which itself is
/// counted.
fn score(usual: &[f64], time: f64) -> f64 {
    let longer = usual.len() - usual.partition_point(|u| *u < time);
    -((longer as f64 + 1.0) / (usual.len() as f64 + 1.0)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    /// Returns the times of `n` pieces with 20 % of normal noise, of which one in fifty takes five times as long.
    fn run(rng: &mut Rng, n: usize, wait: impl Fn(usize) -> f64) -> Vec<f64> {
        let piece = |i| {
            let tail = if rng.chance(0.02) { 5.0 } else { 1.0 };
            100.0 * (1.0 + 0.2 * rng.normal()).max(0.2) * tail + wait(i)
        };
        (0..n).map(piece).collect()
    }

    #[test]
    fn the_piece_that_waits_is_found_whether_one_waits_or_all_that_follow() {
        for sustained in [false, true] {
            for seed in 0..20 {
                let mut rng = Rng::new(seed, 1);
                let at = 16 + (seed as usize * 7) % 40;
                let wait = |i| {
                    if i == at || (sustained && i > at) {
                        1_000.0
                    } else {
                        0.0
                    }
                };
                let runs: Vec<Vec<f64>> = (0..6).map(|_| run(&mut rng, 64, wait)).collect();
                let found = onset(&runs, 16, 5.0);
                assert_eq!(found, Some(at), "seed {seed}, sustained {sustained}");
            }
        }
    }

    #[test]
    fn stalls_that_come_at_other_pieces_in_every_run_are_none() {
        let seen = (0..400).filter(|seed| {
            let mut rng = Rng::new(*seed, 2);
            let runs: Vec<Vec<f64>> = (0..6)
                .map(|_| {
                    let at = rng.below(64) as usize;
                    run(&mut rng, 64, |i| if i == at { 10_000.0 } else { 0.0 })
                })
                .collect();
            onset(&runs, 16, 5.0).is_some()
        });
        // A chance of one in ten thousand at each of 48 pieces gives two in 400.
        assert!(seen.count() <= 6);
    }

    #[test]
    fn a_wait_too_short_to_matter_is_none() {
        let runs: Vec<Vec<f64>> = (0..6)
            .map(|r| {
                (0..64)
                    .map(|i| 100.0 + 0.01 * f64::from(r) + if i >= 30 { 3.0 } else { 0.0 })
                    .collect()
            })
            .collect();
        assert_eq!(onset(&runs, 16, 5.0), None);
        assert_eq!(onset(&runs, 16, 2.0), Some(30));
        assert_eq!(onset(&[], 16, 2.0), None);
    }
}

//! The law of a token bucket: a level that drops to a lower one when the bucket is empty, and what a pause gives back.

use fathom_stats::location::{mad, median};
use fathom_stats::separate::{Decision, separate};

/// The batches that a level has at least.
const BATCHES_MIN: usize = 6;
/// The largest ratio of the lower level to the upper one.
const DROP_MAX: f64 = 0.75;
/// The largest robust spread of the lower level: a bucket refills evenly.
const SPREAD_MAX: f64 = 0.05;

/// The least relative drop that is seen, and the confidence of it: the place of the drop is chosen. The most batches of a
/// level that are compared.
const FELL: f64 = 0.05;
const FELL_CONFIDENCE: f64 = 0.9999;
const THIN: usize = 200;

/// A batch of requests at full speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Batch {
    /// What the limit would count: requests, or bytes.
    pub(super) tokens: f64,
    /// How long they took together, in seconds.
    pub(super) seconds: f64,
}

impl Batch {
    pub(super) fn rate(&self) -> f64 {
        self.tokens / self.seconds.max(1e-9)
    }
}

/// A drop from a full bucket to its refill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drop {
    /// The tokens per second before and after the drop.
    pub(super) fast: f64,
    pub(super) slow: f64,
    /// The robust spread of the rate after the drop, as a share of it.
    pub(super) spread: f64,
    /// The tokens that the bucket held: those served before the drop, less what was refilled meanwhile.
    pub(super) burst: f64,
    /// The number of batches after the drop.
    pub(super) after: usize,
    /// The levels of a second drop among those, if there is one.
    pub(super) again: Option<(f64, f64)>,
}

/// Returns the drop of a run of batches; `None` if it has none. The change point is the one with the least sum of absolute
/// deviations of the logarithms from the two medians; a run without a drop is one level.
pub(super) fn drop(batches: &[Batch], least_before: usize) -> Option<Drop> {
    let logs: Vec<f64> = batches.iter().map(|batch| batch.rate().ln()).collect();
    let at = change(&logs, least_before)?;
    let (before, after) = logs.split_at(at);
    let (fast, slow) = (median(before)?.exp(), median(after)?.exp());
    let spread = mad(after)? / 0.6745;
    let uneven = spread > SPREAD_MAX || mean(&batches[at..]) > (1.0 + SPREAD_MAX) * slow;
    if slow > DROP_MAX * fast || uneven || after.len() < BATCHES_MIN {
        return None;
    }
    Some(Drop {
        fast,
        slow,
        spread,
        burst: ahead(&batches[..=at], slow),
        after: after.len(),
        again: fell(&batches[at..]),
    })
}

/// Returns the rate of some batches together. Nothing passes ahead of an empty bucket: where it is above the median, as in a limit
/// that lets reads pass in slices of time, each batch takes one of two numbers of slices.
fn mean(batches: &[Batch]) -> f64 {
    let tokens: f64 = batches.iter().map(|batch| batch.tokens).sum();
    let seconds: f64 = batches.iter().map(|batch| batch.seconds).sum();
    tokens / seconds.max(1e-9)
}

/// Returns the most tokens that were served ahead of a rate: the bucket may empty within a batch.
pub(super) fn ahead(batches: &[Batch], rate: f64) -> f64 {
    let sums = batches.iter().scan(0.0, |sum, batch| {
        *sum += batch.tokens - rate * batch.seconds;
        Some(*sum)
    });
    sums.fold(0.0, f64::max)
}

/// Returns the rates before and after a change to a clearly lower one, whatever its size and form.
pub(super) fn fell(batches: &[Batch]) -> Option<(f64, f64)> {
    let logs: Vec<f64> = batches.iter().map(|batch| batch.rate().ln()).collect();
    let (before, after) = batches.split_at(change(&logs, BATCHES_MIN)?);
    let thin = |part: &[Batch]| -> Vec<f64> {
        let rates = part.iter().step_by(part.len().div_ceil(THIN).max(1));
        rates.map(Batch::rate).collect()
    };
    let (before, after) = (thin(before), thin(after));
    let compared = separate(&before, &after, FELL_CONFIDENCE, FELL)?;
    let fell = compared.decision == Decision::Greater;
    fell.then_some((median(&before)?, median(&after)?))
}

/// Returns the index of the first batch of the second level.
fn change(logs: &[f64], least_before: usize) -> Option<usize> {
    let cost = |part: &[f64]| {
        let middle = median(part).unwrap_or_default();
        part.iter().map(|value| (value - middle).abs()).sum::<f64>()
    };
    let places = least_before.max(1)..logs.len().saturating_sub(BATCHES_MIN - 1);
    // Long runs are looked through coarsely first: the sum is flat far from the change.
    let stride = (places.len() / 200).max(1);
    let best = |places: &mut dyn Iterator<Item = usize>| {
        places
            .map(|at| (cost(&logs[..at]) + cost(&logs[at..]), at))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, at)| at)
    };
    let coarse = best(&mut places.clone().step_by(stride))?;
    let near = coarse.saturating_sub(stride).max(places.start)..(coarse + stride).min(places.end);
    best(&mut near.into_iter())
}

#[cfg(test)]
mod tests {
    use super::{BATCHES_MIN, Batch, drop, fell};

    /// Serves batches of 500 from a bucket of `burst` tokens that is refilled with `refill` a second, at up to `fast`.
    fn served(burst: f64, refill: f64, fast: f64, batches: usize) -> Vec<Batch> {
        let mut tokens = burst;
        (0..batches)
            .map(|i| {
                let wobble = 1.0 + 0.02 * ((i * 37 % 11) as f64 / 5.0 - 1.0);
                let at_once = 500.0 / fast * wobble;
                let seconds = at_once.max((500.0 - tokens) / refill);
                tokens = (tokens + refill * seconds - 500.0).min(burst).max(0.0);
                Batch {
                    tokens: 500.0,
                    seconds,
                }
            })
            .collect()
    }

    #[test]
    fn the_burst_and_the_refill_are_found() {
        let seen = drop(&served(30_000.0, 3_000.0, 60_000.0, 200), 1).unwrap();
        assert!((seen.slow / 3_000.0 - 1.0).abs() < 0.02, "{seen:?}");
        assert!((seen.burst / 30_000.0 - 1.0).abs() < 0.05, "{seen:?}");
    }

    #[test]
    fn a_second_bucket_that_empties_later_is_a_second_drop() {
        let first = served(30_000.0, 3_000.0, 60_000.0, 200);
        assert_eq!(drop(&first, 1).unwrap().again, None);
        let later = served(0.0, 2_600.0, 60_000.0, 100);
        let (from, to) = drop(&[first, later].concat(), 1).unwrap().again.unwrap();
        assert!((from / 3_000.0 - 1.0).abs() < 0.02, "{from}");
        assert!((to / 2_600.0 - 1.0).abs() < 0.02, "{to}");
    }

    #[test]
    fn a_limit_that_counts_in_slices_of_time_has_no_drop() {
        // 200 reads in each 0.1 s: batches of 512 take two slices or three, and the median alone would be 1707 a second.
        let slices = |reads: u32| reads.div_ceil(200);
        let batches: Vec<Batch> = (0..100)
            .map(|i| Batch {
                tokens: 512.0,
                seconds: 0.1
                    * f64::from(
                        slices(512 * (i + 1) - 112) - slices((512 * i).saturating_sub(112)),
                    ),
            })
            .collect();
        assert_eq!(drop(&batches, 1), None, "{batches:?}");
    }

    #[test]
    fn a_level_with_noise_has_no_drop() {
        assert_eq!(drop(&served(1e12, 3_000.0, 60_000.0, 200), 1), None);
    }

    #[test]
    fn an_uneven_lower_level_is_no_bucket() {
        let mut batches = served(1e12, 1.0, 60_000.0, 100);
        for (i, batch) in batches.iter_mut().enumerate().skip(50) {
            batch.seconds *= 2.0 + (i % 7) as f64;
        }
        assert_eq!(drop(&batches, 1), None);
        assert!(fell(&batches).is_some());
    }

    #[test]
    fn a_small_drop_is_seen_but_is_no_law() {
        let batches = served(30_000.0, 46_000.0, 60_000.0, 600);
        assert_eq!(drop(&batches, 1), None);
        let (fast, slow) = fell(&batches).unwrap();
        assert!((slow / fast - 46.0 / 60.0).abs() < 0.01);
        assert_eq!(fell(&served(1e12, 3_000.0, 60_000.0, 200)), None);
        assert_eq!(fell(&batches[..2 * BATCHES_MIN - 1]), None);
        // A rise, as of a cache that fills.
        let rise: Vec<Batch> = batches.iter().rev().copied().collect();
        assert_eq!(fell(&rise), None);
    }
}

//! Decides from the times of flushes what they cost.

use fathom_stats::line;
use fathom_stats::location::median;
use fathom_stats::separate::{Decision, separate};

/// The confidence of a difference to a clean flush, which is looked for again and again, and that of an equivalence.
const DIFFERENT: f64 = 0.999;
const EQUIVALENT: f64 = 0.95;
/// The relative difference that does not matter.
const MARGIN: f64 = 0.1;
/// The samples of a kind before anything is decided.
const SAMPLES_MIN: usize = 16;
/// A larger write makes the flush longer if it takes this many times as long.
const LONGER: f64 = 1.1;

/// The times of flushes, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// With nothing to write.
    pub(super) clean: Vec<f64>,
    /// After a write of so many bytes, ascending by bytes, in the order of the rounds.
    pub(super) dirty: Vec<(u64, Vec<f64>)>,
}

/// What flushes cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Costs {
    /// More after a write than after none.
    Something,
    /// The same after any write as after none.
    Nothing,
    Undecided,
}

/// Compares the flushes after each size with those after no write.
pub(super) fn costs(seen: &Seen) -> Costs {
    let enough = |(_, times): &(u64, Vec<f64>)| times.len() >= SAMPLES_MIN;
    if seen.clean.len() < SAMPLES_MIN || seen.dirty.is_empty() || !seen.dirty.iter().all(enough) {
        return Costs::Undecided;
    }
    let decided: Vec<Decision> = (seen.dirty.iter())
        .map(|(_, times)| compare(times, seen))
        .collect();
    match () {
        // What a small write costs, a large one must cost too.
        () if decided.last() == Some(&Decision::Greater) => Costs::Something,
        () if decided.iter().all(|d| *d == Decision::NotDifferent) => Costs::Nothing,
        () => Costs::Undecided,
    }
}

fn compare(times: &[f64], seen: &Seen) -> Decision {
    let at = |confidence| separate(times, &seen.clean, confidence, MARGIN);
    let greater =
        at(DIFFERENT).is_some_and(|c| c.decision == Decision::Greater && c.ratio >= 1.0 + MARGIN);
    let same = at(EQUIVALENT).is_some_and(|c| c.decision == Decision::NotDifferent);
    match () {
        () if greater && again(times, seen) => Decision::Greater,
        () if same => Decision::NotDifferent,
        () => Decision::Undecided,
    }
}

/// Returns true if the flush takes longer in both halves of the rounds.
fn again(times: &[f64], seen: &Seen) -> bool {
    let half = |all: &[f64], second: bool| {
        let (a, b) = all.split_at(all.len() / 2);
        median(if second { b } else { a }).unwrap_or_default()
    };
    [false, true]
        .into_iter()
        .all(|second| half(times, second) > (1.0 + MARGIN / 2.0) * half(&seen.clean, second))
}

/// Returns what a flush after the smallest write takes beyond a clean one of the same round, round by round.
pub(super) fn beyond(seen: &Seen) -> Vec<f64> {
    let Some((_, small)) = seen.dirty.first() else {
        return Vec::new();
    };
    small
        .iter()
        .zip(&seen.clean)
        .map(|(dirty, clean)| dirty - clean)
        .collect()
}

/// Returns what each further byte costs, in nanoseconds, over the sizes from which on the time grows. `None` if it does
/// not: from the size of the memory on a drive writes as it takes data, and the flush has no more to do.
pub(super) fn per_byte(seen: &Seen) -> Option<f64> {
    let points: Vec<(f64, f64)> = (seen.dirty.iter())
        .filter_map(|(bytes, times)| Some((*bytes as f64, median(times)?)))
        .collect();
    let grows = |i: &usize| points[i + 1].1 > LONGER * points[*i].1;
    let first = (0..points.len().saturating_sub(1)).find(grows)?;
    let steps = (first..points.len() - 1).take_while(grows).count();
    let line = line::fit(&points[first..=first + steps])?;
    Some(line.slope.value)
}

#[cfg(test)]
mod tests {
    use super::{Costs, Seen, beyond, costs, per_byte};
    use fathom_base::Rng;
    use fathom_stats::location::median;

    /// Returns flushes that take `clean` and `per` more for each byte, with a relative spread.
    fn seen(rounds: usize, one: f64, per: f64, spread: f64, seed: u64) -> Seen {
        let mut rng = Rng::new(seed, 9);
        let mut around = |ns: f64| -> Vec<f64> {
            (0..rounds)
                .map(|_| ns * (spread * rng.normal()).exp())
                .collect()
        };
        let clean = around(40_000.0);
        let sizes = [4096, 32 << 10, 256 << 10, 1 << 20];
        let dirty = sizes
            .map(|bytes| (bytes, around(40_000.0 + one + per * bytes as f64)))
            .to_vec();
        Seen { clean, dirty }
    }

    #[test]
    fn a_flush_that_programs_costs_something() {
        for seed in 0..50 {
            assert_eq!(costs(&seen(24, 8e5, 2.0, 0.2, seed)), Costs::Something);
        }
    }

    #[test]
    fn flushes_that_do_nothing_seldom_cost_something() {
        let wrong = (0..200)
            .filter(|seed| costs(&seen(64, 0.0, 0.0, 0.3, *seed)) == Costs::Something)
            .count();
        assert!(wrong <= 1, "{wrong}");
        let told = (0..200)
            .filter(|seed| costs(&seen(64, 0.0, 0.0, 0.05, *seed)) == Costs::Nothing)
            .count();
        assert!(told >= 195, "{told}");
    }

    #[test]
    fn few_rounds_decide_nothing() {
        assert_eq!(costs(&seen(8, 8e5, 2.0, 0.0, 1)), Costs::Undecided);
    }

    #[test]
    fn the_slope_is_that_of_the_bytes() {
        let seen = seen(32, 1e5, 2.0, 0.0, 1);
        assert!((per_byte(&seen).unwrap() - 2.0).abs() < 1e-6);
        let one = median(&beyond(&seen)).unwrap();
        assert!((one - 108_192.0).abs() < 1e-6, "{one}");
    }

    #[test]
    fn a_full_memory_ends_the_slope() {
        let mut seen = seen(32, 1e5, 2.0, 0.0, 1);
        // The memory holds 256 KiB: more bytes take no longer.
        seen.dirty[3].1 = seen.dirty[2].1.clone();
        assert!((per_byte(&seen).unwrap() - 2.0).abs() < 1e-6);
    }
}

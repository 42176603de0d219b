//! Decides from two signals whether a content shrinks: the time of its writes, and the drive's own counters.

use fathom_stats::location::{median, median_interval_at};
use fathom_stats::separate::{Decision, separate};

/// The confidence that a content is faster, which is looked for again and again, and that of an equivalence.
const DIFFERENT: f64 = 0.999;
const EQUIVALENT: f64 = 0.95;
/// The relative difference that does not matter.
const MARGIN: f64 = 0.1;
/// The media bytes for each byte of a content that shrinks are at most `.0`, and of one that does not at least `.1`: what
/// does not shrink is programmed at least once. On a drive that merges blocks each of them is programmed several times, and the
/// same shares are those of the bytes of a content that does not shrink.
const MEDIA: (f64, f64) = (0.6, 0.8);

/// Whether one content shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrinks {
    Yes,
    No,
    /// The two signals contradict each other.
    Contradicted,
    Undecided,
}

/// The times of one content and of the one that cannot shrink, in nanoseconds, round by round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) content: &'a [f64],
    pub(super) unique: &'a [f64],
}

impl Pair<'_> {
    /// Returns the decision: [`Decision::Less`] if the content takes less time in both halves of the rounds.
    ///
    /// Two tests: one of all times, and one of the ratios within each round. A drive with a fast cache or with collection has
    /// rounds of different speeds, which hide a difference from the first and cancel in the second.
    fn decide(self) -> Decision {
        let at = |confidence| separate(self.content, self.unique, confidence, MARGIN);
        let faster = self.paired(DIFFERENT).is_some_and(|(_, high)| high < 1.0)
            && self
                .ratio()
                .is_some_and(|ratio| ratio <= 1.0 / (1.0 + MARGIN));
        let faster = faster
            || at(DIFFERENT)
                .is_some_and(|c| c.decision == Decision::Less && c.ratio <= 1.0 / (1.0 + MARGIN));
        let slower = at(DIFFERENT).is_some_and(|c| c.decision == Decision::Greater);
        let same = at(EQUIVALENT).is_some_and(|c| c.decision == Decision::NotDifferent)
            || (self.paired(EQUIVALENT))
                .is_some_and(|(low, high)| low >= 1.0 / (1.0 + MARGIN) && high <= 1.0 + MARGIN);
        match () {
            () if faster && self.again() => Decision::Less,
            () if same => Decision::NotDifferent,
            // A content that costs more than others does not shrink.
            () if slower => Decision::Greater,
            () => Decision::Undecided,
        }
    }

    fn ratios(self) -> Vec<f64> {
        let rounds = self.content.iter().zip(self.unique);
        rounds
            .map(|(content, unique)| content / unique.max(1.0))
            .collect()
    }

    /// Returns the typical ratio within a round.
    fn ratio(self) -> Option<f64> {
        median(&self.ratios())
    }

    /// Returns the interval of the typical ratio within a round.
    fn paired(self, confidence: f64) -> Option<(f64, f64)> {
        median_interval_at(&self.ratios(), confidence)
    }

    fn again(self) -> bool {
        let half = |all: &[f64], second: bool| {
            let (a, b) = all.split_at(all.len() / 2);
            median(if second { b } else { a }).unwrap_or_default()
        };
        [false, true]
            .into_iter()
            .all(|second| half(self.content, second) < half(self.unique, second))
    }

    /// Returns the speed of the content over that of the other.
    pub(super) fn speed_ratio(self) -> Option<f64> {
        separate(self.content, self.unique, EQUIVALENT, MARGIN).map(|c| 1.0 / c.ratio)
    }
}

/// Decides about one content from its writes in order and at random places, and from the media bytes for each byte of it
/// and of one that does not shrink, where the drive shows them.
pub(super) fn shrinks(pairs: [Pair<'_>; 2], media: Option<[f64; 2]>) -> Shrinks {
    let [long, small] = pairs.map(Pair::decide);
    // What shrinks is not slower in one of the two ways.
    let faster =
        [long, small].contains(&Decision::Less) && ![long, small].contains(&Decision::Greater);
    let same = matches!(long, Decision::NotDifferent | Decision::Greater);
    match media {
        Some([content, unique]) if content <= MEDIA.0 && unique >= MEDIA.1 => Shrinks::Yes,
        Some([content, unique]) if content <= MEDIA.0 * unique && faster => Shrinks::Yes,
        Some([content, unique]) if content <= MEDIA.0 * unique && !same => Shrinks::Undecided,
        Some([content, _]) if content >= MEDIA.1 && faster => Shrinks::Contradicted,
        Some([content, _]) if content >= MEDIA.1 => Shrinks::No,
        _ if faster => Shrinks::Yes,
        _ if same => Shrinks::No,
        _ => Shrinks::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::{Pair, Shrinks, shrinks};
    use fathom_base::Rng;

    fn times(ns: f64, spread: f64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed, 2);
        (0..24)
            .map(|_| ns * (spread * rng.normal()).exp())
            .collect()
    }

    fn of(content: f64, spread: f64, media: Option<[f64; 2]>, seed: u64) -> Shrinks {
        let [content, unique] = [
            times(content, spread, seed),
            times(1e8, spread, seed + 1000),
        ];
        let pair = Pair {
            content: &content,
            unique: &unique,
        };
        shrinks([pair; 2], media)
    }

    #[test]
    fn a_content_that_is_faster_shrinks_and_an_equal_one_does_not() {
        for seed in 0..50 {
            assert_eq!(of(4e7, 0.1, None, seed), Shrinks::Yes);
            assert_eq!(of(1e8, 0.02, None, seed), Shrinks::No);
            // A difference that the spread hides is none that is known.
            assert_ne!(of(1e8, 0.4, None, seed), Shrinks::Yes);
        }
    }

    #[test]
    fn rounds_of_two_speeds_hide_nothing() {
        let mut rng = Rng::new(3, 2);
        // Some rounds fall into a fast cache.
        let level = |round: usize| if round % 5 < 3 { 1.0 } else { 0.2 };
        let mut times = |ns: f64| -> Vec<f64> {
            (0..24)
                .map(|i| ns * level(i) * (0.03 * rng.normal()).exp())
                .collect()
        };
        let (unique, same, less) = (times(1e8), times(1e8), times(8e7));
        let of = |content: &[f64]| {
            let pair = Pair {
                content,
                unique: &unique,
            };
            shrinks([pair; 2], None)
        };
        assert_eq!(of(&same), Shrinks::No);
        assert_eq!(of(&less), Shrinks::Yes);
    }

    #[test]
    fn the_counters_decide_where_the_link_is_the_limit() {
        assert_eq!(of(1e8, 0.02, Some([0.01, 1.3]), 1), Shrinks::Yes);
        assert_eq!(of(1e8, 0.4, Some([1.0, 1.6]), 1), Shrinks::No);
    }

    #[test]
    fn on_a_drive_that_merges_blocks_the_counters_are_compared() {
        assert_eq!(of(5e7, 0.1, Some([0.9, 2.1]), 1), Shrinks::Yes);
        // The times do not tell: what the drive moved may be the difference, or the content.
        assert_eq!(of(8e7, 0.9, Some([0.9, 2.1]), 1), Shrinks::Undecided);
        assert_eq!(of(1e8, 0.02, Some([0.9, 2.1]), 1), Shrinks::No);
    }

    #[test]
    fn signals_that_disagree_are_said_to() {
        assert_eq!(of(4e7, 0.1, Some([1.0, 1.0]), 1), Shrinks::Contradicted);
    }
}

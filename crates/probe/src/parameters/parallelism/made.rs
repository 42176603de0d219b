//! Times of pairs that are made of lone reads, and the threshold that tells those that collide from the others.

use fathom_stats::location::{median, quantile};

/// The thresholds that are tried, in times of the flash above a lone read, and how much more of the pairs a better one than the
/// usual must tell apart.
const STEPS: u32 = 80;
const LONGEST: f64 = 3.0;
const BETTER: f64 = 0.04;
/// The quantiles of reads of two lengths that are compared.
const QUANTILES: std::ops::RangeInclusive<u32> = 1..=19;

/// The times of simulated pairs: of those that do not collide, also without the noise of the host's side and with a wait for what
/// dies share, and of those that do.
#[derive(Default)]
pub(super) struct Made {
    pub(super) free: Vec<f64>,
    pub(super) even: Vec<f64>,
    pub(super) shared: Vec<f64>,
    pub(super) collided: Vec<f64>,
}

impl Made {
    /// Returns the threshold that tells the two kinds apart: a usual one, unless another is clearly better (Youden, "Index for
    /// rating diagnostic tests", Cancer 3(1), 1950). Reads of two speeds, as of a drive whose fast cache holds a part of the
    /// data, put the slower ones where the faster ones' collisions begin.
    pub(super) fn threshold(&self, usual: f64, solo: f64, flash: f64) -> f64 {
        let index = |at: f64| above(&self.collided, at) - above(&self.shared, at);
        let first = index(usual);
        if first >= 1.0 - BETTER {
            return usual;
        }
        let tried = (0..STEPS).map(|n| solo + LONGEST * flash * f64::from(n) / f64::from(STEPS));
        let tried: Vec<(f64, f64)> = tried.map(|at| (at, index(at))).collect();
        let best = tried.iter().map(|one| one.1).fold(first, f64::max);
        let mut good = tried.iter().filter(|one| one.1 >= best - BETTER / 4.0);
        match (good.next(), best > first + BETTER) {
            (Some(low), true) => (low.0 + good.next_back().unwrap_or(low).0) / 2.0,
            _ => usual,
        }
    }
}

/// Returns the share of times above another.
pub(super) fn above(times: &[f64], threshold: f64) -> f64 {
    let count = times.iter().filter(|ns| **ns > threshold).count();
    count as f64 / times.len().max(1) as f64
}

/// Returns the median of the times beyond another.
pub(super) fn beyond(times: &[f64], threshold: f64) -> Option<f64> {
    let slow: Vec<f64> = times.iter().copied().filter(|ns| *ns > threshold).collect();
    median(&slow)
}

/// Returns how much longer than others some times are: the median of the differences of their quantiles. Reads of two speeds have
/// no typical time, and the medians of two samples of them may be one of either.
pub(super) fn later(long: &[f64], short: &[f64]) -> Option<f64> {
    let share = |n: u32| f64::from(n) / f64::from(QUANTILES.end() + 1);
    let more = |n: u32| Some(quantile(long, share(n))? - quantile(short, share(n))?);
    let more: Vec<f64> = QUANTILES.filter_map(more).collect();
    median(&more)
}

#[cfg(test)]
mod tests {
    use super::later;

    #[test]
    fn reads_of_two_speeds_are_later_by_what_both_are() {
        let reads = |fast: usize, more: f64| -> Vec<f64> {
            let speed = |n: usize| if n < fast { 40.0 } else { 90.0 };
            (0..1000).map(|n| speed(n) + more).collect()
        };
        // The medians are 50 apart.
        assert_eq!(later(&reads(490, 1.0), &reads(510, 0.0)), Some(1.0));
        assert_eq!(later(&reads(1000, 7.0), &reads(1000, 0.0)), Some(7.0));
        assert_eq!(later(&[], &reads(10, 0.0)), None);
    }
}

//! One change in a series: where a cache ends, where garbage collection sets in, where a buffer overflows.
//!
//! The place is found by maximum likelihood and judged by BIC against a series without a change
//! (Yao 1988; the place counts as two parameters, as in Zhang & Siegmund 2007), with
//! errors that forgive spikes: Laplace errors around a level (medians), Student-t errors around a line. The range
//! of the place holds 95 % of the profile likelihood over places. Give logarithms, so that a change is a ratio.
//!
//! One change at most is looked for, and errors are taken as independent: a series that wanders looks like one
//! that changes. [`permutation_p`] makes no assumption about the errors' distribution, but the same about order.

use super::regression::{Design, Fit, Link, Problem, fit};
use super::{STRONG_BIC, robust};
use fathom_base::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// A series with one change against one without.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The first index after the change.
    pub at: usize,
    /// The indices that it may be as well: 95 % of the profile likelihood.
    pub range: RangeInclusive<usize>,
    /// BIC without a change less BIC with it; positive in favour of a change.
    pub bic_gain: f64,
    /// The level before (for a trend: the line's end at the change).
    pub before: f64,
    /// The level after (for a trend: the second line's begin at the change).
    pub after: f64,
}

impl Change {
    /// Whether the evidence for a change is strong.
    pub fn is_clear(&self) -> bool {
        self.bic_gain >= STRONG_BIC
    }
}

/// The fewest values on either side of a change of level.
pub const SIDE_MIN: usize = 4;
/// The fewest on either side of a change of trend: a line of its own explains two spikes, and must pay for them.
pub const TREND_SIDE_MIN: usize = 8;

/// A change of level. `None` with fewer than `2 * SIDE_MIN` values or one that is not finite.
pub fn level_change(values: &[f64]) -> Option<Change> {
    let n = values.len();
    if n < 2 * SIDE_MIN || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let before = prefix_deviations(values.iter().copied());
    let mut after = prefix_deviations(values.iter().rev().copied());
    after.reverse();
    // Laplace errors of scale b: ln likelihood = -n ln(2 b) - n, b the mean deviation.
    let resolution = resolution(values);
    let likelihood =
        |sum: f64| -(n as f64) * (2.0 * (sum / n as f64).max(resolution)).ln() - n as f64;
    let profile: Vec<f64> = (SIDE_MIN..=n - SIDE_MIN)
        .map(|at| likelihood(before[at - 1] + after[at]))
        .collect();
    let (at, range) = place(&profile)?;
    Some(Change {
        at: at + SIDE_MIN,
        range: range.start() + SIDE_MIN..=range.end() + SIDE_MIN,
        // One more level, and the place for two.
        bic_gain: 2.0 * (profile[at] - likelihood(before[n - 1])) - 3.0 * (n as f64).ln(),
        before: robust::median(&values[..at + SIDE_MIN])?,
        after: robust::median(&values[at + SIDE_MIN..])?,
    })
}

/// Differences below this are rounding: 1e-9 of the range, or of 1.
fn resolution(values: &[f64]) -> f64 {
    let high = values.iter().copied().fold(f64::MIN, f64::max);
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    1e-9 * (high - low).max(1.0)
}

/// For every prefix, the sum of the distances from its median.
fn prefix_deviations(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut running = Running::default();
    values.map(|value| running.push(value)).collect()
}

/// The values below and above the median of those seen so far; the lower half has as many or one more.
#[derive(Default)]
struct Running {
    low: BinaryHeap<Ordered>,
    high: BinaryHeap<Reverse<Ordered>>,
    low_sum: f64,
    high_sum: f64,
}

impl Running {
    /// Takes one more value and answers the sum of the distances from the median.
    fn push(&mut self, value: f64) -> f64 {
        self.low.push(Ordered(value));
        self.low_sum += value;
        if let Some(Ordered(top)) = self.low.pop() {
            self.low_sum -= top;
            self.high.push(Reverse(Ordered(top)));
            self.high_sum += top;
        }
        if self.high.len() > self.low.len()
            && let Some(Reverse(Ordered(top))) = self.high.pop()
        {
            self.high_sum -= top;
            self.low.push(Ordered(top));
            self.low_sum += top;
        }
        let odd = self.low.len() > self.high.len();
        let middle = self.low.peek().filter(|_| odd).map_or(0.0, |top| top.0);
        (self.high_sum - self.low_sum + middle).max(0.0)
    }
}

#[derive(PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The maximum of a profile likelihood and the range around it that holds 95 % of it.
fn place(profile: &[f64]) -> Option<(usize, RangeInclusive<usize>)> {
    let mut order: Vec<usize> = (0..profile.len()).collect();
    order.sort_by(|&a, &b| profile[b].total_cmp(&profile[a]));
    let best = *order.first()?;
    let shares: Vec<f64> = profile.iter().map(|l| (l - profile[best]).exp()).collect();
    let total: f64 = shares.iter().sum();
    let (mut held, mut low, mut high) = (0.0, best, best);
    for i in order {
        held += shares[i];
        (low, high) = (low.min(i), high.max(i));
        if held >= 0.95 * total {
            break;
        }
    }
    Some((best, low..=high))
}

/// A change of level or slope or both: two lines, with a jump between them if need be, against one. `x` ascends.
/// `None` where lengths differ, with fewer than `2 * TREND_SIDE_MIN` points, or with one that is not finite. Quadratic
/// in the number of points: thin out more than a thousand.
pub fn trend_change(x: &[f64], y: &[f64]) -> Option<Change> {
    let n = x.len();
    let finite = x.iter().chain(y).all(|v| v.is_finite());
    if n != y.len() || n < 2 * TREND_SIDE_MIN || !finite {
        return None;
    }
    let (first, span) = (x[0], x[n - 1] - x[0]);
    let t: Vec<f64> = x.iter().map(|v| (v - first) / span).collect();
    let one = lines(&t, y, n)?;
    let fits: Vec<Option<Fit>> = (TREND_SIDE_MIN..=n - TREND_SIDE_MIN)
        .map(|at| lines(&t, y, at))
        .collect();
    let profile: Vec<f64> = fits
        .iter()
        .map(|f| f.as_ref().map_or(f64::NEG_INFINITY, |f| f.log_likelihood))
        .collect();
    let (best, range) = place(&profile)?;
    let at = best + TREND_SIDE_MIN;
    let c = &fits[best].as_ref()?.coefficients;
    Some(Change {
        at,
        range: range.start() + TREND_SIDE_MIN..=range.end() + TREND_SIDE_MIN,
        // One more level and slope, and the place for two.
        bic_gain: 2.0 * (profile[best] - one.log_likelihood) - 4.0 * (n as f64).ln(),
        before: c[0] + c[1] * t[at],
        after: c[0] + c[1] * t[at] + c[2],
    })
}

/// A line up to index `at` and another from there; one line where `at` is the length.
fn lines(t: &[f64], y: &[f64], at: usize) -> Option<Fit> {
    let n = t.len();
    let mut design = Design::ones(n).with(t.iter().copied());
    if at < n {
        let later = |i: usize| f64::from(u8::from(i >= at));
        design = design
            .with((0..n).map(later))
            .with((0..n).map(|i| later(i) * (t[i] - t[at])));
    }
    let weights = vec![1.0; n];
    let problem = Problem {
        design: &design,
        y,
        weights: &weights,
        link: Link::Identity,
        scale_min: resolution(y),
    };
    fit(&problem, None)
}

/// The chance, if the order means nothing, of a statistic at least as large as that of the given order:
/// (1 + hits) / (1 + shuffles) (Phipson & Smyth 2010). Never 0; 1 where the statistic has no value.
pub fn permutation_p(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    shuffles: u32,
    rng: &mut Rng,
) -> f64 {
    let Some(observed) = statistic(values) else {
        return 1.0;
    };
    let mut shuffled = values.to_vec();
    let mut hits = 0u32;
    for _ in 0..shuffles {
        rng.shuffle(&mut shuffled);
        hits += u32::from(statistic(&shuffled).is_some_and(|s| s >= observed));
    }
    f64::from(1 + hits) / f64::from(1 + shuffles)
}

/// Where a step from fast to slow lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLocation {
    /// The largest `x` on the fast side.
    pub fast_max: u64,
    /// The smallest `x` on the slow side.
    pub slow_min: u64,
    /// How many measurements lie on the wrong side.
    pub misplaced: usize,
}

/// The place that puts the fewest measurements on the wrong side, from `(x, slow)` in any order. Places that do
/// equally well widen the interval. `None` where no place has both sides, or where more than the share
/// `tolerance` (0 to 1) is on the wrong side.
pub fn step_location(measured: &[(u64, bool)], tolerance: f64) -> Option<StepLocation> {
    let mut points = measured.to_vec();
    points.sort_unstable();
    let mut wrong = points.iter().filter(|p| !p.1).count();
    let mut found: Option<StepLocation> = None;
    for pair in points.windows(2) {
        // The step moves past pair[0]: what is fast there is right now, what is slow is wrong.
        wrong = if pair[0].1 { wrong + 1 } else { wrong - 1 };
        if pair[0].0 == pair[1].0 {
            continue;
        }
        match &mut found {
            Some(best) if wrong > best.misplaced => {}
            Some(best) if wrong == best.misplaced => best.slow_min = pair[1].0,
            _ => {
                found = Some(StepLocation {
                    fast_max: pair[0].0,
                    slow_min: pair[1].0,
                    misplaced: wrong,
                });
            }
        }
    }
    let (fast, slow) = (points.iter().any(|p| !p.1), points.iter().any(|p| p.1));
    found.filter(|f| fast && slow && f.misplaced as f64 <= tolerance * points.len() as f64)
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;

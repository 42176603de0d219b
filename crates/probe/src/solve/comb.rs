//! The period of a sawtooth in latency over request size.
//!
//! Sequential flushed writes of size `x` over a unit `P` that is read, modified and written where it is touched in
//! part (`parameter-aware-io` 4.2.3, Figure 4) touch `x / P + 1 - gcd(x, P) / P` units on average over consecutive
//! offsets: a comb that is low at the multiples of `P`. Where only the program unit or the stripe is `P` wide, the
//! latency is a staircase `ceil(x / P)`, which never falls. Both are compared with a smooth curve (a line, mildly
//! bent if need be), by BIC with a term for the number of candidates (Schwarz 1978; Chen & Chen 2008), with
//! Student-t errors on the logarithm so that spikes of garbage collection do not matter.
//!
//! What it cannot see: a unit of at most the grid's step (every size is a multiple); with a unit that is no
//! multiple of the step it answers their least common multiple; a unit of exactly two steps looks the same as a
//! stair of two steps unless the latency falls, and is then [`Choice::Undecided`].

use super::comb_model::{Curve, Data, Fitter, Terms, tooth};
use super::{Interval, STRONG_BIC, normal_quantile};

/// A measured latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Request size in bytes; a multiple of the grid's step.
    pub x_bytes: u64,
    /// Typical latency at that size, in nanoseconds. Several points may have one size.
    pub y_ns: f64,
}

/// How a size that is no multiple pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `1 - gcd(x, P) / P`: consecutive offsets, some of them aligned.
    Divisor,
    /// 1 where `x` is no multiple of `P`: every request ends in a partly written unit.
    Indicator,
}

/// What the latency follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It falls at the multiples of this many bytes: the unit of read-modify-write.
    Comb(u64),
    /// It steps up after the multiples of this many bytes and never falls.
    Staircase(u64),
    /// No comb: one of [`Options::relevant_share`] would have been seen. A flat staircase is not excluded.
    None,
    /// The data do not say.
    Undecided,
}

/// The best curve of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// Its period in bytes.
    pub period_bytes: u64,
    /// BIC of the smooth curve less that of this one; positive in favour of this one.
    pub gain: f64,
    /// BIC of the best of the family with another period, less that of this one. Infinite without another.
    pub period_gain: f64,
}

/// The height of the best comb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amplitude {
    /// How the sizes pay.
    pub shape: Shape,
    /// What the size that is furthest from aligned pays more than a multiple, in nanoseconds.
    pub drop_ns: f64,
    /// 95 % interval of `drop_ns`, given that the period is right.
    pub interval_ns: Interval,
    /// `drop_ns` over the median latency.
    pub relative: f64,
    /// The width of the staircase under the comb, where there is one, in bytes.
    pub stair_bytes: Option<u64>,
}

/// What the comparison found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CombAnswer {
    /// The conclusion.
    pub choice: Choice,
    /// The best comb, if one with a positive penalty fits.
    pub comb: Option<Best>,
    /// The best staircase, if one fits.
    pub staircase: Option<Best>,
    /// BIC of the best staircase (or of the smooth curve, if that is better) less that of the best comb.
    pub comb_over_staircase: f64,
    /// Of the best comb.
    pub amplitude: Option<Amplitude>,
    /// The largest drop at multiples that the data leave room for, as a share of the median latency (upper 99 %), over
    /// the periods with at least four multiples in the sweep. Wider ones are not excluded by [`Choice::None`].
    pub hidden_share: f64,
    /// The median latency, in nanoseconds.
    pub typical_ns: f64,
}

/// What to take for evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The least BIC difference to act on.
    pub gain_min: f64,
    /// A comb lower than this share of the median latency may be called absent.
    pub relevant_share: f64,
    /// Relative error of a latency below which differences mean nothing: the clock's resolution, and steps of the
    /// drive that no curve here has.
    pub resolution: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            gain_min: STRONG_BIC,
            relevant_share: 0.10,
            resolution: 0.002,
        }
    }
}

/// Why there is nothing to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CombError {
    /// The curves have up to seven parameters.
    #[error(
        "{found} sizes with a positive latency; at least {needed} are needed: sweep more sizes"
    )]
    TooFewSizes {
        /// Different sizes with a latency.
        found: usize,
        /// The fewest that can be compared.
        needed: usize,
    },
    /// No candidate has two multiples and two other sizes in the sweep.
    #[error(
        "no candidate period fits the sweep: sweep to at least twice the period, in steps below it"
    )]
    NoCandidate,
}

const SIZES_MIN: usize = 12;
/// Multiples in the sweep that a period needs for its absence to be claimed.
const TEETH_MIN: usize = 4;

/// The multiples of the grid's step from 2 steps to half of the largest size, in bytes. The step is the greatest
/// common divisor of the sizes.
pub fn candidates(points: &[Point]) -> Vec<u64> {
    let step = points
        .iter()
        .fold(0, |g, p| super::comb_model::gcd(p.x_bytes, g));
    let max = points.iter().map(|p| p.x_bytes).max().unwrap_or(0);
    if step == 0 {
        return Vec::new();
    }
    (2..=max / (2 * step)).map(|k| k * step).collect()
}

/// Compares the smooth curve, staircases and combs over `candidates` (bytes).
pub fn solve(
    points: &[Point],
    candidates: &[u64],
    options: &Options,
) -> Result<CombAnswer, CombError> {
    let too_few = |found| CombError::TooFewSizes {
        found,
        needed: SIZES_MIN,
    };
    let data = Data::gather(points).ok_or(too_few(0))?;
    if data.len() < SIZES_MIN {
        return Err(too_few(data.len()));
    }
    let periods = visible(&data, candidates);
    if periods.is_empty() {
        return Err(CombError::NoCandidate);
    }
    let (fitter, smooth) = Fitter::new(&data, periods.len(), options.resolution, options.gain_min)
        .ok_or(too_few(data.len()))?;
    let stair = |stair, wider| Terms {
        stair: Some(stair),
        wider,
        comb: None,
    };
    let mut stairs: Vec<Curve> = periods
        .iter()
        .filter_map(|&p| fitter.curve(stair(p, None)))
        .collect();
    let under = lowest(&stairs).and_then(|c| c.terms.stair);
    if let Some(first) = under {
        let others = periods.iter().filter(|p| **p != first);
        stairs.extend(others.filter_map(|&p| fitter.curve(stair(first, Some(p)))));
    }
    let mut hidden_share = 0.0f64;
    let mut combs = Vec::new();
    for &period in &periods {
        let fits = combs_of(&fitter, period, under);
        if data.multiples(period) >= TEETH_MIN {
            hidden_share = hidden_share.max(hidden(&fits));
        }
        combs.extend(fits);
    }
    Ok(judge(
        &Found {
            data: &data,
            smooth: &smooth,
            stairs: &stairs,
            combs: &combs,
            hidden_share,
        },
        options,
    ))
}

/// Candidates with at least two multiples and two other sizes in the sweep.
fn visible(data: &Data, candidates: &[u64]) -> Vec<u64> {
    let mut periods: Vec<u64> = candidates.to_vec();
    periods.sort_unstable();
    periods.dedup();
    periods.retain(|&p| {
        let multiples = data.multiples(p);
        multiples >= 2 && data.len() - multiples >= 2
    });
    periods
}

/// The combs of one period: both shapes, alone, over a staircase of their own width, and over the best staircase.
fn combs_of(fitter: &Fitter, period: u64, under: Option<u64>) -> Vec<Curve> {
    let mut stairs = vec![None, Some(period)];
    stairs.extend(under.filter(|u| *u != period).map(Some));
    let mut found = Vec::new();
    for shape in [Shape::Divisor, Shape::Indicator] {
        found.extend(stairs.iter().filter_map(|&stair| {
            let comb = Some((shape, period));
            fitter.curve(Terms {
                stair,
                wider: None,
                comb,
            })
        }));
    }
    found
}

/// The upper 99 % end of the drop at multiples, by the comb without a staircase that pays everywhere else.
fn hidden(fits: &[Curve]) -> f64 {
    fits.iter()
        .filter(|c| c.terms.stair.is_none())
        .filter(|c| matches!(c.terms.comb, Some((Shape::Indicator, _))))
        .map(|c| c.penalty().0 + normal_quantile(0.99) * c.penalty().1)
        .fold(0.0, f64::max)
}

fn lowest(curves: &[Curve]) -> Option<&Curve> {
    curves.iter().min_by(|a, b| a.bic.total_cmp(&b.bic))
}

struct Found<'a> {
    data: &'a Data,
    smooth: &'a Curve,
    stairs: &'a [Curve],
    combs: &'a [Curve],
    hidden_share: f64,
}

fn judge(found: &Found, options: &Options) -> CombAnswer {
    let comb = lowest(found.combs);
    let stair = lowest(found.stairs);
    let best_comb = best(found.combs, found.smooth, |t| t.comb.map(|c| c.1));
    let best_stair = best(found.stairs, found.smooth, |t| t.stair);
    let other = stair.map_or(found.smooth.bic, |s| s.bic.min(found.smooth.bic));
    let comb_over_staircase = comb.map_or(f64::NEG_INFINITY, |c| other - c.bic);
    let amplitude = comb.and_then(|c| amplitude(c, found.data));
    let clear = |b: &Best| b.gain >= options.gain_min && b.period_gain >= options.gain_min;
    let falls = |b: &Best| comb.is_some_and(|c| c.falls_at(found.data, b.period_bytes));
    let nothing = |b: Option<Best>| b.is_none_or(|b| b.gain < options.gain_min);
    let is_comb = |b: &Best| clear(b) && comb_over_staircase >= options.gain_min && falls(b);
    let choice = if let Some(b) = best_comb.filter(is_comb) {
        Choice::Comb(b.period_bytes)
    } else if let Some(b) = best_stair.filter(|b| clear(b) && comb_over_staircase <= 0.0) {
        Choice::Staircase(b.period_bytes)
    } else if nothing(best_comb)
        && nothing(best_stair)
        && found.hidden_share <= options.relevant_share
    {
        Choice::None
    } else {
        Choice::Undecided
    };
    CombAnswer {
        choice,
        comb: best_comb,
        staircase: best_stair,
        comb_over_staircase,
        amplitude,
        hidden_share: found.hidden_share,
        typical_ns: found.data.typical_ns,
    }
}

fn best(curves: &[Curve], smooth: &Curve, period: impl Fn(&Terms) -> Option<u64>) -> Option<Best> {
    let first = lowest(curves)?;
    let period_bytes = period(&first.terms)?;
    let second = curves
        .iter()
        .filter(|c| period(&c.terms) != Some(period_bytes))
        .map(|c| c.bic)
        .fold(f64::INFINITY, f64::min);
    Some(Best {
        period_bytes,
        gain: smooth.bic - first.bic,
        period_gain: second - first.bic,
    })
}

fn amplitude(curve: &Curve, data: &Data) -> Option<Amplitude> {
    let (shape, period) = curve.terms.comb?;
    let teeth = data.x_bytes.iter().map(|&x| tooth(shape, x, period));
    let furthest = teeth.fold(0.0, f64::max);
    let (penalty, error) = curve.penalty();
    let reach = normal_quantile(0.975) * error;
    let ns = |share: f64| share * furthest * data.typical_ns;
    Some(Amplitude {
        shape,
        drop_ns: ns(penalty),
        interval_ns: Interval {
            low: ns(penalty - reach),
            high: ns(penalty + reach),
        },
        relative: penalty * furthest,
        stair_bytes: curve.terms.stair,
    })
}

#[cfg(test)]
#[path = "comb_tests.rs"]
mod tests;

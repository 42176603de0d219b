//! The period of a series: after how many values the same pattern comes again.
//!
//! The values are replaced by their excess over their surroundings: what they are above the median of a window, clipped, and
//! nothing where that is within the noise or usual. Drift then has no period, and no single value decides. The period is the shortest
//! lag at which the autocorrelation of the excess is nearly as high as anywhere (Box and Jenkins, "Time series analysis",
//! 2.1.5), refined at its multiples. The null model is no period: the two halves of the series must show the same one by
//! themselves, which a chance peak does not.

use crate::location::{mad, median, quantile};

/// The values on either side of the window of surroundings.
const AROUND: usize = 32;
/// The median absolute deviations that are noise, and the least share of the median that counts.
const NOISE: f64 = 5.0;
const LEAST: f64 = 0.15;
/// The share of the values that are usual, and the multiple of their largest excess from which on one is not.
const USUAL: f64 = 0.85;
const BEYOND: f64 = 1.5;
/// An excess counts at most this many times the median.
const CLIP: f64 = 30.0;
/// The least autocorrelation of a period, in the whole and in a half of the series.
const WHOLE: f64 = 0.35;
const HALF: f64 = 0.25;
/// The share of the highest autocorrelation that the shortest lag must have.
const NEARLY: f64 = 0.8;
/// The least number of periods in a half, and of values with an excess.
const PERIODS: usize = 3;
const EVENTS: usize = 6;
/// The relative difference of the periods of both halves.
const SAME: f64 = 0.02;

/// A period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// The number of values, with its interval.
    pub values: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The autocorrelation at this lag, up to 1.
    pub correlation: f64,
    /// The mean excess in a period, as a share of the sum of its values.
    pub share: f64,
}

/// Returns the period of positive values, of at least `least` of them (at least 2) and at most a sixth of the series. `None`
/// if there is none, if it is shorter, or if both halves do not agree. Waits of more than 15 % of the values are usual, so
/// that a period of a single wait is found from seven values on.
pub fn period(values: &[f64], least: usize) -> Option<Period> {
    let excess = excess(values);
    let (first, second) = excess.split_at(excess.len() / 2);
    let most = values.len() / 2 / PERIODS;
    let whole = find(&excess, least.max(2), most, WHOLE)?;
    let agrees = |half: &[f64]| {
        let near = near(half, whole.lag)?;
        Some(
            near.correlation >= HALF
                && (near.lag / whole.lag - 1.0).abs() <= SAME.max(1.0 / whole.lag),
        )
    };
    if !(agrees(first)? && agrees(second)?) {
        return None;
    }
    let refined = refine(&excess, whole);
    let sum: f64 = values.iter().filter(|value| value.is_finite()).sum();
    let above: f64 = excess.iter().sum::<f64>() * median(values)?;
    Some(Period {
        values: refined.0,
        low: refined.0 - refined.1,
        high: refined.0 + refined.1,
        correlation: whole.correlation,
        share: above / sum.max(f64::MIN_POSITIVE),
    })
}

/// Returns the autocorrelation of the excess of positive values at a lag, the highest one of the values around it. `None` if
/// the series is no longer than the lag.
pub fn correlation_at(values: &[f64], lag: f64) -> Option<f64> {
    let (from, to) = ((lag - 1.0).floor().max(1.0), (lag + 1.0).ceil());
    top(&smooth(&excess(values)), from as usize, to as usize).map(|peak| peak.correlation)
}

/// Returns by how much values exceed their surroundings, as multiples of the median of all; 0 within the noise.
fn excess(values: &[f64]) -> Vec<f64> {
    let middle = median(values).unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let scaled: Vec<f64> = values.iter().map(|value| value / middle).collect();
    let local = |index: usize| {
        let from = index.saturating_sub(AROUND);
        let to = (index + AROUND + 1).min(scaled.len());
        median(&scaled[from..to]).unwrap_or(1.0)
    };
    // The median changes slowly: it is computed for every eighth value.
    let step = AROUND / 4;
    let bases: Vec<f64> = (0..scaled.len()).step_by(step).map(local).collect();
    let above: Vec<f64> = (scaled.iter().enumerate())
        .map(|(index, value)| value - bases[index / step])
        .collect();
    let noise = NOISE * mad(&above).unwrap_or(0.0);
    let usual = BEYOND * quantile(&above, USUAL).unwrap_or(0.0);
    let least = noise.max(usual).max(LEAST);
    let kept = |value: &f64| {
        if *value > least { value.min(CLIP) } else { 0.0 }
    };
    above.iter().map(kept).collect()
}

#[derive(Clone, Copy, Debug)]
struct Peak {
    lag: f64,
    correlation: f64,
}

/// Spreads every excess over its neighbours: the pattern need not lie on whole values.
fn smooth(excess: &[f64]) -> Vec<f64> {
    let at = |index: usize| excess.get(index).copied().unwrap_or(0.0);
    let mean = excess.iter().sum::<f64>() / excess.len().max(1) as f64;
    let near = |index: usize| 0.5 * at(index) + 0.25 * (at(index + 1) + at(index.wrapping_sub(1)));
    (0..excess.len()).map(|index| near(index) - mean).collect()
}

/// Returns the autocorrelation at a lag, of values without their mean.
fn correlation(values: &[f64], lag: usize) -> f64 {
    let rest = values.get(lag..).unwrap_or_default();
    let of = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (head, tail) = (&values[..rest.len()], rest);
    let spread = (of(head, head) * of(tail, tail)).sqrt();
    if spread > 0.0 {
        of(head, tail) / spread
    } else {
        0.0
    }
}

fn find(excess: &[f64], least: usize, most: usize, floor: f64) -> Option<Peak> {
    if excess.iter().filter(|value| **value > 0.0).count() < EVENTS {
        return None;
    }
    let values = smooth(excess);
    let all: Vec<f64> = (0..=most + 1)
        .map(|lag| correlation(&values, lag))
        .collect();
    // The smoothing correlates neighbours. A peak lies above the lags around it.
    let peaks = (2..=most).filter(|lag| {
        let here = all[*lag];
        here >= floor && here >= all[lag - 1] && here >= all[lag + 1]
    });
    let peaks: Vec<usize> = peaks.collect();
    let best = peaks.iter().map(|lag| all[*lag]).fold(0.0, f64::max);
    let lag = peaks.into_iter().find(|lag| all[*lag] >= NEARLY * best)?;
    if lag < least {
        return None;
    }
    Some(Peak {
        lag: lag as f64 + shift(&all, lag),
        correlation: all[lag],
    })
}

/// Returns the place of the top of the parabola through a peak and its neighbours, from -0.5 to 0.5.
fn shift(all: &[f64], lag: usize) -> f64 {
    let (before, here, after) = (all[lag - 1], all[lag], all[lag + 1]);
    let bend = before - 2.0 * here + after;
    if bend < 0.0 {
        (0.5 * (before - after) / bend).clamp(-0.5, 0.5)
    } else {
        0.0
    }
}

/// Returns the highest autocorrelation of a part within 2 % or one value of a lag.
fn near(excess: &[f64], lag: f64) -> Option<Peak> {
    let reach = (SAME * lag).max(1.5);
    let from = (lag - reach).floor().max(1.0) as usize;
    let to = (lag + reach).ceil() as usize;
    top(&smooth(excess), from, to)
}

fn top(values: &[f64], from: usize, to: usize) -> Option<Peak> {
    if to + 1 >= values.len() || from == 0 {
        return None;
    }
    let all: Vec<f64> = (from - 1..=to + 1)
        .map(|lag| correlation(values, lag))
        .collect();
    let best = (1..all.len() - 1).max_by(|a, b| all[*a].total_cmp(&all[*b]))?;
    Some(Peak {
        lag: (from - 1 + best) as f64 + shift(&all, best),
        correlation: all[best],
    })
}

/// Returns the period by the lags of ever larger multiples, and half the width of its interval: a lag is known to one value.
fn refine(excess: &[f64], whole: Peak) -> (f64, f64) {
    let values = smooth(excess);
    let (mut period, mut times) = (whole.lag, 1.0);
    let mut error = 1.0;
    loop {
        let next = times * 2.0;
        let lag = next * period;
        if lag > values.len() as f64 / 2.0 {
            return (period, error);
        }
        let reach = (next * error).min(period / 3.0).max(1.5);
        let (from, to) = (
            (lag - reach).floor() as usize,
            (lag + reach).ceil() as usize,
        );
        match top(&values, from.max(1), to) {
            Some(peak) if peak.correlation >= 0.5 * whole.correlation => {
                (period, times) = (peak.lag / next, next);
                error = 1.0 / times;
            }
            _ => return (period, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    /// Values around 1 with waits of `wait` after every `every` values, and as many others at random.
    fn series(rng: &mut Rng, count: usize, every: f64, wait: f64, stray: f64) -> Vec<f64> {
        let phase = every * 0.37;
        let waits = |index: f64| ((index + phase) / every).floor();
        (0..count)
            .map(|i| {
                let end = waits(i as f64 + 1.0) - waits(i as f64);
                let stray = if rng.chance(stray) { wait } else { 0.0 };
                (1.0 + 0.05 * rng.normal()).max(0.2) + wait * end + stray
            })
            .collect()
    }

    #[test]
    fn a_planted_period_is_found() {
        let mut rng = Rng::new(5, 1);
        for every in [8.3, 11.7, 40.0, 137.3, 600.4] {
            for stray in [0.0, 0.2 / every] {
                let values = series(&mut rng, 4096, every, 3.0, stray);
                let found = period(&values, 4).unwrap();
                assert!(
                    found.low <= every && every <= found.high,
                    "{every}: {found:?}"
                );
                assert!(found.high - found.low <= 1.01, "{found:?}");
                assert!((found.values / every - 1.0).abs() < 0.01, "{found:?}");
            }
        }
    }

    #[test]
    fn a_pattern_of_several_waits_has_one_period() {
        let values: Vec<f64> = (0..4000)
            .map(|i| match i % 200 {
                0 => 4.0,
                30 | 110 => 2.0,
                _ => 1.0,
            })
            .collect();
        let found = period(&values, 4).unwrap();
        assert!((found.values - 200.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn the_distance_of_two_waits_of_a_period_has_half_of_its_correlation() {
        let waits = |place: usize| usize::from(place == 0) + usize::from(place == 90);
        let values: Vec<f64> = (0..4000)
            .map(|i| 1.0 + 3.0 * waits(i % 200) as f64)
            .collect();
        let at = |lag: f64| correlation_at(&values, lag).unwrap();
        assert!(at(200.0) > 0.95);
        for half in [90.0, 110.0] {
            assert!((0.4..0.55).contains(&at(half)), "{half}: {}", at(half));
        }
        assert!(at(100.0) < 0.1);
        assert_eq!(correlation_at(&values, 4000.0), None);
    }

    #[test]
    fn waits_at_random_have_none() {
        let mut rng = Rng::new(6, 1);
        let wrong = (0..200).filter(|_| {
            let chance = 1.0 / (20.0 + rng.below(300) as f64);
            let values: Vec<f64> = (0..2000)
                .map(|_| {
                    let wait = if rng.chance(chance) {
                        1.0 + 5.0 * rng.uniform()
                    } else {
                        0.0
                    };
                    (1.0 + 0.1 * rng.normal()).max(0.2) + wait
                })
                .collect();
            period(&values, 4).is_some()
        });
        assert!(wrong.count() <= 1);
        assert_eq!(period(&[1.0; 500], 4), None);
        assert_eq!(period(&[], 4), None);
        let drift: Vec<f64> = (0..2000).map(|i| 1.0 + f64::from(i) / 500.0).collect();
        assert_eq!(period(&drift, 4), None);
    }
}

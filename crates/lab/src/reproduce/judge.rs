//! Whether a claim holds on our runs.
//!
//! A size holds where what was measured lies within the claim's tolerance. Where it does not, the interval of the
//! measurement decides: on the side that is claimed, the claim holds in its direction only; on the other side, or on
//! both sides of nothing without reaching the claim, it does not hold; else it cannot be told. Without an interval a
//! measurement is taken as it is.

use super::cell::Cell;
use super::claim::{Claim, Expected, Figure, Metric, Test};
use super::traces::Source;
use serde::Serialize;

/// What comes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In direction and, where one is given, in size.
    Holds,
    /// The direction holds, the size does not.
    DirectionOnly,
    /// It was measured otherwise.
    DoesNotHold,
    /// Too little was measured.
    CannotBeTold,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DirectionOnly => "holds in direction only",
            Self::DoesNotHold => "does not hold",
            Self::CannotBeTold => "cannot be told",
        }
    }
}

/// A claim on one workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The claim's name.
    pub claim: String,
    /// The workload.
    pub workload: String,
    /// What came of it.
    pub verdict: Verdict,
    /// What was measured, in words.
    pub measured: String,
}

/// Every claim on every workload that it is about, in the order of the claims.
pub fn judge(expected: &Expected, sources: &[Source], cells: &[Cell]) -> Vec<Judgement> {
    let mut out = Vec::new();
    for claim in &expected.claims {
        let about = |source: &&Source| claim.trace.as_ref().is_none_or(|t| *t == source.of);
        for source in sources.iter().filter(about) {
            let (verdict, measured) = one(expected, claim, &source.name, cells);
            out.push(Judgement {
                claim: claim.id.clone(),
                workload: source.name.clone(),
                verdict,
                measured,
            });
        }
    }
    out
}

type Judged = (Verdict, String);

/// Looks up runs of one workload.
struct Look<'a> {
    cells: &'a [Cell],
    workload: &'a str,
}

impl Look<'_> {
    fn at(&self, metric: Metric, setting: &str, scheme: &str) -> Option<(f64, f64)> {
        let here = |cell: &&Cell| {
            cell.workload == self.workload
                && cell.point("setting") == Some(setting)
                && cell.point("scheme") == Some(scheme)
        };
        self.cells.iter().find(here)?.metric(metric)
    }
}

fn one(expected: &Expected, claim: &Claim, workload: &str, cells: &[Cell]) -> Judged {
    let look = Look { cells, workload };
    let missing = || {
        let why = "a run is missing, or its buffer never was full";
        (Verdict::CannotBeTold, why.to_owned())
    };
    let Some(figure) = expected.figure(&claim.figure) else {
        return missing();
    };
    test(&look, figure, &claim.test).unwrap_or_else(missing)
}

fn test(look: &Look<'_>, figure: &Figure, test: &Test) -> Option<Judged> {
    match test {
        Test::Gain {
            metric,
            scheme,
            than,
            percent,
            tolerance,
        } => {
            let measured = gain(look, figure, *metric, (scheme, than))?;
            Some(match percent {
                Some(percent) => told(measured, |gain, half| {
                    sized(gain, half, *percent, *tolerance)
                }),
                None => told(measured, directed),
            })
        }
        Test::Change {
            metric,
            scheme,
            from,
            to,
            percent,
            tolerance,
        } => {
            let measured = change(look, *metric, scheme, (from, to))?;
            Some(match tolerance {
                Some(tolerance) => told(measured, |change, half| {
                    sized(change, half, *percent, *tolerance)
                }),
                // So many percent or more, in that direction.
                None => told(measured, |change, half| {
                    directed(change * percent.signum() - percent.abs(), half)
                }),
            })
        }
        Test::Same {
            metric,
            scheme,
            from,
            to,
            percent,
        } => {
            let measured = change(look, *metric, scheme, (from, to))?;
            let within = |change: f64, half| directed(percent - change.abs(), half);
            Some(told(measured, within))
        }
        Test::Flat {
            metric,
            schemes,
            percent,
        } => flat(look, figure, (*metric, schemes, *percent)),
        Test::Best {
            metric,
            scheme,
            among,
        } => ranked(look, figure, (*metric, scheme, among), 1.0),
        Test::Worst {
            metric,
            scheme,
            among,
        } => ranked(look, figure, (*metric, scheme, among), -1.0),
        Test::Value { .. } | Test::AtLeast { .. } => at_a_setting(look, test),
    }
}

/// A percentage with its verdict, in words.
fn told((percent, half): (f64, f64), verdict: impl Fn(f64, f64) -> Verdict) -> Judged {
    let words = match half >= 0.05 {
        true => format!("{percent:+.1} % (± {half:.1})"),
        false => format!("{percent:+.1} %"),
    };
    (verdict(percent, half), words)
}

/// Mean response times at one setting, in milliseconds.
fn at_a_setting(look: &Look<'_>, test: &Test) -> Option<Judged> {
    let mean = |setting: &str, scheme: &String| {
        let (mean, half) = look.at(Metric::MeanResponse, setting, scheme)?;
        Some((mean / 1e6, half / 1e6))
    };
    match test {
        Test::Value {
            scheme,
            setting,
            ms,
            tolerance,
        } => {
            let (mean, half) = mean(setting, scheme)?;
            let off = (mean - ms).abs() / ms * 100.0;
            let verdict = directed(tolerance - off, half / ms * 100.0);
            Some((verdict, format!("{mean:.3} ms")))
        }
        Test::AtLeast {
            schemes,
            setting,
            ms,
        } => {
            let means: Vec<(f64, f64)> = (schemes.iter())
                .map(|scheme| mean(setting, scheme))
                .collect::<Option<_>>()?;
            let least = means.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
            let all: Vec<String> = means.iter().map(|(m, _)| format!("{m:.3}")).collect();
            let verdict = directed(least.0 - ms, least.1);
            Some((verdict, format!("{} ms", all.join(", "))))
        }
        _ => None,
    }
}

/// How much better, in percent of the other and on average over the figure, with half of the interval.
fn gain(
    look: &Look<'_>,
    figure: &Figure,
    metric: Metric,
    (scheme, than): (&str, &str),
) -> Option<(f64, f64)> {
    let mut sum = (0.0, 0.0);
    for point in &figure.points {
        let (value, half) = look.at(metric, &point.setting, scheme)?;
        let (other, other_half) = look.at(metric, &point.setting, than)?;
        let (gain, error) = relative(other, other_half, value, half)?;
        sum = (sum.0 + better(metric) * gain, sum.1 + error);
    }
    // The same workload at every point: the errors do not average out.
    let n = figure.points.len() as f64;
    (n > 0.0).then(|| (sum.0 / n, sum.1 / n))
}

fn change(
    look: &Look<'_>,
    metric: Metric,
    scheme: &str,
    (from, to): (&str, &str),
) -> Option<(f64, f64)> {
    let (first, first_half) = look.at(metric, from, scheme)?;
    let (second, second_half) = look.at(metric, to, scheme)?;
    relative(first, first_half, second, second_half)
}

/// (value - whole) / whole in percent, with half of its interval as of two independent measurements.
fn relative(whole: f64, whole_half: f64, value: f64, half: f64) -> Option<(f64, f64)> {
    let ratio = value / whole;
    let error = ((half / whole).powi(2) + (ratio * whole_half / whole).powi(2)).sqrt();
    (whole > 0.0).then_some(((ratio - 1.0) * 100.0, error * 100.0))
}

/// The sign of what is better.
fn better(metric: Metric) -> f64 {
    match metric {
        Metric::MeanResponse => -1.0,
        Metric::Throughput | Metric::Reciprocal => 1.0,
    }
}

/// Of a claim that gives a size.
fn sized(measured: f64, half: f64, percent: f64, tolerance: f64) -> Verdict {
    if (measured - percent).abs() <= tolerance {
        return Verdict::Holds;
    }
    let sign = percent.signum();
    let (measured, percent) = (measured * sign, percent * sign);
    if measured - half > 0.0 {
        return Verdict::DirectionOnly;
    }
    match measured + half >= percent - tolerance {
        true => Verdict::CannotBeTold,
        false => Verdict::DoesNotHold,
    }
}

/// Of a claim that something is above zero.
fn directed(measured: f64, half: f64) -> Verdict {
    if measured - half >= 0.0 {
        Verdict::Holds
    } else if measured + half < 0.0 {
        Verdict::DoesNotHold
    } else {
        Verdict::CannotBeTold
    }
}

fn flat(
    look: &Look<'_>,
    figure: &Figure,
    (metric, schemes, percent): (Metric, &[String], f64),
) -> Option<Judged> {
    let first = &figure.points.first()?.setting;
    let mut worst: Option<(f64, f64, &str)> = None;
    for scheme in schemes {
        for point in &figure.points {
            let (change, half) = change(look, metric, scheme, (first, &point.setting))?;
            if worst.is_none_or(|(most, ..)| change.abs() > most.abs()) {
                worst = Some((change, half, scheme));
            }
        }
    }
    let (change, half, scheme) = worst?;
    // A point is as far from itself as it is: nothing, exactly.
    let verdict = match change == 0.0 {
        true => Verdict::Holds,
        false => directed(percent - change.abs(), half),
    };
    Some((verdict, format!("at most {change:+.1} % ({scheme})")))
}

/// Whether a scheme is better (`sign` 1) or worse (-1) than the others at every point.
fn ranked(
    look: &Look<'_>,
    figure: &Figure,
    (metric, scheme, among): (Metric, &str, &[String]),
    sign: f64,
) -> Option<Judged> {
    let mut verdicts = Vec::new();
    for point in &figure.points {
        let (value, half) = look.at(metric, &point.setting, scheme)?;
        for other in among {
            let (other, other_half) = look.at(metric, &point.setting, other)?;
            let (gain, error) = relative(other, other_half, value, half)?;
            let gain = sign * better(metric) * gain;
            // To be equal is not to be better.
            verdicts.push(match gain == 0.0 {
                true => Verdict::DoesNotHold,
                false => directed(gain, error),
            });
        }
    }
    let held = verdicts.iter().filter(|v| **v == Verdict::Holds).count();
    let all = [Verdict::DoesNotHold, Verdict::CannotBeTold];
    let verdict = all.into_iter().find(|v| verdicts.contains(v));
    Some((
        verdict.unwrap_or(Verdict::Holds),
        format!("in {held} of {} comparisons", verdicts.len()),
    ))
}

#[cfg(test)]
mod tests;

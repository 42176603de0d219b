//! Whether a claim holds on our runs.
//!
//! Differences are in percent, with the 95 % interval of the measurement where there is one. Two settings or schemes
//! see the same workload, and their errors are taken as independent, which makes an interval too wide rather than too
//! narrow. The rules are in [`rule`]:
//!
//! - Less than 1 % is no difference, whatever the interval says. Throughput in an open arrival is set by the arrivals
//!   and comes out the same for every scheme, but for a last digit.
//! - A claim with a size holds where what was measured lies within the claim's tolerance, which is never more than half
//!   of what is claimed, and is told from no difference. Outside of the tolerance it holds in its direction only, as
//!   long as it is told from no difference.
//! - A claim with a direction or a limit holds where the whole interval lies on its side.
//! - Where the interval does not decide, the claim cannot be told. The same where a buffer never was full, since nothing
//!   reached the drive.
//! - A claim about every point of a figure does not hold if it does not hold at one of them.

pub(super) mod rule;

use super::cell::Cell;
use super::claim::{Claim, Expected, Figure, Metric, Test};
use super::traces::Source;
pub use rule::NO_DIFFERENCE_PERCENT;
use rule::{all_of, differs, directed, sized};
use serde::Serialize;

/// What comes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In direction and, where one is given, in size.
    Holds,
    /// It holds under some of the assumptions that the paper leaves open, and not under others.
    HoldsInPart,
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
            Self::HoldsInPart => "holds in part",
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

/// What is said where a figure is missing.
const NOT_RUN: &str = "nothing reached the drive in one of the runs: its buffer never was full";

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
    let missing = || (Verdict::CannotBeTold, NOT_RUN.to_owned());
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
            let (gain, half) = measured;
            let verdict = match percent {
                Some(percent) => sized(gain, half, *percent, *tolerance),
                None => differs(gain, half),
            };
            Some((verdict, difference(measured, compares(*metric))))
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
            let (change, half) = measured;
            let verdict = match tolerance {
                Some(tolerance) => sized(change, half, *percent, *tolerance),
                // So many percent or more, in that direction.
                None => directed(change * percent.signum() - percent.abs(), half),
            };
            Some((verdict, difference(measured, CHANGES)))
        }
        Test::NotBetter {
            metric,
            scheme,
            from,
            to,
            percent,
        } => {
            let measured = change(look, *metric, scheme, (from, to))?;
            let (change, half) = measured;
            let verdict = directed(percent - better(*metric) * change, half);
            Some((verdict, difference(measured, CHANGES)))
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

/// What is said of more and of less.
type Words = (&'static str, &'static str);
const CHANGES: Words = ("rises by", "falls by");

/// How a metric compares: a gain in response time is a lower one.
fn compares(metric: Metric) -> Words {
    match metric {
        Metric::MeanResponse => ("lower", "higher"),
        Metric::Throughput | Metric::Reciprocal => ("higher", "lower"),
    }
}

/// A difference with its interval, in words.
fn difference((percent, half): (f64, f64), (more, less): Words) -> String {
    let interval = match half >= 0.05 {
        true => format!(" (± {half:.1})"),
        false => String::new(),
    };
    let word = if percent < 0.0 { less } else { more };
    if percent.abs() < NO_DIFFERENCE_PERCENT {
        format!("no difference, {percent:+.1} %{interval}")
    } else if word.ends_with("by") {
        format!("{word} {:.1} %{interval}", percent.abs())
    } else {
        format!("{:.1} % {word}{interval}", percent.abs())
    }
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

fn flat(
    look: &Look<'_>,
    figure: &Figure,
    (metric, schemes, percent): (Metric, &[String], f64),
) -> Option<Judged> {
    let (first, rest) = figure.points.split_first()?;
    let mut verdicts = Vec::new();
    let mut worst = (0.0_f64, 0.0, schemes.first()?);
    for scheme in schemes {
        for point in rest {
            let (change, half) = change(look, metric, scheme, (&first.setting, &point.setting))?;
            // What does not see the setting at all differs by nothing, exactly, however wide its interval is.
            verdicts.push(match change == 0.0 {
                true => Verdict::Holds,
                false => directed(percent - change.abs(), half),
            });
            if change.abs() > worst.0.abs() {
                worst = (change, half, scheme);
            }
        }
    }
    let (change, half, scheme) = worst;
    let words = difference((change, half), CHANGES);
    Some((
        all_of(&verdicts),
        format!("the largest change: {words} ({scheme})"),
    ))
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
            verdicts.push(differs(gain, error));
        }
    }
    let held = verdicts.iter().filter(|v| **v == Verdict::Holds).count();
    let words = format!("in {held} of {} comparisons", verdicts.len());
    Some((all_of(&verdicts), words))
}

#[cfg(test)]
mod tests;

//! Which figures a record has, as charts: series, axes, marks and the sentences around them.
//!
//! The figures are those of `parameter-aware-io` (Figures 4-7), `greedy-space` (Figure 2) and `irbw` (Figure 6), with
//! the raw samples added.

use crate::captions::{note, outside, see};
use crate::chart::{self, Chart, Interval, Mark, MarkKind, Mode, Scale, Unit};
use crate::folded::{self, by_place};
use crate::panels::{OTHERS, Panel, latency, panels};
use crate::points::{self, Measure, Medians};
use crate::words;
use fathom_probe::record::Series;
use fathom_probe::{Estimate, Parameter, Profile, Record, Sample, Value};
use std::collections::BTreeSet;

/// The most multiples of a period that are drawn as lines; with more they would hide the samples.
const PERIOD_LINES_MAX: u64 = 64;
/// The most sizes that a strip chart can hold apart.
const STRIP_SIZES_MAX: usize = 8;
/// From this ratio between medians on, a linear axis would hide the lower ones.
const LOG_RATIO: u64 = 100;
/// The same where it is asked from which place on requests wait: both heights must be seen.
const LOG_RATIO_WAITING: u64 = 10;

/// How the horizontal axis runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Sizes in bytes, evenly.
    Linear,
    /// Sizes in bytes, every doubling equally long.
    Log2,
    /// Few sizes, side by side.
    Strip,
}

/// What is marked on the horizontal axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// The identified size, in bytes.
    at: Option<u64>,
    /// What is written there.
    text: String,
    /// Both ends of the interval, where it is more than a point.
    pub(crate) interval: Option<(u64, u64)>,
    /// Multiples of the identified period.
    period: Vec<u64>,
}

/// What one series of samples becomes.
struct Line<'a> {
    name: &'static str,
    drawn: Vec<&'a Sample>,
    medians: Medians,
    heights: Vec<u64>,
}

/// The figures of one parameter; none where there are no samples.
pub(crate) fn figures(record: &Record, parameter: Parameter, profile: &Profile) -> Vec<Chart> {
    let samples: Vec<&Sample> = record
        .samples
        .iter()
        .filter(|s| s.parameter == parameter)
        .collect();
    // What the policy does shows where the memory is full.
    let sized = match parameter {
        Parameter::WritePolicy => Parameter::WriteBuffer,
        other => other,
    };
    let about = (parameter, profile.parameters.get(&sized));
    let panels = panels(parameter);
    let known: BTreeSet<Series> = panels
        .iter()
        .flat_map(|p| p.series.iter().copied())
        .collect();
    let present: BTreeSet<Series> = samples.iter().map(|s| s.series).collect();
    let mut out: Vec<Chart> = Vec::new();
    for panel in &panels {
        let series: Vec<Series> = panel
            .series
            .iter()
            .copied()
            .filter(|s| present.contains(s))
            .collect();
        if !series.is_empty() {
            let id = format!("{parameter}-{}", out.len());
            out.push(figure(id, panel, &series, &samples, about));
        }
    }
    let others: Vec<Series> = present.difference(&known).copied().collect();
    if !others.is_empty() {
        let id = format!("{parameter}-{}", out.len());
        let panel = latency(OTHERS, &[]);
        let see = "Taken beside the others: the sentences above do not speak of them.".to_owned();
        let chart = figure(id, &panel, &others, &samples, about);
        out.push(Chart { see, ..chart });
    }
    out
}

fn figure(
    id: String,
    panel: &Panel,
    series: &[Series],
    samples: &[&Sample],
    (parameter, estimate): (Parameter, Option<&Estimate>),
) -> Chart {
    let chosen: Vec<(Series, Vec<Sample>)> = series
        .iter()
        .map(|&one| (one, of_series(samples, one, estimate)))
        .collect();
    let lines: Vec<Line<'_>> = chosen
        .iter()
        .map(|(series, samples)| line(*series, samples, panel.measure))
        .collect();
    let axis = axis(parameter, panel.measure, series, &lines);
    let y = vertical(panel.measure, (axis, waiting(parameter, series)), &lines);
    let hidden = |h: &&u64| y.top.is_some_and(|top| **h as f64 > top);
    let heights = || lines.iter().flat_map(|line| &line.heights);
    let drawn = lines.iter().map(|line| line.drawn.len()).sum();
    let marks = marks(parameter, series, axis, estimate, &lines);
    let places = distinct_x(&lines);
    Chart {
        id,
        title: panel.title.to_owned(),
        see: see(parameter, series, estimate),
        note: note((heights().count(), drawn), axis, &marks),
        outside: outside(heights().filter(hidden).count(), heights().count()),
        x: horizontal(axis, x_title(parameter, series), &places),
        y,
        marks: drawn_marks(marks),
        series: drawn_series(&lines, axis, panel.measure, &places),
    }
}

fn of_series(samples: &[&Sample], series: Series, estimate: Option<&Estimate>) -> Vec<Sample> {
    if by_place(&[series]) {
        return folded::folded(samples, series, estimate);
    }
    let of_one = samples.iter().filter(|s| s.series == series);
    of_one.map(|s| **s).collect()
}

fn line(series: Series, samples: &[Sample], measure: Measure) -> Line<'_> {
    let samples: Vec<&Sample> = samples.iter().collect();
    Line {
        name: words::series(series),
        drawn: points::thinned(&samples, measure),
        medians: points::medians(&samples, measure),
        heights: samples.iter().map(|s| points::height(s, measure)).collect(),
    }
}

/// Whether the question is from which place on requests wait.
fn waiting(parameter: Parameter, series: &[Series]) -> bool {
    parameter == Parameter::WritePolicy || series == [Series::Filling]
}

fn x_title(parameter: Parameter, series: &[Series]) -> &'static str {
    if by_place(series) {
        "place"
    } else if points::of_streams(series) {
        "size whose multiples are tried"
    } else if waiting(parameter, series) {
        "bytes written before"
    } else {
        "request size"
    }
}

fn distinct_x(lines: &[Line<'_>]) -> BTreeSet<u64> {
    lines
        .iter()
        .flat_map(|line| line.medians.x.iter().copied())
        .collect()
}

/// Doublings where the paper has them or where the sizes lie closer together at the small end.
fn axis(parameter: Parameter, measure: Measure, series: &[Series], lines: &[Line<'_>]) -> Axis {
    let x = distinct_x(lines);
    if by_place(series) {
        return Axis::Linear;
    }
    let paired = series[0] == Series::Aligned || points::of_streams(series);
    let choice = paired || matches!(parameter, Parameter::Prefetch | Parameter::WritePolicy);
    // Through one size or two there is no curve.
    if x.len() <= 2 || (choice && x.len() <= STRIP_SIZES_MAX) {
        return Axis::Strip;
    }
    let (low, high) = (
        x.first().copied().unwrap_or(0),
        x.last().copied().unwrap_or(0),
    );
    let upper_half = x.iter().filter(|v| **v > low + (high - low) / 2).count();
    let crowded_low = x.len() > 3 && upper_half * 4 < x.len();
    if low > 0 && (measure == Measure::Throughput || crowded_low) {
        Axis::Log2
    } else {
        Axis::Linear
    }
}

fn horizontal(axis: Axis, title: &str, places: &BTreeSet<u64>) -> chart::Axis {
    match axis {
        Axis::Linear => chart::Axis::new(title, Unit::Bytes, Scale::Linear),
        Axis::Log2 => chart::Axis::new(title, Unit::Bytes, Scale::Log),
        Axis::Strip => chart::Axis::names(
            title,
            places.iter().map(|&size| words::bytes(size)).collect(),
        ),
    }
}

/// Logarithmic for latencies where both axes grow together, and where steps would be hidden; else from zero up to
/// the medians, with room above.
fn vertical(measure: Measure, (axis, waiting): (Axis, bool), lines: &[Line<'_>]) -> chart::Axis {
    let medians = || lines.iter().flat_map(|line| line.medians.y.iter().copied());
    let lowest = medians().min().unwrap_or(0).max(1);
    let highest = medians().max().unwrap_or(0);
    let ratio = highest / lowest;
    let hides = match axis {
        Axis::Log2 => true,
        Axis::Strip => ratio >= LOG_RATIO,
        Axis::Linear => waiting && ratio >= LOG_RATIO_WAITING,
    };
    let all = lines.iter().flat_map(|line| line.heights.iter().copied());
    let all = all.max().unwrap_or(0);
    let room = highest.saturating_add(highest / 2);
    let top = if all / 2 <= highest { all } else { room };
    let (title, unit) = match measure {
        Measure::Throughput => ("throughput", Unit::Rate),
        Measure::Latency => ("latency", Unit::Ns),
    };
    if measure == Measure::Latency && hides {
        return chart::Axis::new(title, unit, Scale::Log);
    }
    chart::Axis {
        top: (top > 0).then(|| top.saturating_add(top / 20) as f64),
        ..chart::Axis::new(title, unit, Scale::Zero)
    }
}

/// Clouds of samples, and their medians over all clouds.
fn drawn_series(
    lines: &[Line<'_>],
    axis: Axis,
    measure: Measure,
    places: &BTreeSet<u64>,
) -> Vec<chart::Series> {
    let at = |x: u64| match axis {
        Axis::Strip => places.iter().position(|&place| place == x).unwrap_or(0) as f64,
        _ => x as f64,
    };
    let x = |x: &mut dyn Iterator<Item = u64>| x.map(at).collect::<Vec<f64>>();
    let each = || lines.iter().enumerate();
    let clouds = each().map(|(look, line)| chart::Series {
        name: line.name.to_owned(),
        look,
        mode: Mode::Points,
        x: x(&mut line.drawn.iter().map(|s| s.x)),
        y: points::heights(&line.drawn, measure),
        interval: None,
        columns: points::columns(&line.drawn, measure),
    });
    let medians = each().map(|(look, line)| chart::Series {
        name: line.name.to_owned(),
        look,
        mode: match axis {
            Axis::Strip => Mode::Marks,
            _ => Mode::Line,
        },
        x: x(&mut line.medians.x.iter().copied()),
        y: line.medians.y.iter().map(|&y| Some(y as f64)).collect(),
        interval: Some(Interval {
            what: "the middle half".to_owned(),
            drawn: axis == Axis::Strip,
            low: line.medians.low.iter().map(|&y| y as f64).collect(),
            high: line.medians.high.iter().map(|&y| y as f64).collect(),
        }),
        columns: vec![chart::Column {
            name: "median of samples".to_owned(),
            unit: Unit::Number,
            values: line.medians.n.iter().map(|&n| n as f64).collect(),
        }],
    });
    clouds.chain(medians).collect()
}

/// A size is marked where the axis carries sizes of the same kind.
fn marks(
    parameter: Parameter,
    series: &[Series],
    axis: Axis,
    estimate: Option<&Estimate>,
    lines: &[Line<'_>],
) -> Marks {
    let Some(estimate) = estimate else {
        return Marks::default();
    };
    if by_place(series) {
        return Marks {
            at: folded::block(Some(estimate)).map(|block| block / 2),
            text: match parameter {
                Parameter::ClusteredPage => "a unit ends",
                _ => "a block begins",
            }
            .to_owned(),
            ..Marks::default()
        };
    }
    let beside = matches!(series[0], Series::SequentialRead | Series::RandomRead);
    if axis == Axis::Strip || beside {
        return Marks::default();
    }
    let at = estimate.value.as_ref().and_then(Value::bytes);
    let interval = estimate
        .low
        .zip(estimate.high)
        .filter(|(low, high)| low < high);
    let sweep = parameter == Parameter::ClusteredPage && series == [Series::Sweep];
    let last = distinct_x(lines).last().copied().unwrap_or(0);
    let period = match at {
        Some(period) if sweep && period > 0 && last / period <= PERIOD_LINES_MAX => {
            (2..=last / period).map(|n| n * period).collect()
        }
        _ => Vec::new(),
    };
    Marks {
        at,
        text: at.map(words::bytes).unwrap_or_default(),
        interval,
        period,
    }
}

fn drawn_marks(marks: Marks) -> Vec<Mark> {
    let mark = |kind, x: Vec<u64>, text| Mark {
        kind,
        x: x.into_iter().map(|x| x as f64).collect(),
        text,
    };
    let band = marks.interval.map(|(low, high)| vec![low, high]);
    let band = band.map(|ends| mark(MarkKind::Band, ends, String::new()));
    let period = (!marks.period.is_empty()).then_some(marks.period);
    let period = period.map(|period| mark(MarkKind::Dotted, period, String::new()));
    let at = marks
        .at
        .map(|at| mark(MarkKind::Line, vec![at], marks.text));
    band.into_iter().chain(period).chain(at).collect()
}

//! Which figures a record has, as plain data: series, axes, marks and the sentences around them.
//!
//! The page draws them (`assets/report.js`); here nothing is known of colours or pixels. The figures are those of
//! `parameter-aware-io` (Figures 4-7), `greedy-space` (Figure 2) and `irbw` (Figure 6), with the raw samples added.

use crate::captions::{note, outside, see};
use crate::folded::{self, by_place};
use crate::panels::{Panel, latency, panels};
use crate::points::{self, Measure, Medians, Raw};
use crate::words;
use fathom_probe::record::Series;
use fathom_probe::{Estimate, Parameter, Record, Sample, Value};
use serde::Serialize;
use std::collections::BTreeSet;

/// The most multiples of a period that are drawn as lines; with more they would hide the samples.
const PERIOD_LINES_MAX: u64 = 64;
/// The most sizes that a strip chart can hold apart.
const STRIP_SIZES_MAX: usize = 8;
/// From this ratio between medians on, a linear axis would hide the lower ones.
const LOG_RATIO: u64 = 100;

/// How the horizontal axis runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Axis {
    /// Sizes in bytes, evenly.
    Linear,
    /// Sizes in bytes, every doubling equally long.
    Log2,
    /// Few sizes, side by side.
    Strip,
}

/// One line and its points.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) raw: Raw,
    pub(crate) medians: Medians,
}

/// What is marked on the horizontal axis.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Marks {
    /// The identified size, in bytes.
    pub(crate) at: Option<u64>,
    /// What is written there.
    pub(crate) text: String,
    /// Both ends of the interval, where it is more than a point.
    pub(crate) interval: Option<(u64, u64)>,
    /// Multiples of the identified period.
    pub(crate) period: Vec<u64>,
}

/// The vertical axis: what is drawn is the height divided by `scale`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Vertical {
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) scale: u64,
    pub(crate) log: bool,
    /// The highest that is shown at first; the page has a button for the samples above it.
    pub(crate) top: Option<u64>,
}

/// One drawing.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) title: &'static str,
    #[serde(skip)]
    pub(crate) see: String,
    #[serde(skip)]
    pub(crate) note: String,
    /// What lies above the axis at first, in a sentence; empty where nothing does.
    #[serde(skip)]
    pub(crate) outside: String,
    pub(crate) axis: Axis,
    pub(crate) x_title: &'static str,
    pub(crate) vertical: Vertical,
    pub(crate) marks: Marks,
    pub(crate) lines: Vec<Line>,
}

/// The figures of one parameter; none where there are no samples.
pub(crate) fn figures(
    record: &Record,
    parameter: Parameter,
    estimate: Option<&Estimate>,
) -> Vec<Figure> {
    let samples: Vec<&Sample> = record
        .samples
        .iter()
        .filter(|s| s.parameter == parameter)
        .collect();
    let panels = panels(parameter);
    let known: BTreeSet<Series> = panels
        .iter()
        .flat_map(|p| p.series.iter().copied())
        .collect();
    let present: BTreeSet<Series> = samples.iter().map(|s| s.series).collect();
    let mut out: Vec<Figure> = Vec::new();
    for panel in &panels {
        let series: Vec<Series> = panel
            .series
            .iter()
            .copied()
            .filter(|s| present.contains(s))
            .collect();
        if !series.is_empty() {
            let id = format!("{parameter}-{}", out.len());
            out.push(figure(id, panel, &series, &samples, (parameter, estimate)));
        }
    }
    let others: Vec<Series> = present.difference(&known).copied().collect();
    if !others.is_empty() {
        let id = format!("{parameter}-{}", out.len());
        let panel = latency("Other samples", &[]);
        out.push(figure(id, &panel, &others, &samples, (parameter, estimate)));
    }
    out
}

fn figure(
    id: String,
    panel: &Panel,
    series: &[Series],
    samples: &[&Sample],
    (parameter, estimate): (Parameter, Option<&Estimate>),
) -> Figure {
    let mut lines = Vec::new();
    let mut heights = Vec::new();
    let mut drawn = 0;
    for &one in series {
        let folded = by_place(&[one]).then(|| folded::folded(samples, one, estimate));
        let of_one: Vec<&Sample> = match &folded {
            Some(folded) => folded.iter().collect(),
            None => samples
                .iter()
                .copied()
                .filter(|s| s.series == one)
                .collect(),
        };
        heights.extend(of_one.iter().map(|s| points::height(s, panel.measure)));
        let thinned = points::thinned(&of_one, panel.measure);
        drawn += thinned.len();
        lines.push(Line {
            name: words::series(one),
            raw: points::raw(&thinned, panel.measure),
            medians: points::medians(&of_one, panel.measure),
        });
    }
    let axis = axis(parameter, panel.measure, series, &lines);
    let vertical = vertical(panel.measure, axis, &lines, &heights);
    let hidden = |h: &&u64| vertical.top.is_some_and(|top| **h > top);
    let above = heights.iter().filter(hidden).count();
    let marks = marks(parameter, series, axis, estimate, &lines);
    Figure {
        id,
        title: panel.title,
        see: see(parameter, series, estimate),
        note: note((heights.len(), drawn), axis, &marks),
        outside: outside(above, heights.len()),
        axis,
        x_title: if by_place(series) {
            "place"
        } else if points::of_streams(series) {
            "size whose multiples are tried"
        } else if parameter == Parameter::WritePolicy || series == [Series::Filling] {
            "bytes written before"
        } else {
            "request size"
        },
        vertical,
        marks,
        lines,
    }
}

fn distinct_x(lines: &[Line]) -> BTreeSet<u64> {
    lines
        .iter()
        .flat_map(|line| line.medians.x.iter().copied())
        .collect()
}

/// Doublings where the paper has them or where the sizes lie closer together at the small end.
fn axis(parameter: Parameter, measure: Measure, series: &[Series], lines: &[Line]) -> Axis {
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

/// Logarithmic for latencies where both axes grow together, and where steps would be hidden; else from zero up to
/// the medians, with room above.
fn vertical(measure: Measure, axis: Axis, lines: &[Line], heights: &[u64]) -> Vertical {
    let medians = || lines.iter().flat_map(|line| line.medians.y.iter().copied());
    let lowest = medians().min().unwrap_or(0).max(1);
    let highest = medians().max().unwrap_or(0);
    let steps = axis == Axis::Strip;
    let log = measure == Measure::Latency
        && (axis == Axis::Log2 || (steps && highest / lowest >= LOG_RATIO));
    let all = heights.iter().copied().max().unwrap_or(0);
    let room = highest.saturating_add(highest / 2);
    let top = if all / 2 <= highest { all } else { room };
    let (title, (scale, unit)) = match measure {
        Measure::Throughput => ("throughput", (1_000_000, "MB/s")),
        Measure::Latency => ("latency", time_unit(highest)),
    };
    Vertical {
        title,
        unit,
        scale,
        log,
        top: (!log && top > 0).then(|| top.saturating_add(top / 20)),
    }
}

fn time_unit(highest_ns: u64) -> (u64, &'static str) {
    match highest_ns {
        0..2_000 => (1, "ns"),
        2_000..2_000_000 => (1_000, "µs"),
        2_000_000..2_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    }
}

/// A size is marked where the axis carries sizes of the same kind.
fn marks(
    parameter: Parameter,
    series: &[Series],
    axis: Axis,
    estimate: Option<&Estimate>,
    lines: &[Line],
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

//! Builds the charts of a probe record: series, axes, marks and texts.
//!
//! The figures follow `parameter-aware-io` (Figures 4-7), `greedy-space` (Figure 2) and `irbw` (Figure 6), with the raw
//! samples added.

use crate::captions::{note, outside, see};
use crate::chart::{self, Chart, Interval, MarkKind, Mode, Scale, Unit};
use crate::folded;
use crate::points::{self, Medians};
use crate::words;
use fathom_probe::about::{Figure, LOOKS, Mark, Measure, X};
use fathom_probe::{Estimate, Parameter, Profile, Record, Sample, Series, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Maximum number of period lines; more of them would hide the samples.
const PERIOD_LINES_MAX: u64 = 64;
/// Maximum number of sizes in a strip chart that a reader can tell apart.
const STRIP_SIZES_MAX: usize = 8;
/// Ratio between medians from which the vertical axis is logarithmic; a linear axis would hide the lower ones.
const LOG_RATIO: u64 = 100;
/// The same ratio for figures that show from where on requests wait: both levels must be visible.
const LOG_RATIO_WAITING: u64 = 10;

/// Figure for the samples that no other figure shows.
const OTHERS: Figure = Figure::latency(
    "Other samples",
    "Taken beside the others: the sentences above do not speak of them.",
    &[],
);

/// Kind of horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    /// Sizes in bytes, linear.
    Linear,
    /// Sizes in bytes, logarithmic: every doubling is equally long.
    Log2,
    /// A few sizes, side by side.
    Strip,
}

/// A series of samples, prepared for drawing.
struct Line<'a> {
    name: &'a str,
    drawn: Vec<&'a Sample>,
    medians: Medians,
    heights: Vec<u64>,
}

/// A series of a figure: its name in the legend and its samples.
type Chosen<'a> = (&'a str, Vec<Sample>);

/// Returns the figures of one parameter; none if it has no samples. Every sample of the record is shown: those that belong
/// to no figure get one of their own.
pub(crate) fn figures(record: &Record, parameter: Parameter, profile: &Profile) -> Vec<Chart> {
    let mut of_series: BTreeMap<Series, Vec<Sample>> = BTreeMap::new();
    for sample in record.samples.iter().filter(|s| s.parameter == parameter) {
        of_series.entry(sample.series).or_default().push(*sample);
    }
    let about = parameter.about();
    let estimate = profile.parameters.get(&about.marks.unwrap_or(parameter));
    let mut out: Vec<Chart> = Vec::new();
    for figure in about.figures {
        let lines = figure.lines.iter();
        let chosen: Vec<Chosen<'_>> = lines
            .filter_map(|(series, name)| Some((*name, of_series.remove(series)?)))
            .collect();
        if !chosen.is_empty() {
            let id = format!("{parameter}-{}", out.len());
            out.push(chart(id, figure, chosen, estimate));
        }
    }
    if !of_series.is_empty() {
        let id = format!("{parameter}-{}", out.len());
        out.push(chart(id, &OTHERS, others(&of_series), estimate));
    }
    out
}

/// Returns the series that no figure of the parameter shows, in the order of all known series.
fn others(of_series: &BTreeMap<Series, Vec<Sample>>) -> Vec<Chosen<'_>> {
    let figures = Parameter::ALL.into_iter().flat_map(|p| p.about().figures);
    let known: Vec<&(Series, &str)> = figures.flat_map(|f| f.lines).chain(LOOKS).collect();
    let rank = |series: &Series| known.iter().position(|(known, _)| known == series);
    let mut others: Vec<_> = of_series.iter().collect();
    others.sort_by_key(|(series, _)| rank(series).unwrap_or(usize::MAX));
    let name = |series: &'_ Series| rank(series).map(|at| known[at].1);
    others
        .into_iter()
        .map(|(series, samples)| (name(series).unwrap_or(series.name()), samples.clone()))
        .collect()
}

fn chart(
    id: String,
    figure: &Figure,
    mut chosen: Vec<Chosen<'_>>,
    estimate: Option<&Estimate>,
) -> Chart {
    if let X::Place { last } = figure.x {
        for (_, samples) in &mut chosen {
            *samples = folded::folded(samples, last, estimate);
        }
    }
    let lines: Vec<Line<'_>> = chosen
        .iter()
        .map(|(name, samples)| line(name, samples, figure))
        .collect();
    let axis = axis(figure, &lines);
    let y = vertical(figure, axis, &lines);
    let hidden = |h: &&u64| y.top.is_some_and(|top| **h as f64 > top);
    let heights = || lines.iter().flat_map(|line| &line.heights);
    let drawn = lines.iter().map(|line| line.drawn.len()).sum();
    let places = distinct_x(&lines);
    Chart {
        id,
        title: figure.title.to_owned(),
        see: see(figure, estimate),
        note: note(
            heights().count(),
            drawn,
            axis == Axis::Strip,
            interval(figure, axis, estimate),
        ),
        outside: outside(heights().filter(hidden).count(), heights().count()),
        x: horizontal(axis, figure.x, &places),
        y,
        marks: marks(figure, axis, estimate, &places),
        series: drawn_series(&lines, axis, figure, &places),
    }
}

fn line<'a>(name: &'a str, samples: &'a [Sample], figure: &Figure) -> Line<'a> {
    let samples: Vec<&Sample> = samples.iter().collect();
    Line {
        name,
        drawn: points::thinned(&samples, figure),
        medians: points::medians(&samples, figure),
        heights: samples.iter().map(|s| points::height(s, figure)).collect(),
    }
}

fn x_title(x: X) -> &'static str {
    match x {
        X::Request => "request size",
        X::WrittenBefore => "bytes written before",
        X::Multiples => "size whose multiples are tried",
        X::Place { .. } => "place",
        X::Depth => "requests in flight",
        X::Load => "percent of the rate at the knee",
        X::Span => "area that requests are spread over",
        X::Distance => "distance",
        X::Elapsed => "time",
    }
}

fn distinct_x(lines: &[Line<'_>]) -> BTreeSet<u64> {
    lines
        .iter()
        .flat_map(|line| line.medians.x.iter().copied())
        .collect()
}

/// Returns the kind of the horizontal axis: side by side for a few sizes, logarithmic where the paper has it (throughput) or
/// where the sizes are closer together at the small end, otherwise linear.
fn axis(figure: &Figure, lines: &[Line<'_>]) -> Axis {
    let x = distinct_x(lines);
    if matches!(figure.x, X::Place { .. }) {
        return Axis::Linear;
    }
    // One or two sizes make no curve.
    if x.len() <= 2 || (figure.side_by_side && x.len() <= STRIP_SIZES_MAX) {
        return Axis::Strip;
    }
    let [low, high] = [x.first(), x.last()].map(|end| end.copied().unwrap_or(0));
    let upper_half = x.iter().filter(|v| **v > low + (high - low) / 2).count();
    let crowded_low = x.len() > 3 && upper_half * 4 < x.len();
    if figure.x == X::Elapsed {
        return Axis::Linear;
    }
    if low > 0 && (figure.measure == Measure::Throughput || crowded_low) {
        Axis::Log2
    } else {
        Axis::Linear
    }
}

fn horizontal(axis: Axis, x: X, places: &BTreeSet<u64>) -> chart::Axis {
    let title = x_title(x);
    let (unit, name): (Unit, fn(u64) -> String) = match x {
        X::Depth | X::Load => (Unit::Number, |number| number.to_string()),
        X::Elapsed => (Unit::Ns, words::duration),
        _ => (Unit::Bytes, words::bytes),
    };
    match axis {
        Axis::Linear => chart::Axis::new(title, unit, Scale::Linear),
        Axis::Log2 => chart::Axis::new(title, unit, Scale::Log),
        Axis::Strip => chart::Axis::names(title, places.iter().map(|&x| name(x)).collect()),
    }
}

/// Logarithmic for latencies if the horizontal axis is logarithmic or if a linear axis would hide steps; otherwise linear
/// from zero, with some room above the medians.
fn vertical(figure: &Figure, axis: Axis, lines: &[Line<'_>]) -> chart::Axis {
    let medians = || lines.iter().flat_map(|line| line.medians.y.iter().copied());
    let lowest = medians().min().unwrap_or(0).max(1);
    let highest = medians().max().unwrap_or(0);
    let ratio = highest / lowest;
    let hides = match axis {
        Axis::Log2 => true,
        Axis::Strip => ratio >= LOG_RATIO,
        Axis::Linear => figure.x == X::WrittenBefore && ratio >= LOG_RATIO_WAITING,
    };
    let all = lines.iter().flat_map(|line| line.heights.iter().copied());
    let all = all.max().unwrap_or(0);
    let room = highest.saturating_add(highest / 2);
    let top = if all / 2 <= highest { all } else { room };
    let (title, unit) = match figure.measure {
        Measure::Throughput => ("throughput", Unit::Rate),
        Measure::Latency => ("latency", Unit::Ns),
    };
    if figure.measure == Measure::Latency && hides {
        return chart::Axis::new(title, unit, Scale::Log);
    }
    chart::Axis {
        top: (top > 0).then(|| top.saturating_add(top / 20) as f64),
        ..chart::Axis::new(title, unit, Scale::Zero)
    }
}

/// Returns the samples of all lines as points, then their medians, so that medians are drawn on top.
fn drawn_series(
    lines: &[Line<'_>],
    axis: Axis,
    figure: &Figure,
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
        y: points::heights(&line.drawn, figure),
        interval: None,
        columns: points::columns(&line.drawn, figure),
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

/// Returns the interval of an answer in bytes, if it is more than a point and the axis shows such sizes.
fn interval(figure: &Figure, axis: Axis, estimate: Option<&Estimate>) -> Option<Range<u64>> {
    let end = |end: &Option<Value>| end.as_ref().and_then(Value::bytes);
    let estimate = estimate.filter(|_| has_marks(figure, axis))?;
    let (low, high) = end(&estimate.low).zip(end(&estimate.high))?;
    (low < high).then_some(low..high)
}

/// Returns true if the found size can be marked.
fn has_marks(figure: &Figure, axis: Axis) -> bool {
    axis != Axis::Strip && matches!(figure.mark, Mark::Size | Mark::Period)
}

/// Returns the marks: the found size, its interval, and the multiples of a period.
fn marks(
    figure: &Figure,
    axis: Axis,
    estimate: Option<&Estimate>,
    places: &BTreeSet<u64>,
) -> Vec<chart::Mark> {
    let mark = |kind, x: &[u64], text: String| chart::Mark {
        kind,
        x: x.iter().map(|&x| x as f64).collect(),
        text,
    };
    if let Mark::End(text) = figure.mark {
        let block = folded::block(estimate).into_iter();
        return block
            .map(|block| mark(MarkKind::Line, &[block / 2], text.to_owned()))
            .collect();
    }
    let band = interval(figure, axis, estimate);
    let band = band.map(|ends| mark(MarkKind::Band, &[ends.start, ends.end], String::new()));
    let size = estimate.and_then(Estimate::bytes);
    let size = size.filter(|_| has_marks(figure, axis));
    let last = places.last().copied().unwrap_or(0);
    let multiples = |size: u64| -> Option<Vec<u64>> {
        let most = last.checked_div(size)?;
        let few = figure.mark == Mark::Period && (2..=PERIOD_LINES_MAX).contains(&most);
        few.then(|| (2..=most).map(|n| n * size).collect())
    };
    let period = size.and_then(multiples);
    let period = period.map(|period| mark(MarkKind::Dotted, &period, String::new()));
    let at = size.map(|size| mark(MarkKind::Line, &[size], words::bytes(size)));
    band.into_iter().chain(period).chain(at).collect()
}

//! The figures of parts of a whole, and of the cost of copies.

use super::forms::{Work, positive};
use super::{Copy, Cost, Latency, PlatformReport, cost, latency};
use crate::chart::{Axis, Chart, Mode, Scale, Series, Unit};
use fathom_platform::{Layer, Phase};

/// The look of what no part accounts for.
const REST_LOOK: usize = 13;
/// The look of each layer, in the order of [`Layer::ALL`]: neighbours differ.
const LAYER_LOOKS: [usize; 14] = [8, 0, 2, 6, 4, 9, 1, 5, 11, 7, 3, 10, 12, 13];
/// The look of each phase, in the order of [`Phase::ALL`]: that of its layer, where it has one.
const PHASE_LOOKS: [usize; 9] = [0, 2, 4, 6, 9, 1, 7, 3, 5];

/// Returns the figures that show where time and clocks go.
pub(super) fn stacks(report: &PlatformReport) -> Vec<Chart> {
    let latency = latency_chart(&report.latency);
    let costs = cost_chart(&report.costs, Work::of(report));
    latency.into_iter().chain(costs).collect()
}

fn latency_chart(all: &[Latency]) -> Option<Chart> {
    let phases = Phase::ALL
        .into_iter()
        .zip(PHASE_LOOKS)
        .map(|(phase, look)| {
            let part = |one: &Latency| one.phases.get(&phase).copied();
            stacked(phase.words(), look, all.iter().map(part))
        });
    let rest = stacked("not attributed", REST_LOOK, all.iter().map(latency::others));
    let series = drawn(phases.chain([rest]));
    let see = "One read at a time, from the program's call (below) to its return (above). A click on a name hides it; the \
               others then fill the figure. (Figure 3 of ssd-ready-platforms.)";
    (!series.is_empty()).then(|| Chart {
        id: "latency".to_owned(),
        title: "Where the time of a read goes".to_owned(),
        see: see.to_owned(),
        note: note(
            all.iter()
                .flat_map(|one| one.phases.values().copied().chain(latency::others(one))),
        ),
        x: Axis::names("way of the read", latency::named(all).each),
        y: Axis::new("latency", Unit::Ns, Scale::Zero),
        series,
        ..Chart::default()
    })
}

fn cost_chart(all: &[Cost], work: Work) -> Option<Chart> {
    let layers = Layer::ALL.into_iter().zip(LAYER_LOOKS);
    let layers = layers
        .filter(|(layer, _)| layer.is_of_io())
        .map(|(layer, look)| {
            let part = |cost: &Cost| cost.layers.get(&layer).copied();
            stacked(layer.words(), look, all.iter().map(part))
        });
    let rest = stacked("not attributed", REST_LOOK, all.iter().map(cost::others));
    let series = drawn(layers.chain([rest]));
    let (title, unit) = match work {
        Work::Clocks => ("Where the clocks of a read go", Unit::Number),
        Work::Time => ("Where the processor time of a read goes", Unit::Ns),
    };
    let see = "With many reads in flight on one processor, by layer, from the program (below) to the context switches (above). Less is \
               better. (Figures 5 to 7 of ssd-ready-platforms.)";
    (!series.is_empty()).then(|| Chart {
        id: "layers".to_owned(),
        title: title.to_owned(),
        see: see.to_owned(),
        note: note(
            all.iter()
                .flat_map(|one| one.layers.values().copied().chain(cost::others(one))),
        ),
        x: Axis::names("way of the read", cost::named(all).each),
        y: Axis::new(work.name(), unit, Scale::Zero),
        series,
        ..Chart::default()
    })
}

/// Returns a note if a part is below zero.
fn note(mut parts: impl Iterator<Item = f64>) -> String {
    match parts.any(|part| part < 0.0) {
        true => "A part below zero is not drawn; the table has it. Parts are estimates: their sum can differ from the total.".to_owned(),
        false => String::new(),
    }
}

/// Returns the parts with this name of all stacks.
fn stacked(name: &str, look: usize, parts: impl Iterator<Item = Option<f64>>) -> Series {
    let parts = (0_u32..).zip(parts);
    let there = parts.filter_map(|(at, part)| Some((f64::from(at), Some(positive(part?)?))));
    Series::new(name, look, Mode::Stack, there)
}

fn drawn(all: impl Iterator<Item = Series>) -> Vec<Series> {
    all.filter(|series| !series.x.is_empty()).collect()
}

/// Returns the clocks of copies over the length, with the line through them.
pub(super) fn copy(copy: &Copy, work: Work) -> Option<Chart> {
    let mut points: Vec<[f64; 2]> = copy.points.clone();
    points.retain(|point| point.iter().all(|part| part.is_finite()));
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    if points.is_empty() {
        return None;
    }
    let line = points
        .iter()
        .map(|[size, _]| (*size, Some(copy.fixed + copy.per_byte * size)));
    let line = Series::new("line", 1, Mode::Line, line);
    let marks = points.iter().map(|[size, clocks]| (*size, Some(*clocks)));
    let marks = Series::new("buffered beyond direct", 0, Mode::Marks, marks);
    let unit = match work {
        Work::Clocks => Unit::Number,
        Work::Time => Unit::Ns,
    };
    Some(Chart {
        id: "copies".to_owned(),
        title: format!("What copies cost, in {}", work.name()),
        see: "How much more a buffered read costs than a direct one; the slope is the cost of a byte. (Figure 7 of ssd-ready-platforms.)"
            .to_owned(),
        x: Axis::new("size of a read", Unit::Bytes, Scale::Zero),
        y: Axis::new(work.name(), unit, Scale::Zero),
        series: vec![line, marks],
        ..Chart::default()
    })
}

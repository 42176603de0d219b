//! The cost of an I/O with many in flight on one processor, by layer.

use super::forms::{NONE, Work, interval, percent, positive, several, whole};
use super::names::{Names, Way, names};
use super::part::{Part, row, unattributed};
use super::{Cost, PlatformReport};
use crate::table::Table;
use fathom_platform::{Interface, Layer};

/// Returns the table.
pub(super) fn part(report: &PlatformReport) -> Option<Part> {
    let all = &report.costs;
    if all.is_empty() {
        return None;
    }
    let names = named(all);
    let work = Work::of(report);
    let head = std::iter::once("layer".to_owned()).chain(names.each.clone());
    let of_layer = |layer: Layer, name: &str| {
        let cell = |cost: &Cost| maybe(cost.layers.get(&layer).copied(), |n| work.cell(n));
        row(name, all.iter().map(cell))
    };
    let layers = busy().filter_map(|layer| of_layer(layer, layer.words()));
    let rest = row(
        "not attributed",
        all.iter().map(|cost| {
            maybe(others(cost).filter(|_| !cost.layers.is_empty()), |n| {
                work.cell(n)
            })
        }),
    );
    let below = [
        rest,
        row("total", all.iter().map(|cost| work.cell(cost.clocks))),
        row(
            "95 % interval",
            all.iter()
                .map(|cost| interval(cost.interval, |n| work.cell(n))),
        ),
        of_layer(Layer::Other, "other, not in the total"),
        of_layer(Layer::Idle, "idle, not in the total"),
        row(
            "not idle, by the kernel",
            all.iter().map(|cost| maybe(cost.busy, |n| work.cell(n))),
        ),
        row(
            "total and other against it",
            all.iter().map(|cost| maybe(against(cost), signed)),
        ),
    ];
    let rows = layers
        .chain(below.into_iter().flatten())
        .chain(figures(report));
    let title = match work {
        Work::Clocks => "Clocks of a read by layer",
        Work::Time => "Processor time of a read by layer",
    };
    let table = Table {
        rows: rows.collect(),
        ..Table::new(title, &note(report, &names), head)
    };
    Some(Part {
        table,
        ..Part::default()
    })
}

/// All layers in which a processor works.
pub(super) fn busy() -> impl Iterator<Item = Layer> {
    Layer::ALL.into_iter().filter(|layer| layer.is_of_io())
}

/// What no layer accounts for.
pub(super) fn others(cost: &Cost) -> Option<f64> {
    let layers = cost.layers.iter().filter(|(layer, _)| layer.is_of_io());
    unattributed(cost.clocks, layers.map(|(_, clocks)| *clocks))
}

/// How far the layers and what else ran are from what the kernel counted, as a share of that.
fn against(cost: &Cost) -> Option<f64> {
    let busy = positive(cost.busy?)?;
    let other = cost.layers.get(&Layer::Other)?;
    Some((cost.clocks + other) / busy - 1.0)
}

fn signed(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(share))
}

/// Rates of a processor that does nothing else, for each cost.
pub(super) fn rates(report: &PlatformReport) -> Vec<Option<f64>> {
    let per_second = report.clock_hz.map_or(1e9, |hz| hz as f64);
    let rate = |clocks: f64| positive(per_second / positive(clocks)?);
    report.costs.iter().map(|cost| rate(cost.clocks)).collect()
}

/// Returns the names of the ways.
pub(super) fn named(all: &[Cost]) -> Names {
    let way = |cost: &Cost| Way {
        block_bytes: Some(cost.block_bytes),
        in_flight: Some(cost.depth),
        ..Way::of(cost.path)
    };
    names(&all.iter().map(way).collect::<Vec<_>>())
}

/// The rows below the clocks.
fn figures(report: &PlatformReport) -> impl Iterator<Item = Vec<String>> {
    let all = &report.costs;
    let rates = rates(report);
    [
        row(
            "context switches",
            all.iter().map(|cost| maybe(cost.switches, several)),
        ),
        row(
            "system calls",
            all.iter().map(|cost| maybe(cost.system_calls, several)),
        ),
        row(
            "processor busy",
            all.iter().map(|cost| percent(cost.utilisation)),
        ),
        row(
            "IOPS",
            all.iter().map(|cost| maybe(positive(cost.iops), whole)),
        ),
        row(
            "IOPS of a processor",
            rates.into_iter().map(|rate| maybe(rate, whole)),
        ),
    ]
    .into_iter()
    .flatten()
}

fn maybe(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

fn note(report: &PlatformReport, names: &Names) -> String {
    let all = match Work::of(report) {
        Work::Clocks => "Clocks",
        Work::Time => "Time",
    };
    let how = match report.measured {
        true => "The program runs on one of them. All but the layers is without tracing.",
        false => "The program runs on one of them.",
    };
    let work = format!("{all} of all processors for a read. {how}");
    let polls = report
        .costs
        .iter()
        .any(|cost| cost.layers.contains_key(&Layer::Polling));
    let polls = match polls {
        true => " Polling is waiting: it takes what the other layers leave.",
        false => "",
    };
    let is_libaio =
        |cost: &Cost| cost.path.interface == Interface::Libaio && !cost.layers.is_empty();
    let libaio = match report.measured && report.costs.iter().any(is_libaio) {
        true => {
            " libaio: no event says where a request of a batch begins, so that its file system is in the block layer."
        }
        false => "",
    };
    let idle = match report.costs.iter().any(|cost| cost.busy.is_some()) {
        true => {
            " Not idle: all that ran, by the kernel's own counters; the total and the other should sum to it on a quiet machine."
        }
        false => "",
    };
    match names.shared.is_empty() {
        true => format!("{work}{polls}{libaio}{idle}"),
        false => format!("{work}{polls}{libaio}{idle} All: {}.", names.shared),
    }
}

//! Divides the clocks of a load into layers, by a recording of the same load.

use super::bench::Bench;
use super::error::{MeasureError, doubt};
use super::traced::Trace;
use super::used::{Used, used};
use fathom_hostio::load::{LoadConfig, LoadReport, Stamp, StampClock};
use fathom_platform::Layer;
use fathom_platform::measured::{Clocks, Load, Part, TracingCost, clocks};
use fathom_report::platform::Tracing;
use std::collections::BTreeMap;

/// Most reads of a thread in the window whose layers are told.
const STAMPS_MAX: u32 = 1 << 16;

/// A cost by layer.
pub(super) struct Divided {
    /// Clocks of a read, without the cost of tracing.
    pub(super) layers: BTreeMap<Layer, f64>,
    /// What tracing cost.
    pub(super) tracing: Tracing,
    /// Clocks of tracing an event.
    pub(super) per_event: f64,
}

/// Traces a load and divides it. The cost of an event is that of the load's own threads, unless it is known: where a thread
/// of the kernel submits they have few events, and that thread is always busy.
pub(super) fn layers(
    bench: &Bench<'_>,
    config: &LoadConfig,
    untraced: &Used,
    known: Option<f64>,
) -> Result<Divided, MeasureError> {
    let mut trace = Trace::start_clocks(bench, config.engine)?;
    let config = LoadConfig {
        clock: trace.stamp_clock(),
        stamps_max: STAMPS_MAX,
        ..config.clone()
    };
    let report = bench.run(&config, || trace.drain())?;
    let load = trace.load(&report, config.engine);
    let recorded = trace.finish()?;
    let load = Load {
        cpus: recorded.cpus,
        ..load
    };
    let found = clocks(&recorded.records, &load);
    let reads = reads_within(&report, &load);
    let each = |n: u64| n as f64 / reads.max(1) as f64;
    let (layers, parts) = parts(&found, each, trace_unit(bench, &report));
    let scale = bench.clocks_per_ns();
    let (before, after) = (untraced.own_ns * scale, used(&report).own_ns * scale);
    let own = TracingCost::between(before, after, each(found.own_events));
    let cost = known.map_or(own, |per_event| TracingCost { per_event });
    let (told, hidden): (BTreeMap<Layer, f64>, BTreeMap<Layer, f64>) = layers
        .into_iter()
        .zip(cost.without(&parts))
        .partition(|(_, clocks)| *clocks > 0.0);
    let events: f64 = parts.iter().map(|part| part.events).sum();
    Ok(Divided {
        layers: told,
        per_event: cost.per_event,
        tracing: Tracing {
            traced: after,
            untraced: before,
            events: if reads > 0 { events } else { 0.0 },
            attributed: attributed(&found),
            rejected: BTreeMap::new(),
            lost: recorded.lost,
            hidden: hidden
                .keys()
                .map(|layer| layer.words().to_owned())
                .collect(),
            doubt: doubt(before, after, reads),
        },
    })
}

/// Number of reads, not of requests: a read may take several, and another program may read from the drive.
fn reads_within(report: &LoadReport, load: &Load) -> usize {
    let within = |stamp: &&Stamp| (load.from..load.to).contains(&stamp.after);
    let stamps = report.threads.iter().flat_map(|thread| &thread.stamps);
    stamps.filter(within).count()
}

/// The layers in which something ran, with time and events of a read.
fn parts(found: &Clocks, each: impl Fn(u64) -> f64, unit: f64) -> (Vec<Layer>, Vec<Part>) {
    let ran = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Idle);
    let some = ran.filter_map(|layer| Some((layer, found.of(layer).filter(|time| *time > 0)?)));
    let part = |(layer, time)| {
        let part = Part {
            time: each(time) * unit,
            events: each(found.events(layer)),
        };
        (layer, part)
    };
    some.map(part).unzip()
}

/// The share of the time of all processors that a layer has.
fn attributed(found: &Clocks) -> f64 {
    let times = found.cpus.iter().map(|cpu| cpu.time.iter().sum::<u64>());
    let all: u64 = times.sum();
    all as f64 / (all + found.unattributed()).max(1) as f64
}

/// Clocks in a unit of the records.
fn trace_unit(bench: &Bench<'_>, report: &LoadReport) -> f64 {
    match report.clock {
        StampClock::Tsc => 1.0,
        StampClock::Monotonic => bench.clocks_per_ns(),
    }
}

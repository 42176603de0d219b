//! The clocks of a read with a processor saturated, by interface and by layer.

use super::bench::{Bench, Way};
use super::error::{MeasureError, doubt, or_missing};
use super::traced::Trace;
use super::used::{Used, used};
use fathom_hostio::load::{Engine, LoadConfig, LoadReport, Stamp, StampClock};
use fathom_platform::{Layer, measured};
use fathom_report::platform::{Cost, PlatformReport, Tracing};
use fathom_stats::batches::half_width;
use std::collections::BTreeMap;

/// I/Os in flight: as many threads with `pread`.
const DEPTH: u32 = 32;
/// Most reads of a thread in the window whose layers are told.
const STAMPS_MAX: u32 = 1 << 16;
/// Rounds of a cost, for its interval.
const ROUNDS: usize = 3;

/// Measures every engine on every way that it has.
pub(super) fn costs(
    bench: &Bench<'_>,
    report: &mut PlatformReport,
    part: &dyn Fn(&str),
) -> Result<(), MeasureError> {
    for way in Way::ALL {
        for engine in Engine::ALL {
            // Buffered reads of libaio block in the submission; polling is for direct reads only.
            let both = matches!(engine, Engine::Pread | Engine::IoUring);
            if way == Way::Buffered && !both {
                continue;
            }
            let name = format!("{engine}, {}", way.words());
            part(&format!(
                "clocks of a read with a processor saturated: {name}"
            ));
            let found = cost(bench, engine, way);
            report
                .costs
                .extend(or_missing(found, &name, &mut report.missing)?);
            bench.go_on()?;
        }
    }
    Ok(())
}

/// The load that saturates a processor.
fn saturating(bench: &Bench<'_>, engine: Engine, way: Way) -> LoadConfig {
    let (threads, depth) = match engine {
        Engine::Pread => (DEPTH, 1),
        _ => (1, DEPTH),
    };
    LoadConfig {
        threads,
        depth,
        ..bench.load(engine, way)
    }
}

fn cost(bench: &Bench<'_>, engine: Engine, way: Way) -> Result<Cost, MeasureError> {
    let config = saturating(bench, engine, way);
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let config = LoadConfig {
            seed: config.seed.wrapping_add(round as u64),
            ..config.clone()
        };
        rounds.push(used(&bench.plain(&config)?));
        bench.go_on()?;
    }
    let unit = bench.clocks_per_ns();
    let clocks: Vec<f64> = rounds.iter().map(|round| round.cpu_ns * unit).collect();
    let untraced = Used::mean(&rounds);
    let middle = untraced.cpu_ns * unit;
    let half = half_width(&clocks, ROUNDS);
    let mut found = Cost {
        path: bench.path(engine, way),
        block_bytes: bench.options.block.0,
        depth: DEPTH,
        iops: untraced.iops,
        clocks: middle,
        busy: untraced.busy_ns.map(|busy| busy * unit),
        interval: half.map(|half| [(middle - half).max(0.0), middle + half]),
        switches: Some(untraced.switches),
        system_calls: Some(untraced.calls),
        utilisation: untraced.utilisation,
        ..Cost::default()
    };
    if bench.traced {
        add_layers(bench, &mut found, &config, &untraced)?;
    }
    Ok(found)
}

/// Traces the same load and adds the clocks of each layer, without the cost of the events in it.
fn add_layers(
    bench: &Bench<'_>,
    found: &mut Cost,
    config: &LoadConfig,
    untraced: &Used,
) -> Result<(), MeasureError> {
    let mut trace = Trace::start_clocks(bench, config.engine)?;
    let config = LoadConfig {
        clock: trace.stamp_clock(),
        stamps_max: STAMPS_MAX,
        ..config.clone()
    };
    let report = bench.run(&config, || trace.drain())?;
    let traced = used(&report);
    let load = trace.load(&report, config.engine);
    let recorded = trace.finish()?;
    let load = measured::Load {
        cpus: recorded.cpus,
        ..load
    };
    let clocks = measured::clocks(&recorded.records, &load);
    let unit = trace_unit(bench, &report);
    // Reads, not requests: a read may take several, and another program may read from the drive.
    let within = |stamp: &&Stamp| (load.from..load.to).contains(&stamp.after);
    let stamps = report.threads.iter().flat_map(|thread| &thread.stamps);
    let reads = stamps.filter(within).count();
    let each = |n: u64| n as f64 / reads.max(1) as f64;
    let told = |layer: &Layer| clocks.of(*layer).is_some_and(|time| time > 0);
    let layers = Layer::ALL.into_iter().filter(told);
    let layers: Vec<Layer> = layers.filter(|layer| *layer != Layer::Idle).collect();
    let part = |layer: &Layer| measured::Part {
        time: each(clocks.of(*layer).unwrap_or(0)) * unit,
        events: each(clocks.events(*layer)),
    };
    let parts: Vec<measured::Part> = layers.iter().map(part).collect();
    let events: f64 = parts.iter().map(|part| part.events).sum();
    let scale = bench.clocks_per_ns();
    let (before, after) = (untraced.own_ns * scale, traced.own_ns * scale);
    let cost = measured::TracingCost::between(before, after, each(clocks.own_events));
    let all: BTreeMap<Layer, f64> = layers.into_iter().zip(cost.without(&parts)).collect();
    let none = all.iter().filter(|(_, clocks)| **clocks <= 0.0);
    let hidden = none.map(|(layer, _)| layer.words().to_owned()).collect();
    let doubt = doubt(before, after, reads);
    if doubt.is_none() {
        take_layers(found, all);
    }
    let all: u64 = clocks
        .cpus
        .iter()
        .map(|cpu| cpu.time.iter().sum::<u64>())
        .sum();
    found.tracing = Some(Tracing {
        traced: after,
        untraced: before,
        events: if reads > 0 { events } else { 0.0 },
        attributed: all as f64 / (all + clocks.unattributed()).max(1) as f64,
        rejected: BTreeMap::new(),
        lost: recorded.lost,
        hidden,
        doubt,
    });
    Ok(())
}

/// Takes the layers, and their sum for the clocks: interrupts and completions on other processors are part of the I/O, too;
/// the threads' time alone lacks them.
fn take_layers(found: &mut Cost, layers: BTreeMap<Layer, f64>) {
    let some = layers.into_iter().filter(|(_, clocks)| *clocks > 0.0);
    found.layers = some.collect();
    let of_io = found.layers.iter().filter(|(layer, _)| layer.is_of_io());
    let sum: f64 = of_io.map(|(_, clocks)| clocks).sum();
    let half = found.interval.map(|[low, high]| (high - low) / 2.0);
    found.clocks = sum;
    found.interval = half.map(|half| [(sum - half).max(0.0), sum + half]);
}

/// Clocks in a unit of the records.
fn trace_unit(bench: &Bench<'_>, report: &LoadReport) -> f64 {
    match report.clock {
        StampClock::Tsc => 1.0,
        StampClock::Monotonic => bench.clocks_per_ns(),
    }
}

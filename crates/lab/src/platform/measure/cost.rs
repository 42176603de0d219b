//! The clocks of a read with many in flight on one processor, by interface and by layer.

use super::bench::{Bench, Way};
use super::error::{MeasureError, or_missing};
use super::layers::{Divided, layers};
use super::used::{Used, used};
use fathom_hostio::load::{Engine, LoadConfig};
use fathom_report::platform::{Cost, PlatformReport};
use fathom_stats::batches::half_width;

/// I/Os in flight: as many threads with `pread`.
const DEPTH: u32 = 32;
/// Attempts to divide a cost.
const ATTEMPTS: u32 = 3;
/// Rounds of a cost, for its interval.
const ROUNDS: usize = 3;

/// Measures every engine on every way that it has.
pub(super) fn costs(
    bench: &Bench<'_>,
    report: &mut PlatformReport,
    part: &dyn Fn(&str),
) -> Result<(), MeasureError> {
    for way in Way::ALL {
        let mut per_event = None;
        for engine in Engine::ALL {
            // Buffered reads of libaio block in the submission; polling is for direct reads only.
            let both = matches!(engine, Engine::Pread | Engine::IoUring);
            if way == Way::Buffered && !both {
                continue;
            }
            let name = format!("{engine}, {}", way.words());
            part(&format!(
                "clocks of a read, many in flight on one processor: {name}"
            ));
            let found = cost(bench, engine, way, &mut per_event);
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

/// Measures an engine. `per_event` is what tracing an event cost with the engine before.
fn cost(
    bench: &Bench<'_>,
    engine: Engine,
    way: Way,
    per_event: &mut Option<f64>,
) -> Result<Cost, MeasureError> {
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
        let divided = divided(bench, &config, &untraced, per_event)?;
        take_layers(&mut found, divided);
    }
    Ok(found)
}

/// Divides the cost, with another attempt if the traced load was another one than the untraced.
fn divided(
    bench: &Bench<'_>,
    config: &LoadConfig,
    untraced: &Used,
    per_event: &mut Option<f64>,
) -> Result<Divided, MeasureError> {
    let known = per_event.filter(|_| config.engine == Engine::IoUringSqThread);
    let mut left = ATTEMPTS;
    loop {
        let found = layers(bench, config, untraced, known)?;
        left -= 1;
        if found.tracing.doubt.is_none() || left == 0 {
            *per_event = Some(found.per_event).filter(|cost| *cost > 0.0);
            return Ok(found);
        }
        bench.go_on()?;
    }
}

/// Takes the layers, and their sum for the clocks: interrupts and completions on other processors are part of the I/O, too;
/// the threads' time alone lacks them.
fn take_layers(found: &mut Cost, divided: Divided) {
    if divided.tracing.doubt.is_none() {
        found.layers = divided.layers;
        let of_io = found.layers.iter().filter(|(layer, _)| layer.is_of_io());
        let sum: f64 = of_io.map(|(_, clocks)| clocks).sum();
        let half = found.interval.map(|[low, high]| (high - low) / 2.0);
        found.clocks = sum;
        found.interval = half.map(|half| [(sum - half).max(0.0), sum + half]);
    }
    found.tracing = Some(divided.tracing);
}

//! The clocks of a read with many in flight on one processor, by interface and by layer.

use super::bench::{Bench, Way};
use super::error::{MeasureError, or_missing};
use super::layers::{Divided, layers};
use super::used::{Used, used};
use fathom_hostio::load::{Engine, LoadConfig};
use fathom_platform::Layer;
use fathom_report::platform::{Cost, PlatformReport};
use fathom_stats::batches::half_width;
use std::collections::BTreeMap;

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
        let mut divided = divided(bench, &config, &untraced, per_event)?;
        if engine == Engine::IoUringSqThread {
            let submitter = (untraced.cpu_ns - untraced.own_ns) * unit;
            polls(&mut divided.layers, submitter);
        }
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

/// Layers that are not in the time of a thread of the kernel that submits, or are its polling.
const NOT_OF_SUBMITTER: [Layer; 5] = [
    Layer::Application,
    Layer::SystemCall,
    Layer::Copy,
    Layer::Polling,
    Layer::Other,
];

/// The polling of a thread that submits is what its work leaves of its time without tracing: a traced load is slower, so that
/// the thread polls for longer. Completions, and switches to the threads that serve the drive, are on its processor.
fn polls(layers: &mut BTreeMap<Layer, f64>, submitter: f64) {
    let works = layers
        .iter()
        .filter(|(layer, _)| !NOT_OF_SUBMITTER.contains(layer));
    let left = submitter - works.map(|(_, clocks)| clocks).sum::<f64>();
    match left > 0.0 {
        true => layers.insert(Layer::Polling, left),
        false => layers.remove(&Layer::Polling),
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_thread_polls_when_it_does_not_work() {
        let work = [
            (Layer::Application, 700.0),
            (Layer::Block, 300.0),
            (Layer::Completion, 200.0),
        ];
        let mut layers = BTreeMap::from(work);
        layers.insert(Layer::Polling, 9_000.0);
        polls(&mut layers, 2_500.0);
        assert_eq!(layers[&Layer::Polling], 2_000.0);
        polls(&mut layers, 400.0);
        assert_eq!(layers, BTreeMap::from(work));
    }
}

//! The latency of one read at a time, and its phases.

use super::bench::{Bench, Way};
use super::error::MeasureError;
use super::traced::{self, Trace};
use crate::platform::Sample;
use fathom_hostio::load::{Engine, LoadConfig, LoadReport, StampClock};
use fathom_platform::{Phase, measured};
use fathom_report::platform::{Latency, Tracing};
use std::collections::BTreeMap;

/// Most reads that are traced.
const TRACED_MAX: u32 = 20_000;
/// The share of the I/Os around the median whose phases count, from this quantile to the opposite one: an interrupt or a
/// slow read of the drive would otherwise decide the mean.
const QUANTILE: f64 = 0.25;
/// Half of the width of a 95 % interval of a median, in standard deviations of the rank.
const RANK_95: f64 = 1.96;

/// Measures the latency without tracing, then traces the same load.
pub(super) fn latency(
    bench: &Bench<'_>,
    way: Way,
    samples: &mut Vec<Sample>,
) -> Result<Latency, MeasureError> {
    let config = bench.load(Engine::Pread, way);
    let untraced = bench.plain(&config)?;
    let mut found = Latency {
        path: bench.path(Engine::Pread, way),
        ..Latency::default()
    };
    let Some(all) = untraced.threads.first().map(|thread| &thread.latency) else {
        return Ok(found);
    };
    found.ios = all.count();
    found.latency_ns = all.quantile_ns(0.5).unwrap_or_default();
    let half = RANK_95 * 0.5 / (all.count().max(1) as f64).sqrt();
    let ends = all.quantile_ns(0.5 - half).zip(all.quantile_ns(0.5 + half));
    found.interval_ns = ends.map(|(low, high)| [low, high]);
    if bench.traced {
        let traced = traced(bench, &config)?;
        add_phases(&mut found, &traced);
        samples.extend(traced.samples(way));
    }
    Ok(found)
}

/// The same load with tracing.
struct Traced {
    parts: measured::Latencies,
    lost: u64,
    /// Nanoseconds in a unit of the parts.
    unit_ns: f64,
    median_ns: f64,
}

impl Traced {
    /// The phases of the reads that could be told.
    fn samples(&self, way: Way) -> impl Iterator<Item = Sample> {
        self.parts.ios.iter().flat_map(move |parts| {
            let phases = Phase::ALL.into_iter();
            phases.filter_map(move |phase| {
                Some(Sample {
                    path: way.words(),
                    read: parts.index as u64,
                    phase,
                    ns: (parts.of(phase)? as f64 * self.unit_ns).round() as u64,
                })
            })
        })
    }
}

fn traced(bench: &Bench<'_>, config: &LoadConfig) -> Result<Traced, MeasureError> {
    let mut trace = Trace::start_latency(bench)?;
    let config = LoadConfig {
        clock: trace.stamp_clock(),
        stamps_max: TRACED_MAX,
        ios_max: Some(u64::from(TRACED_MAX)),
        ..config.clone()
    };
    let report = bench.run(&config, || trace.drain())?;
    let route = trace.route();
    let recorded = trace.finish()?;
    let ios = traced::ios(&report);
    let median = |report: &LoadReport| report.threads.first()?.latency.quantile_ns(0.5);
    Ok(Traced {
        parts: measured::latencies(&recorded.records, &ios, &route),
        lost: recorded.lost,
        unit_ns: match report.clock {
            StampClock::Tsc => 1.0 / bench.clocks_per_ns(),
            StampClock::Monotonic => 1.0,
        },
        median_ns: median(&report).unwrap_or_default(),
    })
}

/// Adds the mean phases of the I/Os around the median, without the cost of the events in each.
fn add_phases(found: &mut Latency, traced: &Traced) {
    let total = |parts: &measured::Parts| parts.time.iter().flatten().sum::<u64>();
    let mut ios: Vec<&measured::Parts> = traced.parts.ios.iter().collect();
    ios.sort_by_key(|parts| total(parts));
    let cut = (ios.len() as f64 * QUANTILE) as usize;
    let middle = ios.get(cut..ios.len() - cut).unwrap_or_default();
    let count = middle.len().max(1) as f64;
    let events = middle
        .iter()
        .map(|parts| f64::from(parts.all_events()))
        .sum::<f64>()
        / count;
    let cost = measured::TracingCost::between(found.latency_ns, traced.median_ns, events);
    let mean = |of: &dyn Fn(&measured::Parts) -> f64| {
        middle.iter().map(|parts| of(parts)).sum::<f64>() / count
    };
    let passed = Phase::ALL.into_iter();
    let passed = passed.filter(|phase| middle.iter().any(|parts| parts.of(*phase).is_some()));
    let passed: Vec<Phase> = passed.collect();
    let part = |phase: &Phase| measured::Part {
        time: mean(&|parts| parts.of(*phase).unwrap_or(0) as f64) * traced.unit_ns,
        events: mean(&|parts| f64::from(parts.events[*phase as usize])),
    };
    let parts: Vec<measured::Part> = passed.iter().map(part).collect();
    let phases = passed.into_iter().zip(cost.without(&parts)).collect();
    let rejected = traced.parts.rejected.iter();
    let rejected: BTreeMap<String, u64> = rejected
        .map(|(reason, count)| (reason.words().to_owned(), *count))
        .collect();
    let all = traced.parts.ios.len() as u64 + rejected.values().sum::<u64>();
    found.phases = phases;
    found.tracing = Some(Tracing {
        traced: traced.median_ns,
        untraced: found.latency_ns,
        events,
        attributed: traced.parts.ios.len() as f64 / all.max(1) as f64,
        rejected,
        lost: traced.lost,
    });
}

//! The latency of one read at a time, and its phases.

use super::bench::{Bench, Way};
use super::error::MeasureError;
use super::error::{apart, doubt};
use super::traced::{self, Trace};
use crate::platform::Sample;
use fathom_base::Dur;
use fathom_hostio::load::{Engine, Latency as Seen, LoadConfig, StampClock};
use fathom_platform::{Phase, measured};
use fathom_report::platform::{Latency, Tracing};
use std::collections::BTreeMap;

/// Most reads that are traced.
const TRACED_MAX: u32 = 20_000;
/// The share of the I/Os around the median whose phases count, from this quantile to the opposite one. Their mean is near the
/// median; that of all I/Os is decided by the slowest.
const QUANTILE: f64 = 0.4;
/// Rounds without and with tracing, in turn: the speed of a machine drifts.
const ROUNDS: u32 = 3;
/// Relative width of a step of the latencies' histogram.
const RESOLUTION: f64 = 1.0 / 64.0;
/// Half of the width of a 95 % interval of a median, in standard deviations of the rank.
const RANK_95: f64 = 1.96;

/// Measures the latency without and with tracing in turn.
pub(super) fn latency(
    bench: &Bench<'_>,
    way: Way,
    samples: &mut Vec<Sample>,
) -> Result<Latency, MeasureError> {
    let mut untraced: Option<Seen> = None;
    let mut medians = Vec::new();
    let mut traced: Option<Traced> = None;
    for round in 0..ROUNDS {
        let mut config = bench.load(Engine::Pread, way);
        config.seed = config.seed.wrapping_add(u64::from(round));
        config.time_max = Dur(config.time_max.0 / u64::from(ROUNDS));
        let report = bench.plain(&config)?;
        for latency in report.threads.into_iter().map(|thread| thread.latency) {
            medians.extend(latency.quantile_ns(0.5));
            add(&mut untraced, latency);
        }
        if bench.traced {
            let found = self::traced(bench, &config)?;
            match &mut traced {
                Some(all) => all.add(found),
                None => traced = Some(found),
            }
        }
    }
    let mut found = Latency {
        path: bench.path(Engine::Pread, way),
        ..Latency::default()
    };
    let median = |all: &Seen| all.quantile_ns(0.5).ok_or(MeasureError::NoRead);
    if let Some(all) = untraced {
        found.ios = all.count();
        found.latency_ns = median(&all)?;
        let half = RANK_95 * 0.5 / (all.count().max(1) as f64).sqrt();
        let ends = all.quantile_ns(0.5 - half).zip(all.quantile_ns(0.5 + half));
        // A quantile is the middle of a step of the histogram.
        let step = RESOLUTION / 2.0;
        let ends = ends.map(|(low, high)| [low * (1.0 - step), high * (1.0 + step)]);
        // The speed of a machine changes between rounds by more than chance makes of one.
        let least = |low: f64| medians.iter().copied().fold(low, f64::min);
        let most = |high: f64| medians.iter().copied().fold(high, f64::max);
        found.interval_ns = ends.map(|[low, high]| [least(low), most(high)]);
        found.mean_ns = all.mean_ns();
        found.p99_ns = all.quantile_ns(0.99);
    }
    if let Some(traced) = traced {
        add_phases(&mut found, &traced);
        samples.extend(traced.samples(way));
    }
    Ok(found)
}

/// Adds latencies to those of the rounds before.
fn add(all: &mut Option<Seen>, more: Seen) {
    match all {
        Some(all) => all.merge(&more),
        None => *all = Some(more),
    }
}

/// The same load with tracing.
struct Traced {
    parts: measured::Latencies,
    lost: u64,
    /// Nanoseconds in a unit of the parts.
    unit_ns: f64,
    latency: Option<Seen>,
}

impl Traced {
    /// Adds another round.
    fn add(&mut self, more: Self) {
        let first = self.parts.ios.iter().map(|parts| parts.index + 1).max();
        let first = first.unwrap_or_default();
        let ios = more.parts.ios.into_iter();
        self.parts.ios.extend(ios.map(|parts| measured::Parts {
            index: parts.index + first,
            ..parts
        }));
        for (reason, count) in more.parts.rejected {
            *self.parts.rejected.entry(reason).or_default() += count;
        }
        self.lost += more.lost;
        if let Some(latency) = more.latency {
            add(&mut self.latency, latency);
        }
    }

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
    Ok(Traced {
        parts: measured::latencies(&recorded.records, &ios, &route),
        lost: recorded.lost,
        unit_ns: match report.clock {
            StampClock::Tsc => 1.0 / bench.clocks_per_ns(),
            StampClock::Monotonic => 1.0,
        },
        latency: report.threads.first().map(|thread| thread.latency.clone()),
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
        / count
        // The sum of nothing is -0.
        + 0.0;
    let median_ns = traced
        .latency
        .as_ref()
        .and_then(|latency| latency.quantile_ns(0.5));
    let median_ns = median_ns.unwrap_or_default();
    let cost = measured::TracingCost::between(found.latency_ns, median_ns, events);
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
    let phases: BTreeMap<Phase, f64> = passed.into_iter().zip(cost.without(&parts)).collect();
    let sum: f64 = phases.values().sum();
    let doubt = doubt(found.latency_ns, median_ns, traced.parts.ios.len());
    let doubt = doubt.or_else(|| apart(sum, found.latency_ns));
    let none = phases.iter().filter(|(_, time)| **time <= 0.0);
    let hidden = none.map(|(phase, _)| phase.words().to_owned()).collect();
    let phases = phases.into_iter().filter(|(_, time)| *time > 0.0);
    let rejected = traced.parts.rejected.iter();
    let rejected: BTreeMap<String, u64> = rejected
        .map(|(reason, count)| (reason.words().to_owned(), *count))
        .collect();
    let all = traced.parts.ios.len() as u64 + rejected.values().sum::<u64>();
    found.phases = match doubt {
        None => phases.collect(),
        Some(_) => BTreeMap::new(),
    };
    found.tracing = Some(Tracing {
        traced: median_ns,
        untraced: found.latency_ns,
        events,
        attributed: traced.parts.ios.len() as f64 / all.max(1) as f64,
        rejected,
        lost: traced.lost,
        hidden,
        doubt,
    });
}

//! The knee of the queue, by closed loops of increasing depth, checked by an open loop.
//!
//! The rate of random reads is measured at depths up to the deepest queue, in several rounds of random order. The curve of
//! the medians is made monotone; the knee is the least depth with 95 % of its highest rate. Depths around it are measured
//! too. The interval is that of a bootstrap over the rounds. If the last doubling of the depth still brings more than the
//! 5 %, the drive's queue ends before the knee, which is then not identifiable.
//!
//! The second signal: reads that are due at random times, at up to 90 % of that rate, must be served at the rate at which
//! they come. A drive that was fast only for the short time of a closed loop fails this.
//!
//! Where the device tells the processor time of the host, a host that is busy nearly all of the time is the bottleneck, and
//! there is no answer.

use super::take::{self, Found, depths};
use super::take::{ALONE, AT_KNEE, CLOSED, HOST, OPEN};
use crate::robust::limits;
use crate::robust::prepare::prepare;
use crate::robust::samples::{at, sizes};
use crate::{Answers, Estimate, Parameter, Probe, Record, Sample, Session, Space, Stop, Value};
use fathom_base::Rng;
use fathom_stats::knee::{Knee, knee};
use fathom_stats::location::{median, quantile};
use std::ops::RangeInclusive;

const PARAMETER: Parameter = Parameter::QueueKnee;
/// The share of the highest rate that counts as all of it (AnandTech's tables of 2021 use the same).
const SHARE: f64 = 0.95;
/// The resamples of the bootstrap, and the random stream for them.
const RESAMPLES: usize = 400;
const STREAM: u64 = 0x6b6e_6565;
/// The share of the rate at which requests come with which they must be served.
const SERVED: f64 = 0.93;
/// The highest load at which they must be served, in percent: beyond, bursts find no room.
const LOAD_MAX: u64 = 90;
/// The share of the rate below which a limit in front of the drive sets it.
const LIMITED: f64 = 0.9;
/// The ends of an interval that says something are at most so many times apart.
const WIDTH_MAX: u32 = 4;
/// The attempts to serve them.
const ATTEMPTS: u32 = 4;
/// The share of the time from which on a host is the bottleneck.
const HOST_BUSY: f64 = 0.95;

pub(crate) struct QueueKnee;

/// The rates at one depth, in requests per second, by round.
struct Rates {
    depth: u32,
    rates: Vec<f64>,
}

fn rate(sample: &Sample, read: u64) -> f64 {
    sample.bytes as f64 / read as f64 / sample.ns.max(1) as f64 * 1e9
}

fn rates(record: &Record) -> Vec<Rates> {
    let read = take::read_bytes(&Space::of(record));
    let of = |depth: u64| Rates {
        depth: depth as u32,
        rates: record
            .series(PARAMETER, CLOSED)
            .filter(|s| s.x == depth)
            .map(|s| rate(s, read))
            .collect(),
    };
    sizes(record, PARAMETER, CLOSED)
        .into_iter()
        .map(of)
        .collect()
}

fn found(rates: &[Rates], of: impl Fn(&[f64]) -> Option<f64>) -> Option<Knee> {
    let point = |r: &Rates| Some((f64::from(r.depth), of(&r.rates)?));
    knee(&rates.iter().filter_map(point).collect::<Vec<_>>(), SHARE)
}

/// Returns the knee by the medians of the rounds.
fn by_medians(record: &Record) -> Option<Knee> {
    found(&rates(record), median)
}

/// Returns the depth that a knee names.
fn whole(knee: &Knee) -> u32 {
    (knee.at - 1e-6).ceil().max(1.0) as u32
}

/// Returns the interval of the knee, at 95 %.
fn interval(record: &Record) -> Option<RangeInclusive<u32>> {
    let rates = rates(record);
    let mut rng = Rng::new(record.meta.seed, STREAM);
    let mut knees = Vec::new();
    for _ in 0..RESAMPLES {
        let again: Vec<Rates> = rates
            .iter()
            .map(|one| Rates {
                depth: one.depth,
                rates: (0..one.rates.len())
                    .filter_map(|_| rng.pick(&one.rates).copied())
                    .collect(),
            })
            .collect();
        knees.extend(found(&again, median).map(|knee| f64::from(whole(&knee))));
    }
    let [low, high] = [0.025, 0.975].map(|share| quantile(&knees, share));
    Some(low?.floor() as u32..=high?.ceil() as u32)
}

/// Returns the depths of the sweep on either side of the knee.
fn around(record: &Record, knee: &Knee) -> (u32, u32) {
    let depths: Vec<u32> = rates(record).iter().map(|r| r.depth).collect();
    let at = whole(knee);
    let high = depths.iter().copied().find(|d| *d >= at).unwrap_or(at);
    let low = depths.iter().copied().rfind(|d| *d < high).unwrap_or(high);
    (low, high)
}

/// Returns the share of its time that the host computed, at the depth where it computed most; `None` if it is not told.
fn host_busy(record: &Record) -> Option<f64> {
    let samples: Vec<&Sample> = record.series(PARAMETER, HOST).collect();
    let share = |depth: u64| {
        let of = samples.iter().filter(|s| s.x == depth);
        // A sample of the host has its processor time in place of the bytes.
        let shares: Vec<f64> = of.map(|s| s.bytes as f64 / s.ns.max(1) as f64).collect();
        median(&shares)
    };
    let depths = sizes(record, PARAMETER, HOST);
    depths.into_iter().filter_map(share).reduce(f64::max)
}

/// Returns the rate at which the requests of open loops were served, over the rate at which they were due: that of the best
/// attempt, because a stall of the drive spoils a short loop.
fn served(record: &Record, load: u64) -> Option<f64> {
    let attempts = (0..ATTEMPTS).filter_map(|attempt| served_once(record, load, attempt));
    attempts.reduce(f64::max)
}

fn served_once(record: &Record, load: u64, attempt: u32) -> Option<f64> {
    let of = |s: &&Sample| s.x == load && s.rep == attempt;
    let samples = record.series(PARAMETER, OPEN).filter(of);
    let times: Vec<(u64, u64)> = samples.map(|s| (s.at_ns, s.at_ns + s.ns)).collect();
    let first = times.iter().map(|(due, _)| *due).min()?;
    let last = times.iter().map(|(due, _)| *due).max()?;
    let mut ends: Vec<u64> = times.iter().map(|(_, end)| *end).collect();
    ends.sort_unstable();
    // The latency of the last requests is no lag. A stall at the very end should not decide either.
    let end = ends[(ends.len() - 1) * 99 / 100];
    let due = (last - first) as f64 * 0.99;
    let late = end.saturating_sub(first) as f64;
    Some(due / late.max(due).max(1.0))
}

fn unserved(record: &Record) -> Option<(u64, f64)> {
    let loads = sizes(record, PARAMETER, OPEN).into_iter();
    let mut low = loads.filter(|load| *load <= LOAD_MAX);
    low.find_map(|load| Some((load, served(record, load).filter(|s| *s < SERVED)?)))
}

fn alone_ns(record: &Record) -> Option<f64> {
    median(&at(record, PARAMETER, ALONE, 1))
}

impl Probe for QueueKnee {
    fn bound(&self, _: &Space) -> u64 {
        0
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let queue = session.info().queue_depth;
        if queue < 2 {
            return Ok(());
        }
        prepare(session, PARAMETER)?;
        take::alone(session)?;
        let alone = alone_ns(session.record()).unwrap_or_default();
        let all = depths(queue);
        for round in 0..take::rounds(session.space().level) {
            take::sweep(session, &format!("sweep {round}"), round, &all, alone)?;
        }
        let Some(first) = by_medians(session.record()) else {
            return Ok(());
        };
        let (low, high) = around(session.record(), &first);
        let fine = take::between(low, high);
        for round in 0..take::rounds(session.space().level) {
            let name = format!("around {low} to {high}, round {round}");
            take::sweep(session, &name, round, &fine, alone)?;
        }
        let Some(knee) = by_medians(session.record()) else {
            return Ok(());
        };
        let found = Found {
            depth: whole(&knee),
            per_second: SHARE * knee.peak,
        };
        take::at_knee(session, found)?;
        for load in take::loads(session.space().level) {
            for attempt in 0..ATTEMPTS {
                take::open(session, *load, attempt, found)?;
                let settled = *load > LOAD_MAX || served(session.record(), *load) >= Some(SERVED);
                if settled {
                    break;
                }
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let queue = record.meta.target.queue_depth;
        if queue < 2 {
            return Estimate::not_identifiable("the drive takes one request at a time");
        }
        let (Some(knee), Some(alone), Some(ends)) =
            (by_medians(record), alone_ns(record), interval(record))
        else {
            return Estimate::inconclusive("too few reads were served");
        };
        let estimate = match limit(record, others).filter(|limit| *limit < LIMITED * knee.peak) {
            Some(limit) => Estimate::not_identifiable(format!(
                "a limit lets {limit:.0} such reads a second pass, and {:.0} only for a burst: the depth does not set the rate",
                knee.peak
            )),
            None => verdict(record, &knee, ends),
        };
        let estimate = estimate.figure("alone_ns", alone);
        let estimate = match host_busy(record) {
            Some(share) => estimate.figure("host_busy_ratio", share),
            None => estimate,
        };
        estimate
            .figure("iops", knee.peak)
            .figure("last_doubling_ratio", knee.last_doubling)
    }
}

/// Returns the reads a second that the limits in front of the drive let through, if any was found.
fn limit(record: &Record, others: &Answers<'_>) -> Option<f64> {
    let read = take::read_bytes(&Space::of(record)) as f64;
    limits::bytes_per_second(others, read).map(|bytes| bytes / read)
}

fn verdict(record: &Record, knee: &Knee, ends: RangeInclusive<u32>) -> Estimate {
    let deepest = depths(record.meta.target.queue_depth)
        .last()
        .copied()
        .unwrap_or(1);
    if let Some(share) = host_busy(record).filter(|share| *share > HOST_BUSY) {
        return Estimate::inconclusive(format!(
            "the host was busy for {:.0} % of the time, so its processor sets the rate and not the drive",
            100.0 * share
        ));
    }
    let first = rates(record).first().and_then(|r| median(&r.rates));
    let gain = knee.peak / first.unwrap_or(knee.peak);
    if gain < 1.0 / SHARE {
        return Estimate::absent(format!(
            "{deepest} reads in flight are served at {gain:.2} times the rate of one: the depth brings nothing"
        ));
    }
    if knee.last_doubling > 1.0 / SHARE {
        return Estimate::not_identifiable(format!(
            "the rate still grows by {:.0} % from {} to {deepest} reads in flight, where the queue ends: the drive could \
             serve more than it can be asked for",
            100.0 * (knee.last_doubling - 1.0),
            deepest / 2
        ));
    }
    if let Some((load, share)) = unserved(record) {
        return Estimate::inconclusive(format!(
            "the two signals disagree: in a closed loop {} reads in flight give the full rate, but reads that come at \
             {load} % of it are served at only {:.0} % of the rate at which they come",
            whole(knee),
            100.0 * share
        ));
    }
    if *ends.end() > WIDTH_MAX * ends.start() {
        return Estimate::inconclusive(format!(
            "the rates of the rounds vary so much that the depth is known only to between {} and {}",
            ends.start(),
            ends.end()
        ));
    }
    named(record, knee, ends)
}

fn named(record: &Record, knee: &Knee, ends: RangeInclusive<u32>) -> Estimate {
    let depth = whole(knee);
    let latencies = at(record, PARAMETER, AT_KNEE, u64::from(depth));
    let [p50, p99] = [0.5, 0.99].map(|share| quantile(&latencies, share).unwrap_or_default());
    let reason = format!(
        "{depth} random reads in flight give {:.0} % of the highest rate, {:.0} reads per second; there half of them take at \
         most {:.0} us and 99 % at most {:.0} us; reads that come at up to {LOAD_MAX} % of this rate are served in time",
        100.0 * SHARE,
        knee.peak,
        p50 / 1e3,
        p99 / 1e3
    );
    let (low, high) = (*ends.start(), *ends.end());
    let count = |depth: u32| Value::Count(u64::from(depth));
    Estimate::identified(count(depth), reason)
        .between(count(low.min(depth)), count(high.max(depth)))
        .figure("p50_ns", p50)
        .figure("p99_ns", p99)
}

//! Token buckets in front of a drive: reads at full speed drop to a constant level once the bucket is empty, and a pause
//! gives back as many tokens as it lasts, up to the burst.
//!
//! Reads only: writes drop for reasons of the drive (an SLC cache, collection). A drop alone is no limit, because a hot drive
//! slows down, too. The pauses are the second signal: the tokens after the long pause over those after the short one must be
//! those of the refill rate, or both a full bucket. A limit with hardly a burst has no drop, and is looked for otherwise
//! ([`super::gate`]).

use super::gate::{AtDepth, BATCHES_MIN, Cause, Constant, cause, constant};
use super::law::{Batch, Drop, ahead, drop, fell};
use super::length;
use super::measure::{BATCH, Kind, PAUSES, RESTED, STEADY, depths, gate, name, read_bytes, run};
use crate::robust::prepare::prepare;
use crate::robust::samples::of_step;
use crate::{
    Answers, Estimate, Parameter, Probe, Quick, Record, Sample, Series, Session, Space, Stop, Unit,
    Value,
};

/// The length of a small read, and the reads of a batch.
const SMALL: (u64, u64) = (4096, 512);
/// The length of a long read, and the reads of a batch.
const LONG: (u64, u64) = (256 << 10, 64);
/// How far the tokens after a pause may be off the refill, as a share.
const LAW: f64 = 0.2;

/// The probe of one kind of limit.
pub(crate) struct Limit(Kind);

/// The limit of operations.
pub(crate) const OPERATIONS: Limit = Limit(Kind {
    parameter: Parameter::RateLimit,
    read: SMALL.0,
    batch: SMALL.1,
    bytes: false,
});

/// The limit of bytes.
pub(crate) const BANDWIDTH: Limit = Limit(Kind {
    parameter: Parameter::BandwidthLimit,
    read: LONG.0,
    batch: LONG.1,
    bytes: true,
});

/// Returns the tokens and the time of a sample.
fn batch(sample: &Sample, kind: Kind, read: u64) -> Batch {
    let tokens = match kind.bytes {
        true => sample.bytes as f64,
        false => sample.bytes as f64 / read as f64,
    };
    Batch {
        tokens,
        seconds: sample.ns as f64 / 1e9,
    }
}

/// Returns the length of a read of a record, in bytes.
fn read_of(record: &Record, kind: Kind) -> u64 {
    read_bytes(
        &Space::of(record),
        kind,
        record.meta.target.max_request_bytes,
    )
}

fn batches(record: &Record, kind: Kind, series: Series) -> Vec<Batch> {
    let (samples, read) = (
        of_step(record, kind.parameter, &name(series)),
        read_of(record, kind),
    );
    let samples = samples.into_iter().flatten();
    samples.map(|sample| batch(sample, kind, read)).collect()
}

/// Returns what was read at some depths, ascending.
fn at_depths(record: &Record, kind: Kind) -> Vec<AtDepth> {
    let read = read_of(record, kind);
    let of = |series: Series, depth: u32| {
        let samples = record.series(kind.parameter, series);
        let samples = samples.filter(|sample| sample.x == u64::from(depth));
        samples.map(|sample| batch(sample, kind, read)).collect()
    };
    let depths = depths(record.meta.target.queue_depth).into_iter();
    let all = depths.map(|depth| AtDepth {
        depth,
        rested: of(RESTED, depth),
        steady: of(STEADY, depth),
    });
    all.filter(|depth| !depth.steady.is_empty()).collect()
}

fn first(record: &Record, kind: Kind) -> Option<Drop> {
    drop(&batches(record, kind, BATCH), 1)
}

/// Returns the tokens that each pause gave back: those served faster than the refill.
fn given_back(record: &Record, kind: Kind, seen: &Drop) -> Option<[f64; 2]> {
    let mut given = [0.0; 2];
    for ((series, _), given) in PAUSES.iter().zip(&mut given) {
        let batches = batches(record, kind, *series);
        if batches.is_empty() {
            return None;
        }
        // It grows while the bucket lasts, and stays when it is empty.
        *given = ahead(&batches, seen.slow);
    }
    Some(given)
}

/// Returns true if the pauses gave back what a bucket with this burst and refill gives back.
fn keeps_law(given: [f64; 2], seen: &Drop, slack: f64) -> bool {
    PAUSES.iter().zip(given).all(|((_, pause), given)| {
        let expected = (seen.slow * pause.0 as f64 / 1e9).min(seen.burst);
        (given - expected).abs() <= LAW * expected + slack
    })
}

impl Limit {
    fn value(&self, per_second: f64) -> Value {
        match self.0.bytes {
            true => Value::BytesPerSecond(per_second as u64),
            false => Value::PerSecond((per_second * 10.0).round() / 10.0),
        }
    }

    /// Returns the reads a second that take so many tokens a second.
    fn reads_per_second(&self, record: &Record, tokens: f64) -> f64 {
        match self.0.bytes {
            true => tokens / read_of(record, self.0) as f64,
            false => tokens,
        }
    }

    fn said(&self, per_second: f64) -> String {
        match self.0.bytes {
            true => format!("{:.1} MB/s", per_second / 1e6),
            false => format!("{per_second:.0} reads/s"),
        }
    }

    /// Returns the answer where the rate does not drop.
    fn without_drop(&self, record: &Record) -> Estimate {
        let all = batches(record, self.0, BATCH);
        let tokens: f64 = all.iter().map(|batch| batch.tokens).sum();
        let much = match self.0.bytes {
            true => format!("{:.1} GB", tokens / 1e9),
            false => format!("{tokens:.0} reads"),
        };
        if all.len() < BATCHES_MIN {
            return Estimate::inconclusive(format!(
                "{much} came in the time that there was, which is too few to tell a constant rate"
            ));
        }
        let Some(seen) = constant(&all) else {
            return self.not_constant(&all, &much);
        };
        match cause(seen.per_second, &at_depths(record, self.0)) {
            Cause::Gate(ratio) => {
                let rate = self.reads_per_second(record, seen.per_second);
                length::counts_other(record, self.0, rate)
                    .unwrap_or_else(|| self.gated(&seen, ratio))
            }
            Cause::Either => Estimate::not_identifiable(format!(
                "{} come at a constant {} at half of the depth as well, and no faster after a pause: the drive is saturated, or a \
                 limit lets nothing pass ahead",
                much,
                self.said(seen.per_second)
            )),
            Cause::Unclear => Estimate::inconclusive(format!(
                "{much} come at a constant {}, and faster after a pause, but not at the same rate at other depths: others use \
                 the drive or the host",
                self.said(seen.per_second)
            )),
            Cause::Drive => self.not_constant(&all, &much),
        }
    }

    /// Returns the answer where no limit sets the rate at last; `much` says what was read.
    fn not_constant(&self, all: &[Batch], much: &str) -> Estimate {
        match fell(all) {
            Some((fast, slow)) => Estimate::inconclusive(format!(
                "reads at full speed fall from {} to {}, which is too little or too uneven for the law of a limit: a drive that \
                 gets hot looks the same",
                self.said(fast),
                self.said(slow)
            )),
            None => Estimate::absent(format!(
                "{much} at full speed show no drop to a constant rate"
            )),
        }
    }

    fn gated(&self, seen: &Constant, ratio: f64) -> Estimate {
        let reason = format!(
            "reads come at a constant {} from the beginning and at every depth, but after a pause {ratio:.1} times as fast: \
             something lets only so many pass, with hardly a burst",
            self.said(seen.per_second)
        );
        let end = |by: f64| self.value(seen.per_second * by);
        Estimate::identified(end(1.0), reason)
            .between(end(1.0 - seen.error), end(1.0 + seen.error))
            .figure("rested_ratio", ratio)
    }

    fn found(&self, seen: &Drop) -> Estimate {
        let reason = format!(
            "reads at full speed drop from {} to {} and stay there; a pause gives the speed back for as long as it has \
             refilled a bucket",
            self.said(seen.fast),
            self.said(seen.slow)
        );
        let error = 2.0 * seen.spread.max(0.001) / (seen.after as f64).sqrt() + 0.005;
        let ends = [seen.slow * (1.0 - error), seen.slow * (1.0 + error)];
        let burst = if self.0.bytes {
            "burst_bytes"
        } else {
            "burst_operations"
        };
        let fast = match self.0.bytes {
            true => "fast_bytes_per_s",
            false => "fast_per_s",
        };
        Estimate::identified(self.value(seen.slow), reason)
            .between(self.value(ends[0]), self.value(ends[1]))
            .figure(burst, seen.burst.round())
            .figure(fast, seen.fast.round())
    }
}

impl Probe for Limit {
    fn bound(&self, _: &Space) -> u64 {
        0
    }

    fn reach(&self, space: &Space) -> u64 {
        space.bytes().min(256 << 20)
    }

    fn quick(&self) -> Quick {
        // A volume shows its limit of operations once its burst is spent, and little else matters there.
        let time_percent = match self.0.bytes {
            true => Quick::default().time_percent,
            false => 60,
        };
        Quick {
            time_percent,
            ..Quick::default()
        }
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, self.0.parameter)?;
        run(session, self.0, BATCH)?;
        if let Some(seen) = first(session.record(), self.0) {
            let rate = self.reads_per_second(session.record(), seen.slow);
            length::look(session, self.0, rate)?;
            for (series, _) in PAUSES {
                run(session, self.0, series)?;
            }
            return Ok(());
        }
        let all = batches(session.record(), self.0, BATCH);
        let tokens: f64 = all.iter().map(|batch| batch.tokens).sum();
        let reads = self.reads_per_second(session.record(), tokens);
        let seconds: f64 = all.iter().map(|batch| batch.seconds).sum();
        match constant(&all) {
            Some(_) => {
                let rate = reads / seconds.max(1e-9);
                gate(session, self.0, rate)?;
                length::look(session, self.0, rate)
            }
            None => Ok(()),
        }
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        debug_assert!(matches!(
            self.0.parameter.about().unit,
            Unit::PerSecond | Unit::BytesPerSecond
        ));
        let all = batches(record, self.0, BATCH);
        let Some(seen) = first(record, self.0) else {
            return self.without_drop(record);
        };
        if let Some((before, after)) = seen.again {
            return Estimate::inconclusive(format!(
                "reads at full speed drop from {} to {}, and later to {}: two limits follow one another, or the lower one is not \
                 constant",
                self.said(seen.fast),
                self.said(before),
                self.said(after)
            ));
        }
        let slack = 2.0 * all.first().map_or(0.0, |batch| batch.tokens);
        match given_back(record, self.0, &seen) {
            Some(given) if keeps_law(given, &seen, slack) => {
                let rate = self.reads_per_second(record, seen.slow);
                length::counts_other(record, self.0, rate).unwrap_or_else(|| self.found(&seen))
            }
            Some(given) => Estimate::inconclusive(format!(
                "reads at full speed drop from {} to {}, but pauses of 2 s and 6 s give back {:.0} % and {:.0} % of what a \
                 bucket would: heat or other users slow the drive, too",
                self.said(seen.fast),
                self.said(seen.slow),
                100.0 * given[0] / (2.0 * seen.slow).min(seen.burst).max(1.0),
                100.0 * given[1] / (6.0 * seen.slow).min(seen.burst).max(1.0),
            )),
            None => Estimate::inconclusive("the pauses after the drop were not measured"),
        }
    }
}

//! Code that the papers' procedures share. They are implemented as printed, for comparison with the robust methods.
//!
//! They are Procedures 1-6 and section 4.3 of `parameter-aware-io`, and section IV.A of `greedy-space`. The constants of
//! each are the values that its paper gives as examples. `scaling.rs` adapts them to drives smaller than the papers'. The
//! answers come from the naive rules of [`rules`]: they have no interval and no null model, and are *identified* whenever
//! the rule finds something.
//!
//! In a read-only run the procedures that only read skip `write_init` and check instead that the places they read were
//! written.

pub(crate) mod rules;
mod scaling;

use crate::paper::rules::{BufferPair, RatePair};
use crate::record::Timed;
use crate::robust::written;
use crate::{
    Answers, Estimate, Io, Parameter, Probe, Record, Sample, Series, Session, Space, Stop,
};
use std::collections::BTreeMap;

/// `write_init`: "sequentially updating all the available sectors". In a read-only run, checks that they were written.
pub(crate) fn write_init(
    session: &mut Session<'_>,
    parameter: Parameter,
    name: &str,
) -> Result<(), Stop> {
    if session.read_only() {
        let places = session.space().read_places();
        let end = places.garbage_start + places.garbage_slots * places.slot_bytes;
        return written::look(session, parameter, places.target_start..end);
    }
    let region = session.region();
    session.step(parameter, name, |io| io.fill_sequential(region))
}

/// Writes at each of `offsets` in order and takes one sample of all of them together.
pub(crate) fn timed_writes(
    io: &mut Io<'_>,
    series: Series,
    len: u64,
    offsets: &[u64],
    flushed: bool,
) -> Result<(), Stop> {
    let mark = io.mark(offsets.first().copied().unwrap_or_default());
    for &offset in offsets {
        if flushed {
            io.write_flush(offset, len)?;
        } else {
            io.write(offset, len)?;
        }
    }
    let timed = if flushed {
        Timed::WriteFlush
    } else {
        Timed::Write
    };
    io.sample_since(&mark, timed, series, len, 0);
    Ok(())
}

/// `TSR` of Procedures 3 and 4: the size at which growth stops, in bytes.
const READ_TOTAL: u64 = 1_024 << 10;
/// `ISR`: the increment of the size, in bytes.
const READ_INCREMENT: u64 = 1 << 10;

/// Procedures 3 and 4: reads of growing size, each after a garbage read far from it.
pub(crate) struct Reads {
    /// The prefix of the step names.
    pub(crate) name: &'static str,
    pub(crate) series: Series,
    /// Whether the place is read a second time at once and that read is measured: true for Procedure 3, false for 4.
    pub(crate) again: bool,
    /// Whether `R` on line 8 is a constant.
    pub(crate) fixed: bool,
}

impl Reads {
    /// Runs Procedure 3 or 4.
    pub(crate) fn measure(
        &self,
        session: &mut Session<'_>,
        parameter: Parameter,
    ) -> Result<(), Stop> {
        let Self { name, series, .. } = *self;
        let space = session.space();
        let places = space.read_places();
        let targets = if self.fixed { 1 } else { places.target_slots };
        write_init(session, parameter, &format!("{name} init"))?;
        for size in space.sizes(READ_TOTAL, READ_INCREMENT, places.slot_bytes) {
            session.step(parameter, &format!("{name} {size}"), |io| {
                let garbage = io.rng.below(places.garbage_slots) * places.slot_bytes;
                io.read(places.garbage_start + garbage, places.slot_bytes)?;
                let offset = places.target_start + io.rng.below(targets) * places.slot_bytes;
                if self.again {
                    io.read(offset, size)?;
                }
                io.read(offset, size)?;
                io.sample(series, size, 0);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Two procedures of reads in turn, and the conclusion from both.
pub(crate) struct TwoReads {
    pub(crate) parameter: Parameter,
    pub(crate) reads: [Reads; 2],
    pub(crate) solve: fn(&Record) -> Estimate,
}

impl Probe for TwoReads {
    /// Each begins with `write_init`.
    fn bound(&self, space: &Space) -> u64 {
        space.bytes().saturating_mul(2)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let mut each = self.reads.iter();
        each.try_for_each(|reads| reads.measure(session, self.parameter))
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        (self.solve)(record)
    }
}

/// Returns the mean latency of one request by size, in nanoseconds, ascending. A sample may hold several requests.
pub(crate) fn means(record: &Record, parameter: Parameter, series: Series) -> Vec<(u64, f64)> {
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for sample in record.series(parameter, series) {
        let sum = sums.entry(sample.x).or_default();
        sum.0 += sample.ns as f64;
        sum.1 += (sample.bytes / sample.x.max(1)).max(1) as f64;
    }
    sums.into_iter()
        .map(|(x, (ns, count))| (x, ns / count))
        .collect()
}

/// Returns the throughputs of the sizes that were written both sequentially and randomly, ascending.
pub(crate) fn rates(record: &Record, parameter: Parameter) -> Vec<RatePair> {
    let rate = |s: &Sample| s.bytes as f64 * 1e9 / s.ns.max(1) as f64;
    let of = |series| -> BTreeMap<u64, f64> {
        let samples = record.series(parameter, series);
        samples.map(|s| (s.x, rate(s))).collect()
    };
    let random = of(Series::RANDOM);
    of(Series::SEQUENTIAL)
        .into_iter()
        .filter_map(|(x_bytes, sequential_bytes_per_s)| {
            Some(RatePair {
                x_bytes,
                sequential_bytes_per_s,
                random_bytes_per_s: *random.get(&x_bytes)?,
            })
        })
        .collect()
}

/// Returns "Buffer" and "NAND" for the sizes that have both, ascending.
pub(crate) fn buffer_pairs(
    record: &Record,
    parameter: Parameter,
    lines: [Series; 2],
) -> Vec<BufferPair> {
    let [buffer, nand] = lines.map(|series| means(record, parameter, series));
    let nand: BTreeMap<u64, f64> = nand.into_iter().collect();
    buffer
        .into_iter()
        .filter_map(|(x_bytes, buffer_ns)| {
            Some(BufferPair {
                x_bytes,
                buffer_ns,
                nand_ns: *nand.get(&x_bytes)?,
            })
        })
        .collect()
}

//! Probes that decide by explicit null models and sample until the answer is settled or the budget is gone.
//!
//! Each takes its samples in steps, looks at them with the statistics of [`crate::solve`], and goes on only where
//! that is not settled. What is not seen is *absent* or *not identifiable* with a reason, never a guess.

mod alignment;
mod clustered_block;
mod clustered_page;
mod ends;
mod filling;
mod logical_block;
mod prefetch;
mod read_buffer;
mod write_buffer;
mod write_policy;

use super::{Probe, Space, written};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Method, Record, Sample, Series};
use crate::session::{Session, Stop};
use fathom_base::Bytes;

/// In the order of [`crate::Parameter::ALL`].
pub const PROBES: &[&dyn Probe] = &[
    &clustered_page::ClusteredPage,
    &clustered_block::ClusteredBlock,
    &logical_block::LogicalBlock,
    &read_buffer::ReadBuffer,
    &write_buffer::WriteBuffer,
    &prefetch::Prefetch,
    &write_policy::WritePolicy,
];

/// The most of a drive that is used, in bytes: enough for a hundred of the largest blocks looked for.
const SPAN_MAX: u64 = 2 << 30;

/// The name of the preparation step.
const INIT: &str = "init";

impl Space {
    /// The part that the robust probes use, in bytes from the start of the region.
    pub(crate) fn span(&self) -> u64 {
        let whole = self.bytes().min(SPAN_MAX);
        whole / self.block_bytes * self.block_bytes
    }

    /// The smallest multiple of the logical block that is at least `bytes`.
    fn round_up(&self, bytes: u64) -> u64 {
        bytes.max(1).next_multiple_of(self.block_bytes)
    }
}

/// Writes the span once in order, so that every page has a place: reads of what was never written are no reads,
/// and writes to it change nothing. Once a run, or what is missing where a probe before needed less; a read-only run makes sure
/// that it was written before.
fn prepare(session: &mut Session<'_>, parameter: Parameter) -> Result<(), Stop> {
    let start = session.region().start;
    let end = start + Space::from(&*session).span();
    if session.read_only() {
        return written::look(session, parameter, start..end);
    }
    let from = start + prepared_bytes(session.record());
    if from >= end {
        return Ok(());
    }
    session
        .step(parameter, INIT, |io| io.fill_sequential(from..end))
        .map(|_| ())
}

/// How much of the region was written so in this run, in bytes from its start.
pub(crate) fn prepared_bytes(record: &Record) -> u64 {
    let steps = record.steps.iter().filter(|step| step.name == INIT);
    steps.map(|step| step.cost.bytes_written).sum()
}

/// Whether the span was written in this run.
fn prepared(record: &Record) -> bool {
    record.steps.iter().any(|step| step.name == INIT)
}

/// The samples of a step, where it was made.
fn of_step<'r>(
    record: &'r Record,
    parameter: Parameter,
    name: &str,
) -> Option<impl Iterator<Item = &'r Sample> + use<'r>> {
    let mut steps = record.steps.iter();
    let step = steps.position(|s| s.parameter == parameter && s.name == name)? as u32;
    Some(record.samples.iter().filter(move |s| s.step == step))
}

/// Latencies of one series of a step, in nanoseconds; none where it was not made.
fn times(record: &Record, (parameter, name): (Parameter, &str), series: Series) -> Vec<f64> {
    let samples = of_step(record, parameter, name).into_iter().flatten();
    let chosen = samples.filter(|s| s.series == series);
    chosen.map(|s| s.ns as f64).collect()
}

/// Latencies of a series at one size, in nanoseconds.
fn at(record: &Record, parameter: Parameter, series: Series, x: u64) -> Vec<f64> {
    let samples = record.series(parameter, series).filter(|s| s.x == x);
    samples.map(|s| s.ns as f64).collect()
}

/// The sizes at which a series has samples, ascending.
fn sizes(record: &Record, parameter: Parameter, series: Series) -> Vec<u64> {
    let mut sizes: Vec<u64> = record.series(parameter, series).map(|s| s.x).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Clustered pages have no other prime factors: a power of two, over some planes and dies.
const PAGE_FACTORS: [u64; 3] = [2, 3, 5];

/// All that a size has of the factors of clustered pages. Where it is a whole number of them, this is, too.
fn page_part(size: u64) -> u64 {
    let (mut part, mut left) = (1, size.max(1));
    for factor in PAGE_FACTORS {
        while left.is_multiple_of(factor) {
            (part, left) = (part * factor, left / factor);
        }
    }
    part
}

/// The unit that writes should come in: the clustered page if an earlier probe knows it, else 16 KiB.
fn write_unit(session: &Session<'_>) -> u64 {
    let known = session
        .known(Parameter::ClusteredPage)
        .and_then(|e| e.value.as_ref()?.bytes());
    Space::from(session).round_up(known.unwrap_or(16 << 10))
}

fn identified(parameter: Parameter, value: Value, reason: impl Into<String>) -> Estimate {
    Estimate::identified(parameter, Method::Robust, value, reason)
}

fn without(parameter: Parameter, verdict: Verdict, reason: impl Into<String>) -> Estimate {
    Estimate::without_value(parameter, Method::Robust, verdict, reason)
}

/// A size for people, in the largest unit that takes at most a half: `16 KiB`, `255.5 KiB`, `3076 KiB`, `5 MiB`; rounded
/// where none does: `51.2 MiB`.
fn size(bytes: u64) -> String {
    let units = [(1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = |&&(scale, _): &&(u64, &str)| bytes >= scale && (bytes * 2).is_multiple_of(scale);
    match units.iter().find(fits) {
        Some((scale, unit)) if bytes.is_multiple_of(*scale) => format!("{} {unit}", bytes / scale),
        Some((scale, unit)) => format!("{}.5 {unit}", bytes / scale),
        None => Bytes(bytes).human(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_exact() {
        let bytes = [
            512,
            1024,
            261_632,
            3_149_824,
            5 << 20,
            5_767_168,
            53_687_091,
        ];
        let said = bytes.map(super::size);
        assert_eq!(
            said,
            [
                "512 B",
                "1 KiB",
                "255.5 KiB",
                "3076 KiB",
                "5 MiB",
                "5.5 MiB",
                "51.2 MiB"
            ]
        );
    }
}

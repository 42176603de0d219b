//! Preparation before a measurement: writes the span once, or, in a read-only run, checks that it was written.

use super::written;
use crate::{Parameter, Record, Session, Stop};

/// The name of the preparation step.
const INIT: &str = "init";

/// Writes the span once in order, so that every page is mapped: a read of an unwritten page touches no flash, and a write to
/// one replaces nothing. Done once a run; a later call only adds what an earlier probe did not need. A read-only run checks
/// instead that the span was written before.
pub(crate) fn prepare(session: &mut Session<'_>, parameter: Parameter) -> Result<(), Stop> {
    let start = session.region().start;
    let end = start + session.space().span();
    if session.read_only() {
        return written::look(session, parameter, start..end);
    }
    let from = start + bytes(session.record());
    if from >= end {
        return Ok(());
    }
    session.step(parameter, INIT, |io| io.fill_sequential(from..end))
}

/// Returns how many bytes this run has prepared, from the start of the region.
pub(crate) fn bytes(record: &Record) -> u64 {
    let steps = record.steps.iter().filter(|step| step.name == INIT);
    steps.map(|step| step.cost.bytes_written).sum()
}

/// Returns true if this run has prepared the span or a part of it.
pub(crate) fn prepared(record: &Record) -> bool {
    record.steps.iter().any(|step| step.name == INIT)
}

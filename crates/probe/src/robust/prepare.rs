//! What is done before anything is measured: the span is written once, or, in a run that may not write, looked at.

use super::written;
use crate::{Parameter, Record, Session, Stop};

/// The name of the preparation step.
const INIT: &str = "init";

/// Writes the span once in order, so that every page has a place: reads of what was never written are no reads,
/// and writes to it change nothing. Once a run, or what is missing where a probe before needed less; a read-only run makes sure
/// that it was written before.
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

/// How much of the region was written so in this run, in bytes from its start.
pub(crate) fn bytes(record: &Record) -> u64 {
    let steps = record.steps.iter().filter(|step| step.name == INIT);
    steps.map(|step| step.cost.bytes_written).sum()
}

/// Whether the span was written in this run.
pub(crate) fn prepared(record: &Record) -> bool {
    record.steps.iter().any(|step| step.name == INIT)
}

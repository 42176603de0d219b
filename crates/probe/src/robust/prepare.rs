//! Preparation before a measurement: writes the span once, or, in a read-only run, checks that it was written.

use super::written;
use crate::{Level, Parameter, Record, Session, Space, Stop};

/// The name of the preparation step.
const INIT: &str = "init";
/// The name of the step that writes the span in order again.
const AGAIN: &str = "in order";

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

/// Prepares, and writes the span in order again where others have written as much as half of it since: reads of neighbouring
/// places tell of the flash only where neighbours are laid out in order. A run with a budget of bytes has no bytes for it,
/// and one at the quick level writes little before.
pub(crate) fn in_order(session: &mut Session<'_>, parameter: Parameter) -> Result<(), Stop> {
    prepare(session, parameter)?;
    let space = session.space();
    let may = !session.read_only() && again_bytes(&space) > 0;
    let budget = session.record().meta.budget_bytes.is_some();
    if !may || budget || since(session.record()) < space.span() / 2 {
        return Ok(());
    }
    let start = session.region().start;
    session.step(parameter, AGAIN, |io| {
        io.fill_sequential(start..start + space.span())
    })
}

/// Returns the most that [`in_order`] writes apart from the preparation, in bytes.
pub(crate) fn again_bytes(space: &Space) -> u64 {
    match space.level {
        Level::Quick => 0,
        Level::Full => space.span(),
    }
}

/// Returns the bytes that were written since the span was written in order.
fn since(record: &Record) -> u64 {
    let after = record.steps.iter().rev();
    let after = after.take_while(|step| step.name != INIT && step.name != AGAIN);
    after.map(|step| step.cost.bytes_written).sum()
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

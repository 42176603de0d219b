//! Prints and saves the results of a run.

use crate::failure::{Exit, Failure};
use crate::out;
use fathom_lab::store::{self, Staging};
use fathom_report::{ab as turns_of, run as words};
use fathom_run::RunRecord;
use fathom_run::ab::Ab;

/// Prints and saves one run. Prints it even if it cannot be saved.
pub(super) fn record(
    json: bool,
    record: &RunRecord,
    job_notes: &[String],
    set: Option<Staging>,
) -> Result<Exit, Failure> {
    let saved = set.map(|set| {
        let html = words::page(record);
        store::save_run_record(set, record, Some(&html))
    });
    match json {
        true => out::json(record)?,
        false => out::text(&words::text(&without(record, job_notes), out::screen()))?,
    }
    saved.transpose()?;
    Ok(match &record.cut_short {
        None if record.totals.count() > 0 => Exit::Done,
        _ => Exit::Negative,
    })
}

/// Removes the notes on jobs, which were printed to standard error already.
fn without(record: &RunRecord, job_notes: &[String]) -> RunRecord {
    let mut record = record.clone();
    record.notes.retain(|note| !job_notes.contains(note));
    record
}

/// Prints and saves two stacks run in turn.
pub(super) fn turns(json: bool, found: &Ab, set: Option<Staging>) -> Result<Exit, Failure> {
    let file = out::versioned(found)?;
    let saved = set.map(|mut set| {
        set.add(store::AB_FILE, file.as_bytes())?;
        set.add(store::REPORT_FILE, turns_of::page(found).as_bytes())?;
        set.commit(&[])
    });
    match json {
        true => out::json(found)?,
        false => out::text(&turns_of::text(found, out::screen()))?,
    }
    saved.transpose()?;
    Ok(Exit::Done)
}

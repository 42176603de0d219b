//! What a run prints and writes.

use super::super::{ab as turns_of, outcome as words, page};
use crate::failure::{Exit, Failure};
use crate::out;
use fathom_lab::ab::Ab;
use fathom_lab::replay::Outcome;
use fathom_lab::store::{self, Staging};

/// One run. It is printed also where it cannot be written.
pub(super) fn outcome(
    json: bool,
    outcome: &Outcome,
    set: Option<Staging>,
) -> Result<Exit, Failure> {
    let saved = set.map(|set| {
        let html = page::of_run(outcome);
        store::save_outcome(set, outcome, Some(&html))
    });
    match json {
        true => out::json(outcome)?,
        false => out::text(&words::text(&without_job_notes(outcome)?, out::screen()))?,
    }
    saved.transpose()?;
    Ok(match outcome.cut_short {
        None => Exit::Done,
        Some(_) => Exit::Negative,
    })
}

/// The notes on jobs stand on standard error already.
fn without_job_notes(outcome: &Outcome) -> Result<Outcome, Failure> {
    let told = outcome.plan.workload.job_notes()?;
    let mut outcome = outcome.clone();
    outcome.notes.retain(|note| !told.contains(note));
    Ok(outcome)
}

/// Two stacks in turn.
pub(super) fn turns(json: bool, found: &Ab, set: Option<Staging>) -> Result<Exit, Failure> {
    let saved = set.map(|mut set| {
        // Plain numbers, names and lists: serialising them cannot fail.
        let json = serde_json::to_vec_pretty(found).unwrap_or_default();
        set.add(store::AB_FILE, &json)?;
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

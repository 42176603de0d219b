//! Runs a plan on a modelled drive, alone or behind a platform.

use super::hosted::hosted;
use super::run::{Plan, RunError, Watch, run};
use crate::store::Staging;
use fathom_model::{Drive, Model};
use fathom_run::{Precondition, RunRecord};

/// Runs a plan on a modelled drive that is already preconditioned; with a platform on as many of them as it has. If
/// `requests` is given, that set receives a file of every access.
///
/// # Errors
/// [`RunError`].
pub fn run_model(
    model: &Model,
    drive: Drive,
    plan: &Plan,
    requests: Option<&mut Staging>,
    watch: Watch<'_>,
) -> Result<RunRecord, RunError> {
    let mut drive = match plan.workload.wants()?.data {
        true => drive.keep_data(),
        false => drive,
    };
    if let Some(platform) = &plan.platform {
        return Ok(of_model(
            model,
            hosted(platform, drive, plan, requests, watch)?,
        ));
    }
    let record = of_model(model, run(drive.of_kind(), plan, requests, watch)?);
    Ok(RunRecord {
        wear: drive.wear(),
        ..record
    })
}

/// Completes the record of a run on a model: the drive's file and the warnings.
fn of_model(model: &Model, record: RunRecord) -> RunRecord {
    RunRecord {
        drive: Some(model.to_toml()),
        warnings: empty_flash(model, &record).into_iter().collect(),
        ..record
    }
}

/// Warns that a run on an empty drive shows no flash reads and no garbage collection.
fn empty_flash(model: &Model, record: &RunRecord) -> Option<String> {
    let empty = record.plan.precondition == Precondition::Fresh && model.starts_empty();
    let missing = match (&record.totals.reads, &record.totals.writes) {
        _ if !empty => return None,
        (Some(_), Some(_)) => {
            "reads of what was never written take no time in flash, and writes replace nothing"
        }
        (Some(_), None) => "reads of what was never written take no time in flash",
        (None, Some(_)) => {
            "writes replace nothing, so that no data is moved before the drive is full"
        }
        (None, None) => return None,
    };
    Some(format!(
        "The drive began empty: {missing}. `--precondition filled` fills it first."
    ))
}

//! `fathom report`: renders the page of a run again.

use super::made;
use crate::args::ReportArgs;
use crate::failure::{Exit, Failure};
use crate::file_kind::FileKind;
use crate::{input, out};
use fathom_lab::store::{self, RECORD_FILE, REPORT_FILE, RUN_FILE, SetKind, StoreError};
use fathom_probe::run;
use std::path::Path;

pub(super) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    if !args.dir.is_dir() {
        let path = args.dir.clone();
        if path.exists() {
            return Err(match FileKind::of(&path) {
                FileKind::Toml | FileKind::Other => {
                    let message = format!("{} is no directory of a run", path.display());
                    Failure::input("fathom::run::not_a_directory", message).help(
                        "name a directory that `fathom probe --out` or `fathom run --out` has written",
                    )
                }
                kind => kind.misplaced(&path, "directory of a run"),
            });
        }
        return Err(StoreError::Missing { path }.into());
    }
    let dir = &args.dir;
    input::run(dir)?;
    made::only(&[SetKind::Measurement, SetKind::Run], dir, "fathom report")?;
    let of_workload = store::holds(dir, RUN_FILE) && !store::holds(dir, RECORD_FILE);
    let html = match of_workload {
        true => fathom_report::run::page(&out::loaded(store::load_run_record(dir)?)),
        false => measurement(&args.dir)?,
    };
    store::write_whole(&args.dir, &[(REPORT_FILE, html.as_bytes())])?;
    out::data(&format!("{}\n", args.dir.join(REPORT_FILE).display()))?;
    Ok(Exit::Done)
}

/// Returns the page of a measurement.
fn measurement(dir: &Path) -> Result<String, StoreError> {
    let (record, profile) = out::loaded(store::load_measurement(dir)?);
    // An interrupted run has no profile.
    let profile = profile.unwrap_or_else(|| run::solve(&record));
    Ok(fathom_report::html::render(&record, &profile))
}

//! `fathom report`: renders the page again.

use super::page;
use crate::args::ReportArgs;
use crate::failure::{Exit, Failure};
use crate::out;
use fathom_lab::store::{self, RECORD_FILE, REPORT_FILE, RUN_FILE, StoreError};
use fathom_probe::run;
use std::path::Path;

pub(super) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    if !args.dir.is_dir() {
        let path = args.dir.clone();
        return Err(match path.exists() {
            true => StoreError::NotADirectory { path },
            false => StoreError::Missing { path },
        }
        .into());
    }
    let of_workload = args.dir.join(RUN_FILE).exists() && !args.dir.join(RECORD_FILE).exists();
    let html = match of_workload {
        true => page::of_run(&store::load_outcome(&args.dir)?),
        false => measurement(&args.dir)?,
    };
    store::write_whole(&args.dir, &[(REPORT_FILE, html.as_bytes())])?;
    out::data(&format!("{}\n", args.dir.join(REPORT_FILE).display()))?;
    Ok(Exit::Done)
}

/// The page of a measurement.
fn measurement(dir: &Path) -> Result<String, StoreError> {
    let record = store::load_record(dir)?;
    let profile = match store::load_profile(dir) {
        Ok(profile) => profile,
        // An interrupted run has none.
        Err(StoreError::Missing { .. }) => run::solve(&record),
        Err(error) => return Err(error),
    };
    Ok(fathom_report::html::render(&record, &profile))
}

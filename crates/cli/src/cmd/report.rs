//! `fathom report`: renders the page again.

use crate::args::ReportArgs;
use crate::failure::{Exit, Failure};
use crate::out;
use fathom_lab::store::{self, REPORT_FILE, StoreError};
use fathom_probe::run;

pub(super) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    if !args.dir.is_dir() {
        let path = args.dir.clone();
        return Err(match path.exists() {
            true => StoreError::NotADirectory { path },
            false => StoreError::Missing { path },
        }
        .into());
    }
    let record = store::load_record(&args.dir)?;
    let profile = match store::load_profile(&args.dir) {
        Ok(profile) => profile,
        // An interrupted run has none.
        Err(StoreError::Missing { .. }) => run::solve(&record),
        Err(error) => return Err(error.into()),
    };
    let html = fathom_report::html::render(&record, &profile);
    store::write_whole(&args.dir, &[(REPORT_FILE, html.as_bytes())])?;
    out::data(&format!("{}\n", args.dir.join(REPORT_FILE).display()))?;
    Ok(Exit::Done)
}

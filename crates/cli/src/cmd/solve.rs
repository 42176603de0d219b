//! `fathom solve`: derives the answers again from the raw record.

use super::{answer, made, save};
use crate::args::SolveArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_lab::store::{self, PROFILE_FILE, REPORT_FILE, SetKind};
use fathom_probe::run;

/// Writes the profile and the report of a complete record again. An interrupted record, or one named as a file, is only
/// answered; nothing is written.
pub(super) fn run(args: &SolveArgs) -> Result<Exit, Failure> {
    input::run(&args.dir)?;
    made::only(&[SetKind::Measurement], &args.dir, "fathom solve")?;
    let record = out::loaded(store::load_record(&args.dir)?);
    let profile = run::solve(&record);
    let mut after = String::new();
    if !record.meta.complete {
        out::note("This run was interrupted: what was not measured to its end is open.");
    } else if args.dir.is_dir() {
        let html = fathom_report::html::render(&record, &profile);
        let toml = store::encode_profile(&profile)?;
        let files = [
            (PROFILE_FILE, toml.as_bytes()),
            (REPORT_FILE, html.as_bytes()),
        ];
        store::write_whole(&args.dir, &files)?;
        let names = files.map(|(name, _)| name);
        after = format!("\n{}\n", save::written(&args.dir, &names));
    }
    answer::print(&profile, args.json, &after)?;
    Ok(Exit::Done)
}

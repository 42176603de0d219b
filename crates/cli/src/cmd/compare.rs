//! `fathom compare`: compares runs of workloads.

use super::made;
use crate::args::CompareArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_lab::store::{self, REPORT_FILE, SetKind};
use fathom_report::compare::{page, text};
use fathom_run::compare::{Named, compare};
use std::path::Path;

pub(super) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    made::check(SetKind::Run, &args.runs)?;
    if let Some(dir) = &args.out {
        store::check_output(dir, SetKind::Comparison)?;
    }
    let runs: Vec<Named> = args
        .runs
        .iter()
        .map(|path| named(path))
        .collect::<Result<_, _>>()?;
    let comparison = compare(&runs);
    for run in &comparison.runs {
        for warning in &run.warnings {
            out::note(&format!("warning: {}: {warning}", run.name));
        }
    }
    if let Some(dir) = &args.out {
        let html = page(&comparison, &runs);
        store::write_whole(dir, &[(REPORT_FILE, html.as_bytes())])?;
    }
    match args.json {
        true => out::json(&comparison)?,
        false => out::text(&text(&comparison, &runs, out::screen()))?,
    }
    Ok(Exit::Done)
}

/// Loads a run. Accesses that cannot be read are reported and left out.
fn named(path: &Path) -> Result<Named, Failure> {
    input::run(path)?;
    let (run, responses) = out::loaded(store::load_run(path)?);
    Ok(Named {
        name: out::shown(path),
        run,
        responses,
    })
}

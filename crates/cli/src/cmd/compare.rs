//! `fathom compare`: runs of workloads side by side.

use crate::args::CompareArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_lab::store::{self, PROFILE_FILE, REPORT_FILE, RUN_FILE};
use fathom_report::compare::{page, text};
use fathom_run::compare::{Named, compare};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let probed = |path: &Path| path.join(PROFILE_FILE).exists() && !path.join(RUN_FILE).exists();
    if let Some(path) = args.runs.iter().find(|path| probed(path)) {
        return Err(instead(path, ("probe", "run"), "diff", &args.runs));
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
        store::check_output(dir)?;
        let html = page(&comparison, &runs);
        store::write_whole(dir, &[(REPORT_FILE, html.as_bytes())])?;
    }
    match args.json {
        true => out::json(&comparison)?,
        false => out::text(&text(&comparison, &runs, out::screen()))?,
    }
    Ok(Exit::Done)
}

/// That a run of one command was named where one of another belongs, and the command that takes it.
pub(super) fn instead(
    path: &Path,
    (is, wanted): (&str, &str),
    command: &str,
    all: &[PathBuf],
) -> Failure {
    let message = format!(
        "{} is a run of `fathom {is}`, and runs of `fathom {wanted}` are wanted",
        out::shown(path)
    );
    let all: Vec<String> = all.iter().map(|path| out::shown(path)).collect();
    Failure::input("fathom::run::other", message).help(format!(
        "compare runs of `fathom {is}` with: fathom {command} {}",
        all.join(" ")
    ))
}

/// Accesses that cannot be read are told and done without.
fn named(path: &Path) -> Result<Named, Failure> {
    input::run(path)?;
    let (run, responses) = out::loaded(store::load_run(path)?);
    Ok(Named {
        name: out::shown(path),
        run,
        responses,
    })
}

//! `fathom twin`: a drive file that behaves like a measured drive.

use super::made;
use crate::args::TwinArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out, watch};
use fathom_lab::store::{self, SetKind};
use fathom_lab::target::TargetName;
use fathom_lab::twin::{self, TwinError};
use fathom_report::twin::text;
use std::path::Path;

pub(super) fn run(args: &TwinArgs) -> Result<Exit, Failure> {
    input::run(&args.run)?;
    made::only(&[SetKind::Measurement], &args.run, "fathom twin")
        .map_err(|failure| failure.help("measure the drive: fathom probe TARGET --out DIR"))?;
    watch::listen()?;
    let (twin, notes) = match twin::of_run(&args.run, &watch::interrupted) {
        Err(TwinError::Interrupted) => {
            out::note("Interrupted: nothing was written.");
            return Ok(Exit::Negative);
        }
        made => made?,
    };
    for note in notes {
        out::note(&format!("warning: {note}"));
    }
    let run = out::shown(&args.run);
    if let Some(path) = &args.out {
        twin::save(&twin, &run, path)?;
    }
    if args.json {
        out::json(&twin)?;
        return Ok(Exit::Done);
    }
    let mut shown = text(&twin.figures, &twin.assumed, out::screen());
    if let Some(path) = &args.out {
        shown += &format!("\nWritten to {}\n", out::shown(path));
    }
    out::text(&shown)?;
    Ok(Exit::Done)
}

/// Parses the name of a drive. A run of `fathom probe` means its twin, which is made if the run has none.
///
/// # Errors
/// Those of [`input::target`], and those of making the twin.
pub(super) fn target(text: &str) -> Result<TargetName, Failure> {
    let run = Path::new(text);
    if !run.is_dir() || !store::kinds_in(run).contains(&SetKind::Measurement) {
        return input::target(text);
    }
    input::run(run)?;
    let shown = out::shown(run);
    // Ctrl-C ends the process: nothing is written before the twin is complete.
    let (path, made) = twin::twin_of(run, &watch::interrupted)?;
    let (file, how) = (
        out::shown(&path),
        if made { "made now" } else { "made before" },
    );
    out::note(&format!(
        "note: {shown} holds a run of `fathom probe`; the workload runs on its twin, {file} ({how})"
    ));
    Ok(TargetName::DriveFile(path))
}

//! `fathom twin`: a drive file that behaves like a measured drive.

use super::made;
use crate::args::TwinArgs;
use crate::failure::{Exit, Failure};
use crate::file_kind::FileKind;
use crate::progress::Display;
use crate::{input, out, watch};
use fathom_lab::store::{self, SetKind};
use fathom_lab::target::{Place, TargetName};
use fathom_lab::twin::{self, Far, TwinError, TwinFile, Watcher};
use fathom_report::twin::text;
use std::error::Error as _;
use std::path::Path;

pub(super) fn run(args: &TwinArgs) -> Result<Exit, Failure> {
    if args
        .run
        .to_str()
        .is_some_and(|run| run.starts_with("model:"))
    {
        let drive = out::shown(&args.run);
        let said =
            format!("{drive} is a modelled drive, and a twin is made of a run of `fathom probe`");
        return Err(Failure::input("fathom::twin", said).help(format!(
            "measure it first: fathom probe {drive} --out DIR, and then fathom twin DIR"
        )));
    }
    // Before the fit, which takes its time.
    args.out.as_deref().map(place).transpose()?;
    input::run(&args.run)?;
    made::only(&[SetKind::Measurement], &args.run, "fathom twin")
        .map_err(|failure| failure.help("measure the drive: fathom probe TARGET --out DIR"))?;
    watch::listen()?;
    let progress = Fits(Display::new(args.quiet));
    let made = twin::of_run(&args.run, &progress);
    drop(progress);
    let (twin, notes) = match made {
        Err(TwinError::Interrupted) => {
            out::note("Interrupted: nothing was written.");
            return Ok(Exit::Negative);
        }
        made => made?,
    };
    for note in notes {
        out::note(&format!("warning: {note}"));
    }
    if twin.ended_early {
        out::note(EARLY);
    }
    if let Some(path) = &args.out {
        twin::save(&twin, &args.run, path)?;
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

/// Checks the place of the drive file: a file of a stored run is not replaced.
fn place(path: &Path) -> Result<(), Failure> {
    let place = store::single(path)?;
    if place.exists() && FileKind::of(&place) == FileKind::Stored {
        let said = format!(
            "{} is a file of a stored run, which a drive file would replace",
            out::shown(path)
        );
        return Err(Failure::input("fathom::twin", said).help("name another file: --out FILE.toml"));
    }
    Ok(())
}

/// Parses the name of a drive. A run of `fathom probe` means its twin, which is made if the run has none.
///
/// # Errors
/// Those of [`input::target`], and those of making the twin.
pub(super) fn target(text: &str) -> Result<TargetName, Failure> {
    let run = Path::new(text);
    let measured = |dir: &Path| store::kinds_in(dir).contains(&SetKind::Measurement);
    if !run.is_dir() || !measured(run) {
        let above = run.parent().filter(|dir| run.is_file() && measured(dir));
        return input::target(text).map_err(|failure| match above {
            Some(dir) => failure.help(format!(
                "`--on {}` plays on the twin of that run",
                out::shown(dir)
            )),
            None => failure,
        });
    }
    input::run(run)?;
    let shown = out::shown(run);
    // Ctrl-C ends the process: nothing is written before the twin is complete.
    let progress = Fits(Display::new(false));
    let file = twin::twin_of(run, &progress);
    drop(progress);
    let told = |how: String| {
        out::note(&format!(
            "note: {shown} holds a run of `fathom probe`; the workload runs on its twin, {how}"
        ));
    };
    let (name, ended_early) = match file? {
        TwinFile::Before(path) => {
            told(format!("{} (made before)", out::shown(&path)));
            warned(&kept(&path));
            return Ok(TargetName::DriveFile(path));
        }
        TwinFile::Now { path, ended_early } => {
            told(format!("{} (made now)", out::shown(&path)));
            warned(&kept(&path));
            (TargetName::DriveFile(path), ended_early)
        }
        TwinFile::Unkept {
            path,
            text,
            why,
            ended_early,
        } => {
            let cause = why
                .source()
                .map_or_else(String::new, |cause| format!(": {cause}"));
            told(format!(
                "made now and not kept, so that the next run makes it again: {why}{cause}"
            ));
            warned(&text);
            let place = Place::new(out::shown(&path), &text);
            (TargetName::Held(place), ended_early)
        }
    };
    if ended_early {
        out::note(EARLY);
    }
    Ok(name)
}

/// Returns the text of a twin that is kept. One that cannot be read is refused later, as any drive file.
fn kept(path: &Path) -> String {
    fathom_lab::text::read(path).unwrap_or_default()
}

/// Shows what the drive file of a twin warns of.
fn warned(file: &str) {
    for caution in twin::cautions(file) {
        out::note(&format!("warning: {caution}"));
    }
}

const EARLY: &str = "note: the search for the times ended at its limit of work, before it was done: the twin may fit less well \
                     than it could";

/// Shows how far a fit is.
struct Fits(Display);

impl Watcher for Fits {
    fn fitting(&self, far: Far) {
        self.0.show(|| {
            let Far {
                stage,
                number,
                of,
                candidates,
            } = far;
            format!(
                "fitting a twin, step {number} of {of} ({stage}): {candidates} candidates measured"
            )
        });
    }

    fn interrupted(&self) -> bool {
        watch::interrupted()
    }
}

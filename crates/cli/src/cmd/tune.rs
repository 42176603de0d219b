//! `fathom tune`: the settings that follow from a measurement.

mod left;
mod trial;

use super::made;
use crate::args::{Form, JOURNALS, TuneArgs};
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_hostio::DriveQueue;
use fathom_lab::reported;
use fathom_lab::store::{self, SetKind};
use fathom_lab::target::TargetError;
use fathom_probe::Profile;
use fathom_report::tune::{Applied, Tuning, applied_text, text};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What is printed as JSON.
#[derive(Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    found: &'a Tuning,
    /// The trial, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<&'a Applied>,
}

pub(super) fn run(args: &TuneArgs) -> Result<Exit, Failure> {
    left::restore(&args.journal, args.restore)?;
    // What another directory of journals hides would be taken for the settings as they were found.
    if args.journal != Path::new(JOURNALS) {
        left::restore(Path::new(JOURNALS), false)?;
    }
    let Some(run) = &args.run else {
        return Ok(Exit::Done);
    };
    let profile = profile(run)?;
    let path = args.on.clone().or_else(|| probed(&profile));
    let drive = path.as_deref().map(|path| queue(args, path));
    let drive = drive.transpose()?.flatten();
    let report = match (&path, &drive) {
        (Some(path), Some(drive)) => reported::of(path, drive),
        _ => profile.target.reported.clone().unwrap_or_default(),
    };
    let mut found = Tuning::of(&profile, report);
    found.notes = notes(&profile, path.as_deref(), drive.as_ref());
    if !args.trial.apply {
        show(args, &found, None)?;
        return Ok(Exit::Done);
    }
    let (Some(path), Some(drive)) = (path, drive) else {
        let message = "`--apply` needs a drive of this machine, and the profile names none";
        return Err(Failure::input("fathom::tune::drive", message)
            .help("name one: --on TARGET (a directory, a file, /dev/...)"));
    };
    if args.on.is_none() && is_other(&profile, &drive) {
        let target = &profile.target;
        let said = format!(
            "{} was probed as {}, and is {} now: the settings of one drive are not tried on another",
            target.name,
            target.identity,
            drive.identity()
        );
        let help = format!(
            "measure this drive: fathom probe {0} --out DIR; or name it, if it is of the same model: --on {0}",
            target.name
        );
        return Err(Failure::input("fathom::tune::other", said).help(help));
    }
    let ended = trial::run(args, &found, &path, &drive)?;
    let Some(applied) = ended else {
        return Ok(Exit::Negative);
    };
    show(args, &found, Some(&applied))?;
    Ok(match applied.kept {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

/// Reads the profile of a run.
fn profile(run: &Path) -> Result<Profile, Failure> {
    input::profile(run)?;
    made::only(&[SetKind::Measurement], run, "fathom tune")
        .map_err(|failure| failure.help("measure the drive: fathom probe TARGET --out DIR"))?;
    Ok(out::loaded(store::load_profile(run)?))
}

/// Returns the target that was probed, if it is a real one that is here.
fn probed(profile: &Profile) -> Option<PathBuf> {
    let path = PathBuf::from(&profile.target.name);
    (!profile.target.modelled && path.exists()).then_some(path)
}

/// Finds the drive of a target. One that the user named must be found.
fn queue(args: &TuneArgs, path: &Path) -> Result<Option<DriveQueue>, Failure> {
    let shown = out::shown(path);
    if shown.starts_with("model:") {
        let said =
            format!("`--on {shown}` is a modelled drive, which has no request queue of the kernel");
        return Err(Failure::input("fathom::tune::drive", said).help(
            "name a drive of this machine (a directory, a file, /dev/...), or leave `--on` out",
        ));
    }
    match DriveQueue::of(path) {
        Ok(drive) => Ok(Some(drive)),
        Err(error) if args.on.is_some() => Err(TargetError::from(error).into()),
        Err(_) => Ok(None),
    }
}

/// Returns true if a drive is not the one that was probed.
fn is_other(profile: &Profile, drive: &DriveQueue) -> bool {
    let target = &profile.target;
    target.modelled || !target.identity.contains(&drive.identity().to_string())
}

/// Returns notes on the drive that was read.
fn notes(profile: &Profile, path: Option<&Path>, drive: Option<&DriveQueue>) -> Vec<String> {
    let target = &profile.target;
    let mut notes = Vec::new();
    let Some(drive) = drive else {
        notes.push(match path {
            Some(path) => format!("sysfs shows no drive under {}.", path.display()),
            None => "Name a drive with --on TARGET, and what it reports is compared.".to_owned(),
        });
        return notes;
    };
    if is_other(profile, drive) {
        let here = drive.identity();
        notes.push(format!(
            "The measurement is of {} ({}), and the drive here is {} ({here}): make sure that it is of the same model.",
            target.name, target.identity, drive.name
        ));
    }
    notes
}

fn show(args: &TuneArgs, found: &Tuning, applied: Option<&Applied>) -> Result<(), Failure> {
    if args.json {
        return out::json(&Found { found, applied });
    }
    match args.format {
        Form::Text => {
            let trial = applied.map(|applied| applied_text(applied, out::screen()));
            out::text(&(text(found, out::screen()) + &trial.unwrap_or_default()))
        }
        Form::Program(form) => {
            if let Some(applied) = applied {
                out::note(&applied_text(applied, out::error_screen()));
            }
            out::data(&(form.render)(found))
        }
    }
}

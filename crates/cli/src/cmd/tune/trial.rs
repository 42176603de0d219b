//! Tries the settings that can be set now.

use super::super::confirm::{Bound, Consent, confirm};
use super::super::{scratch, workload};
use crate::args::TuneArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Playing;
use crate::{input, out, watch};
use fathom_hostio::{DriveQueue, QueueChange};
use fathom_lab::replay::{Plan, RunError, Watch, check};
use fathom_lab::source::{Kind, Workload};
use fathom_lab::target::{OpenOptions, Opened, QueueDepth, TargetError};
use fathom_lab::tune::{Trial, settings, try_settings};
use fathom_report::tune::{Applied, Tuning};
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use std::path::Path;

/// Runs the trial. `None` if it was interrupted, or if there is nothing to set.
pub(super) fn run(
    args: &TuneArgs,
    found: &Tuning,
    path: &Path,
    drive: &DriveQueue,
) -> Result<Option<Applied>, Failure> {
    let plan = plan(args, path)?;
    let wanted = settings(found);
    // What cannot be changed, and a journal that cannot be written, are told before anything else.
    let change = match wanted.is_empty() {
        true => QueueChange::check(drive).map(|()| None),
        false => QueueChange::prepare(drive, &wanted, &args.journal).map(Some),
    };
    let change = change.map_err(TargetError::from)?;
    for note in plan.workload.job_notes()? {
        out::note(&format!("note: {note}"));
    }
    let Some(change) = change else {
        out::note("Nothing is to be set: no attribute follows that has another value now.");
        return Ok(None);
    };
    announce(&change, drive, &args.journal);
    let mut opened = open(args, path, &plan)?;
    watch::before_the_end(Box::new(change.at_the_end()));
    let trial = Trial {
        drive,
        change: &change,
        plan: &plan,
        rounds: args.trial.rounds,
        figure: args.trial.by,
    };
    let playing = Playing::new();
    let seen = |seen| playing.seen(seen);
    let watch = Watch {
        stop: watch::interrupted,
        seen: Some(&seen),
    };
    let tried = try_settings(&mut opened.device, trial, watch);
    drop(playing);
    match tried {
        Ok(applied) => Ok(Some(applied)),
        Err(RunError::Interrupted) => {
            out::note("Interrupted; the old values are back.");
            Ok(None)
        }
        Err(RunError::Host(error)) => {
            let message = format!("the attributes of {}: {error}", drive.name);
            Err(Failure::input("fathom::tune::settings", message).help(
                "look whether the old values are back; if a journal is left, `fathom tune --restore` does the rest",
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// Names every file that will be changed, with its old and its new value, and those that keep their value.
fn announce(change: &QueueChange, drive: &DriveQueue, journals: &Path) {
    out::note(&format!(
        "These attributes of {} are changed between rounds, for everybody who uses the drive, and put back at the end unless \
         they are better:",
        drive.name
    ));
    for [attribute, old, new] in change.changes() {
        let path = drive.path_of(&attribute);
        out::note(&format!("  {}: {old} -> {new}", path.display()));
    }
    let kept: Vec<String> = change
        .kept()
        .iter()
        .map(|[attribute, old]| format!("{attribute} = {old}"))
        .collect();
    if !kept.is_empty() {
        out::note(&format!(
            "The kernel changes some attributes with others; these are written again to keep their values: {}.",
            kept.join(", ")
        ));
    }
    out::note(&format!(
        "A journal in {} has the old values until then. Nothing else of the system is changed, and nothing is written to the \
         drive itself.",
        out::shown(journals)
    ));
}

/// Returns the plan of a run. Jobs that write need a scratch file: this command writes to no drive.
fn plan(args: &TuneArgs, path: &Path) -> Result<Plan, Failure> {
    let job = args.trial.verify.as_deref().unwrap_or(Path::new(""));
    input::text(job)?;
    let workload = workload::of_name(&job.display().to_string())?;
    if !matches!(workload.kind, Kind::JobFile(_)) {
        let message = format!("{} is no file of jobs", job.display());
        return Err(Failure::input("fathom::tune::job", message)
            .help("name one in fio's syntax, whose name ends in .fio (`fathom list examples`)"));
    }
    workload.check()?;
    refuse_writes(&workload, job, path)?;
    Ok(Plan {
        target: path.display().to_string(),
        workload,
        arrival: Arrival::Open,
        precondition: Precondition::of(None, false),
        seed: args.trial.seed,
        queue: None,
        depth: None,
        platform: None,
    })
}

fn refuse_writes(workload: &Workload, job: &Path, path: &Path) -> Result<(), Failure> {
    if path.is_dir() || !workload.wants()?.writes {
        return Ok(());
    }
    let message = format!(
        "{} writes, and `fathom tune` writes to no drive and to no file that it has not made",
        job.display()
    );
    Err(Failure {
        exit: Exit::Refused,
        ..Failure::input("fathom::tune::writes", message).help(
            "take jobs that only read, or name a directory on the drive: the jobs then have a scratch file of their own",
        )
    })
}

/// Opens the target: a drive or a file for reading only, in a directory a scratch file, which is written once.
fn open(args: &TuneArgs, path: &Path, plan: &Plan) -> Result<Opened, Failure> {
    let wants = plan.workload.wants()?;
    let name = input::target(&plan.target)?;
    let options = OpenOptions {
        size: args.trial.size,
        destroy: None,
        read_only: !path.is_dir(),
        keep_data: wants.data,
        depth: Some(QueueDepth::Drive),
        seed: plan.seed,
        limit: None,
    };
    let mut opened = name.open(&plan.target, &options)?;
    check(plan, opened.device.info())?;
    let bound = match opened.scratch() {
        true => Bound::Workload,
        false => Bound::Nothing,
    };
    let consent = Consent {
        destroy: None,
        yes: args.trial.yes,
        read_only: !opened.scratch(),
        rated_bytes: None,
    };
    confirm(&opened, bound, consent)?;
    watch::listen()?;
    if opened.scratch() {
        scratch::write_once(&mut opened)?;
    }
    Ok(opened)
}

//! `fathom run`: runs a workload on a modelled or real drive, or two block layers in turn.

mod drive;
mod real;
mod show;
mod stacks;

use super::prepare::prepared;
use super::{image, options, queue, twin, workload};
use crate::args::RunArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Playing;
use crate::{out, watch};
use fathom_block::{Device, Subject};
use fathom_lab::ab::{KernelScheduler, ab};
use fathom_lab::platform::platform_of_run;
use fathom_lab::replay::{self, Plan, RunError, Seen, Watch, run_model};
use fathom_lab::store::{self, SetKind, Staging};
use fathom_lab::target::{Opened, TargetName};
use fathom_model::{Drive, Model};
use fathom_run::ab::Stack;
use fathom_run::{Precondition, RunRecord};
use fathom_workload::step::Arrival;

/// Runs the command under its old name `verb`, with a note.
pub(super) fn alias(verb: &str, args: &RunArgs) -> Result<Exit, Failure> {
    out::note(&format!(
        "note: `fathom {verb}` is now `fathom run`; the old name still works"
    ));
    run(args)
}

pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if let Some(allocator) = &args.image.alloc {
        return image::run(args, allocator);
    }
    let mut workload = workload::of(&args.workload)?;
    queue::tell(&mut workload, &args.queue)?;
    options::check_run(args, &workload.kind)?;
    for note in workload.job_notes()? {
        out::note(&format!("note: {note}"));
    }
    let turns = args.turns.ab.as_deref();
    let stacks = turns
        .map(|text| stacks::of(text, &args.queue))
        .transpose()?;
    // What can be wrong is found before a twin is made, which takes its time.
    workload.check()?;
    let queue = queue::of(&args.queue)?;
    let platform = args.model.platform.as_deref();
    let platform = platform.map(platform_of_run).transpose()?;
    let name = twin::target(&args.on)?;
    let model = drive::model(args, &name)?;
    let starts_full = model.as_ref().is_some_and(|model| !model.starts_empty());
    if starts_full && args.model.precondition == Some(Precondition::Fresh) {
        let message = format!("`--precondition fresh`: {} begins with data", args.on);
        return Err(Failure::input("fathom::run::precondition", message)
            .help("leave it out: the drive is taken as it is"));
    }
    let plan = Plan {
        target: args.on.clone(),
        workload,
        arrival: args.arrival.unwrap_or(Arrival::Open),
        precondition: Precondition::of(
            args.model.precondition,
            model.as_ref().is_some_and(Model::starts_empty),
        ),
        seed: args.workload.seed,
        queue,
        depth: args.queue.depth,
        platform,
    };
    let kind = match stacks {
        None => SetKind::Run,
        Some(_) => SetKind::Turns,
    };
    let set = args.out.as_deref().map(|dir| store::begin(dir, kind));
    let set = set.transpose()?;
    let kernel = stacks::kernel(stacks.as_ref(), &args.on, &name)?;
    let ready = match model {
        None => Ready::Real(Box::new(real::open(args, &name, &plan)?)),
        Some(model) => Ready::modelled(args, &name, model, &plan)?,
    };
    match stacks {
        None => once(args, &plan, ready, set),
        Some(stacks) => {
            let turns = Turns {
                stacks,
                kernel: kernel.as_ref(),
                rounds: args.turns.rounds,
            };
            in_turn(turns, &plan, ready, set, args.json)
        }
    }
}

/// A drive ready for a workload.
enum Ready {
    Modelled {
        model: Box<Model>,
        drive: Box<Drive>,
        /// A note for the reader of the results.
        note: Option<String>,
    },
    Real(Box<Opened>),
}

impl Ready {
    /// Builds the modelled drive in the state of the plan. It keeps data if the workload verifies it.
    fn modelled(
        args: &RunArgs,
        name: &TargetName,
        model: Model,
        plan: &Plan,
    ) -> Result<Self, Failure> {
        let note = drive::added_buffer(args, name, &model)?;
        watch::listen()?;
        let drive = model
            .build(plan.seed)
            .map_err(|error| Failure::input("fathom::target::drive", error.to_string()))?;
        if plan.platform.is_none() {
            // Before the drive is filled. The drives of a platform may be larger together.
            replay::check(plan, drive.info())?;
        }
        let drive = prepared(drive, plan.precondition, plan.seed)?;
        let drive = match plan.workload.wants()?.data {
            true => drive.keep_data(),
            false => drive,
        };
        Ok(Self::Modelled {
            model: Box::new(model),
            drive: Box::new(drive),
            note,
        })
    }

    fn device(&mut self) -> &mut dyn Subject {
        match self {
            Self::Modelled { drive, .. } => &mut **drive,
            Self::Real(opened) => &mut opened.device,
        }
    }

    /// Runs the plan once.
    fn play(
        self,
        plan: &Plan,
        requests: Option<&mut Staging>,
        watch: Watch<'_>,
    ) -> Result<RunRecord, RunError> {
        match self {
            Self::Modelled { model, drive, note } => {
                let mut record = run_model(&model, *drive, plan, requests, watch)?;
                record.notes.extend(note);
                Ok(record)
            }
            Self::Real(mut opened) => replay::run(&mut opened.device, plan, requests, watch),
        }
    }
}

/// Runs the plan once. A result that cannot be written is still printed.
fn once(
    args: &RunArgs,
    plan: &Plan,
    ready: Ready,
    mut set: Option<Staging>,
) -> Result<Exit, Failure> {
    let playing = Playing::new();
    let seen = |seen| playing.seen(seen);
    let played = ready.play(plan, set.as_mut(), watched(&seen));
    drop(playing);
    match played {
        Err(error) => ended(error),
        Ok(record) => show::record(args.json, &record, &plan.workload.job_notes()?, set),
    }
}

/// The two stacks of `--ab`.
struct Turns<'a> {
    stacks: [Stack; 2],
    kernel: Option<&'a KernelScheduler>,
    rounds: u32,
}

/// Runs two stacks in turn on one drive.
fn in_turn(
    turns: Turns<'_>,
    plan: &Plan,
    mut ready: Ready,
    set: Option<Staging>,
    json: bool,
) -> Result<Exit, Failure> {
    if let Ready::Modelled {
        note: Some(note), ..
    } = &ready
    {
        out::note(&format!("note: {note}"));
    }
    let playing = Playing::new();
    let seen = |seen| playing.seen(seen);
    let Turns {
        stacks,
        kernel,
        rounds,
    } = turns;
    let found = ab(ready.device(), plan, stacks, kernel, rounds, watched(&seen));
    drop(playing);
    // Restored before printing, which may block on a slow reader.
    stacks::put_back(kernel)?;
    match found {
        Err(error) => ended(error),
        Ok(found) => show::turns(json, &found, set),
    }
}

/// Returns a watch that stops on Ctrl-C and reports progress.
fn watched(seen: &dyn Fn(Seen)) -> Watch<'_> {
    Watch {
        stop: watch::interrupted,
        seen: Some(seen),
    }
}

/// Handles a run without a result.
fn ended(error: RunError) -> Result<Exit, Failure> {
    match error {
        RunError::Interrupted => {
            out::note("Interrupted; nothing is kept of a run that did not come to its end.");
            Ok(Exit::Negative)
        }
        error => Err(error.into()),
    }
}

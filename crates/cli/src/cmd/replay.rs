//! `fathom replay`: a trace, or a generated workload, through a drive.

use super::{outcome, page, queue, real, workload};
use crate::args::ReplayArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Playing;
use crate::{input, out, watch};
use fathom_lab::model::Model;
use fathom_lab::replay::{
    Outcome, Plan, Precondition, RunError, Seen, Watch, prepared, run_model_watched, run_watched,
};
use fathom_lab::store::{self, Staging};
use fathom_lab::target::{Setting, TargetName};

/// A write buffer for a drive that has none: the default of `epo` Table I.
const BUFFER: [(&str, &str); 2] = [
    ("write_buffer.capacity", "8MiB"),
    ("write_buffer.drain", "on-full"),
];
/// What a translation layer needs that a page-mapped drive's file does not say.
const LOG_BLOCKS: i64 = 256;
const MAP_CACHE: &str = "1MiB";

pub(super) fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let plan = Plan {
        target: args.on.clone(),
        workload: workload::of(&args.workload)?,
        arrival: args.arrival,
        precondition: args.precondition,
        seed: args.workload.seed,
        queue: queue::of(&args.queue)?,
        depth: args.queue.depth,
    };
    let mut set = args.out.as_deref().map(store::begin).transpose()?;
    match play(args, &plan, set.as_mut())? {
        Err(RunError::Interrupted) => {
            out::note("Interrupted; nothing is kept of a run that did not come to its end.");
            Ok(Exit::Negative)
        }
        Err(error) => Err(error.into()),
        Ok(outcome) => {
            // What cannot be written is still printed.
            let saved = set.map(|set| {
                let html = page::of_run(&outcome);
                store::save_outcome(set, &outcome, Some(&html))
            });
            show(&outcome, args.json)?;
            saved.transpose()?;
            Ok(match outcome.cut_short {
                None => Exit::Done,
                Some(_) => Exit::Negative,
            })
        }
    }
}

fn show(outcome: &Outcome, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(outcome);
    }
    out::text(&outcome::text(outcome, out::screen()))
}

/// Runs the plan; the inner result is the run's own.
fn play(
    args: &ReplayArgs,
    plan: &Plan,
    requests: Option<&mut Staging>,
) -> Result<Result<Outcome, RunError>, Failure> {
    let name = input::target(&args.on)?;
    let Some(mut model) = name.model(&settings(args, &name)?)? else {
        return real(args, &name, plan, requests);
    };
    if let Some(size) = args.real.size {
        model.resize(size).map_err(|error| {
            Failure::input("fathom::target::size", error.to_string())
                .help("choose another `--size`, or leave it out")
        })?;
    }
    watch::listen()?;
    let drive = model
        .build(args.workload.seed)
        .map_err(|error| Failure::input("fathom::target::drive", error.to_string()))?;
    let ran = prepared(drive, plan.precondition, plan.seed).and_then(|drive| {
        let playing = Playing::new();
        let seen = |seen| playing.seen(seen);
        let watch = watched(&seen);
        run_model_watched(&model, drive, plan, requests, watch)
    });
    if ran
        .as_ref()
        .is_ok_and(|outcome| reads_nothing(&model, outcome))
    {
        out::note(
            "The drive began without data: reading what was never written takes no time in flash. \
             `--precondition filled` writes it first.",
        );
    }
    Ok(ran)
}

/// Until Ctrl-C, with progress.
fn watched(seen: &dyn Fn(Seen)) -> Watch<'_> {
    Watch {
        stop: watch::interrupted,
        seen: Some(seen),
    }
}

/// Whether reads may have found what no drive in use has: places that were never written.
fn reads_nothing(model: &Model, outcome: &Outcome) -> bool {
    let fresh = outcome.plan.precondition == Precondition::Fresh;
    fresh && matches!(model, Model::Ssd(_)) && outcome.totals.reads.is_some()
}

fn real(
    args: &ReplayArgs,
    name: &TargetName,
    plan: &Plan,
    requests: Option<&mut Staging>,
) -> Result<Result<Outcome, RunError>, Failure> {
    let modelled = [
        ("--ftl", args.ftl.is_some()),
        ("--buffer", args.buffer.is_some()),
        ("--set", !args.set.is_empty()),
        ("--precondition", args.precondition != Precondition::Fresh),
    ];
    if let Some((flag, _)) = modelled.iter().find(|(_, given)| *given) {
        let message = format!(
            "`{flag}` is for modelled drives, and {} is a real one",
            args.on
        );
        return Err(Failure::input("fathom::replay::real", message)
            .help("leave it out, or name a modelled drive: model:NAME"));
    }
    let wants = plan.workload.wants()?;
    let flags = (&args.real, queue::real_depth(&args.queue));
    let mut opened = real::open(&args.on, name, flags, (wants, plan))?;
    let playing = Playing::new();
    let seen = |seen| playing.seen(seen);
    Ok(run_watched(
        &mut opened.device,
        plan,
        requests,
        watched(&seen),
    ))
}

/// What the flags change in the drive file.
fn settings(args: &ReplayArgs, name: &TargetName) -> Result<Vec<Setting>, Failure> {
    let mut settings = Vec::new();
    if let Some(ftl) = &args.ftl {
        settings.push(Setting::new("mapping.kind", ftl.as_str()));
        match ftl.as_str() {
            "page" => {}
            "dftl" => settings.push(Setting::new("mapping.map_cache", MAP_CACHE)),
            _ => settings.push(Setting::new("mapping.log_blocks", LOG_BLOCKS)),
        }
    }
    match args.buffer.as_deref() {
        None => {}
        Some("none") => settings.push(Setting::absent("write_buffer")),
        Some(policy) => {
            let buffered = name
                .model(&[])?
                .is_some_and(|model| model.has_write_buffer());
            if !buffered {
                settings.extend(BUFFER.map(|(key, value)| Setting::new(key, value)));
            }
            settings.push(Setting::new("write_buffer.policy", policy));
        }
    }
    settings.extend(args.set.iter().cloned());
    Ok(settings)
}

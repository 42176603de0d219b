//! `fathom replay`: a trace, or a generated workload, through a drive.

use super::{queue, real, workload};
use crate::args::ReplayArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Playing;
use crate::{input, out, watch};
use fathom_lab::replay::{Plan, RunError, Seen, Watch, prepared, run_model_watched, run_watched};
use fathom_lab::store::{self, Staging};
use fathom_lab::target::{Setting, TargetName};
use fathom_model::Model;
use fathom_run::RunRecord;
use std::str::FromStr as _;

/// A write buffer for a drive that has none: the default of `epo` Table I.
const BUFFER: [(&str, &str); 2] = [
    ("write_buffer.capacity", "8MiB"),
    ("write_buffer.drain", "on-full"),
];
/// What a translation layer needs that a page-mapped drive's file does not say.
const LOG_BLOCKS: i64 = 256;
const MAP_CACHE: &str = "1MiB";

pub(super) fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let name = input::target(&args.on)?;
    let model = model(args, &name)?;
    let plan = Plan {
        target: args.on.clone(),
        workload: workload::of(&args.workload)?,
        arrival: args.arrival,
        precondition: super::precondition(args.precondition, model.as_ref()),
        seed: args.workload.seed,
        queue: queue::of(&args.queue)?,
        depth: args.queue.depth,
    };
    let mut set = args.out.as_deref().map(store::begin).transpose()?;
    let played = match &model {
        Some(model) => {
            let note = added_buffer(args, &name, model)?;
            play(model, &plan, set.as_mut())?.map(|mut outcome| {
                outcome.notes.extend(note);
                outcome
            })
        }
        None => real(args, &name, &plan, set.as_mut())?,
    };
    match played {
        Err(RunError::Interrupted) => {
            out::note("Interrupted; nothing is kept of a run that did not come to its end.");
            Ok(Exit::Negative)
        }
        Err(error) => Err(error.into()),
        Ok(outcome) => {
            // What cannot be written is still printed.
            let saved = set.map(|set| {
                let html = fathom_report::run::page(&outcome);
                store::save_run_record(set, &outcome, Some(&html))
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

fn show(outcome: &RunRecord, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(outcome);
    }
    out::text(&fathom_report::run::text(outcome, out::screen()))
}

/// The modelled drive with what the flags change in it; `None` for a real one.
fn model(args: &ReplayArgs, name: &TargetName) -> Result<Option<Model>, Failure> {
    let Some(mut model) = name.model(&settings(args, name)?)? else {
        return Ok(None);
    };
    if let Some(size) = args.real.size {
        model.resize(size).map_err(|error| {
            Failure::input("fathom::target::size", error.to_string())
                .help("choose another `--size`, or leave it out")
        })?;
    }
    Ok(Some(model))
}

/// Runs the plan on a modelled drive; the inner result is the run's own.
fn play(
    model: &Model,
    plan: &Plan,
    requests: Option<&mut Staging>,
) -> Result<Result<RunRecord, RunError>, Failure> {
    watch::listen()?;
    let drive = model
        .build(plan.seed)
        .map_err(|error| Failure::input("fathom::target::drive", error.to_string()))?;
    Ok(
        prepared(drive, plan.precondition, plan.seed).and_then(|drive| {
            let playing = Playing::new();
            let seen = |seen| playing.seen(seen);
            run_model_watched(model, drive, plan, requests, watched(&seen))
        }),
    )
}

/// Until Ctrl-C, with progress.
fn watched(seen: &dyn Fn(Seen)) -> Watch<'_> {
    Watch {
        stop: watch::interrupted,
        seen: Some(seen),
    }
}

fn real(
    args: &ReplayArgs,
    name: &TargetName,
    plan: &Plan,
    requests: Option<&mut Staging>,
) -> Result<Result<RunRecord, RunError>, Failure> {
    let modelled = [
        ("--ftl", args.ftl.is_some()),
        ("--buffer", args.buffer.is_some()),
        ("--set", !args.set.is_empty()),
        ("--precondition", args.precondition.is_some()),
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
    if let Some(buffer) = &args.buffer {
        settings.extend(buffer_settings(buffer, adds_buffer(args, name)?)?);
    }
    settings.extend(args.set.iter().cloned());
    Ok(settings)
}

/// Whether the flags ask for a write buffer and the drive has none of its own.
fn adds_buffer(args: &ReplayArgs, name: &TargetName) -> Result<bool, Failure> {
    let wanted = args
        .buffer
        .as_deref()
        .is_some_and(|buffer| buffer != "none");
    let has_none = |model: Model| model.write_buffer().is_none();
    Ok(wanted && name.model(&[])?.is_some_and(has_none))
}

/// What `POLICY,KEY=VALUE,...` changes in a drive file, with the usual buffer where there is none.
fn buffer_settings(buffer: &str, adds: bool) -> Result<Vec<Setting>, Failure> {
    if buffer == "none" {
        return Ok(vec![Setting::absent("write_buffer")]);
    }
    let mut parts = buffer.split(',');
    let policy = parts.next().unwrap_or_default();
    let mut settings = Vec::new();
    if adds {
        settings.extend(BUFFER.map(|(key, value)| Setting::new(key, value)));
    }
    settings.push(Setting::new("write_buffer.policy", policy));
    for part in parts {
        settings.push(Setting::from_str(&format!("write_buffer.{part}"))?);
    }
    Ok(settings)
}

/// Says how large a write buffer is that the drive does not have of its own.
fn added_buffer(
    args: &ReplayArgs,
    name: &TargetName,
    model: &Model,
) -> Result<Option<String>, Failure> {
    let policy = args
        .buffer
        .as_deref()
        .and_then(|text| text.split(',').next());
    let capacity = model.write_buffer();
    let (Some(policy), Some(capacity), true) = (policy, capacity, adds_buffer(args, name)?) else {
        return Ok(None);
    };
    Ok(Some(format!(
        "{} has no write buffer; it was given one of {capacity} with the policy {policy}. `--buffer {policy},capacity=SIZE` \
         gives it another",
        args.on
    )))
}

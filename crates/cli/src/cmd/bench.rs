//! `fathom bench`: fio's jobs over a drive, modelled or real, through a block layer of ours; and two of those in turn.

mod stacks;

use super::workload::no_drive_file;
use super::{queue, real};
use crate::args::BenchArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out, watch};
use fathom_block::Subject;
use fathom_lab::ab::{KernelScheduler, ab as in_turn};
use fathom_lab::replay::{Plan, RunError, of_model, prepared, run as run_on};
use fathom_lab::source::Workload;
use fathom_lab::store::{self, Staging};
use fathom_lab::target::TargetName;
use fathom_model::Model;
use fathom_run::RunRecord;
use fathom_run::ab::{Ab, Stack};
use fathom_workload::step::Arrival;

pub(super) fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    input::text(&args.jobs)?;
    no_drive_file(&args.jobs, "file of jobs")?;
    let workload = Workload::of_jobs(&args.jobs);
    let wants = workload.wants()?;
    for note in workload.job_notes()? {
        out::note(&format!("note: {note}"));
    }
    let stacks = args
        .ab
        .as_deref()
        .map(|text| stacks::of(text, args))
        .transpose()?;
    let name = input::target(&args.on)?;
    let model = model(args, &name)?;
    let plan = Plan {
        target: args.on.clone(),
        workload,
        arrival: Arrival::Open,
        precondition: super::precondition(args.precondition, model.as_ref()),
        seed: args.seed,
        queue: queue::of(&args.queue)?,
        depth: args.queue.depth,
    };
    let set = args.out.as_deref().map(store::begin).transpose()?;
    let kernel = stacks::kernel(stacks.as_ref(), args, &name)?;
    let Some(model) = model else {
        if args.precondition.is_some() {
            let message = format!(
                "`--precondition` is for modelled drives, and {} is a real one",
                args.on
            );
            return Err(Failure::input("fathom::bench::real", message).help("leave it out"));
        }
        let flags = (&args.real, queue::real_depth(&args.queue));
        let mut opened = real::open(&args.on, &name, flags, (wants, &plan))?;
        let stacks = (stacks, kernel.as_ref(), set);
        return over(args, plan, stacks, (&mut opened.device, None));
    };
    watch::listen()?;
    let drive = model
        .build(args.seed)
        .map_err(|error| Failure::input("fathom::target::drive", error.to_string()))?;
    let drive = prepared(drive, plan.precondition, plan.seed)?;
    let mut drive = if wants.data { drive.keep_data() } else { drive };
    over(args, plan, (stacks, None, set), (&mut drive, Some(&model)))
}

/// The modelled drive of that name and size; `None` for a real one.
fn model(args: &BenchArgs, name: &TargetName) -> Result<Option<Model>, Failure> {
    let Some(mut model) = name.model(&args.set)? else {
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

/// Plays on a drive that is ready.
fn over(
    args: &BenchArgs,
    plan: Plan,
    (stacks, kernel, mut set): (
        Option<[Stack; 2]>,
        Option<&KernelScheduler>,
        Option<Staging>,
    ),
    (device, model): (&mut dyn Subject, Option<&Model>),
) -> Result<Exit, Failure> {
    let rounds = (args.rounds, watch::interrupted as fn() -> bool);
    let ended = match stacks {
        Some(stacks) => {
            let found = in_turn(device, &plan, stacks, kernel, rounds);
            // Before anything is printed: who reads it may take their time.
            stacks::put_back(kernel)?;
            found.map(|found| told_ab(args, &found, set))
        }
        None => run_on(device, &plan, set.as_mut(), watch::interrupted)
            .map(|outcome| match model {
                Some(model) => of_model(model, outcome),
                None => outcome,
            })
            .map(|outcome| told(args, &outcome, set)),
    };
    match ended {
        Err(RunError::Interrupted) => {
            out::note("Interrupted; nothing is kept of a run that did not come to its end.");
            Ok(Exit::Negative)
        }
        Err(error) => Err(error.into()),
        Ok(told) => told,
    }
}

/// Prints, what cannot be written as well.
fn told(args: &BenchArgs, outcome: &RunRecord, set: Option<Staging>) -> Result<Exit, Failure> {
    let saved = set.map(|set| {
        let html = fathom_report::run::page(outcome);
        store::save_run_record(set, outcome, Some(&html))
    });
    match args.json {
        true => out::json(outcome)?,
        // The notes stand on standard error already.
        false => {
            let outcome = RunRecord {
                notes: Vec::new(),
                ..outcome.clone()
            };
            out::text(&fathom_report::run::text(&outcome, out::screen()))?;
        }
    }
    saved.transpose()?;
    Ok(match outcome.cut_short {
        None => Exit::Done,
        Some(_) => Exit::Negative,
    })
}

fn told_ab(args: &BenchArgs, found: &Ab, set: Option<Staging>) -> Result<Exit, Failure> {
    let saved = set.map(|mut set| {
        // Plain numbers, names and lists: serialising them cannot fail.
        let json = serde_json::to_vec_pretty(found).unwrap_or_default();
        set.add(store::AB_FILE, &json)?;
        set.add(
            store::REPORT_FILE,
            fathom_report::ab::page(found).as_bytes(),
        )?;
        set.commit(&[])
    });
    match args.json {
        true => out::json(found)?,
        false => out::text(&fathom_report::ab::text(found, out::screen()))?,
    }
    saved.transpose()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_lab::source::Wants;

    #[test]
    fn reading_alone_asks_for_nothing_to_be_written() {
        let job = |text: &str| Workload {
            job: Some(text.into()),
            ..Workload::default()
        };
        let wants = |text| job(text).wants().map_err(|e| e.to_string());
        let reads = Wants {
            writes: false,
            data: false,
        };
        assert_eq!(wants("[a]\nrw=randread\n"), Ok(reads));
        let trims = Wants {
            writes: true,
            data: false,
        };
        assert_eq!(wants("[a]\nrw=randtrim\n"), Ok(trims));
        let all = Wants {
            writes: true,
            data: true,
        };
        assert_eq!(wants("[a]\nrw=write\nverify=crc32c\n"), Ok(all));
    }
}

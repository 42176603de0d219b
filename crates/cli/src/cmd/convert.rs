//! `fathom convert`: writes a workload as a trace.

use super::prepare::prepared;
use super::workload;
use crate::args::ConvertArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out, watch};
use fathom_lab::replay::{RunError, asked};
use fathom_lab::source::{SaveError, SavedAs, Workload, save, save_stream};
use fathom_model::Drive;
use fathom_run::Precondition;

pub(super) fn run(args: &ConvertArgs) -> Result<Exit, Failure> {
    let to = &args.to;
    let saved_as = SavedAs::of(to).ok_or_else(|| {
        let message = format!("the ending of {} names no format to write", to.display());
        Failure::input("fathom::convert::format", message)
            .help("FILE.parquet is Fathom's own format, FILE.trace DiskSim's")
    })?;
    watch::listen()?;
    let workload = workload::of(&args.workload)?;
    let (saved, notes) = match (workload.is_program(), &args.on) {
        (false, None) => {
            let mut accesses = workload.open(args.workload.seed)?;
            let saved = save_stream(&mut accesses, to, saved_as, watch::interrupted);
            (saved, accesses.notes())
        }
        (true, Some(on)) => match asked(
            &mut drive(on, &workload, args.workload.seed)?,
            &workload,
            args.workload.seed,
            watch::interrupted,
        ) {
            Err(RunError::Interrupted) => (Err(SaveError::Interrupted), Vec::new()),
            asked => {
                let accesses = asked?;
                let processes = accesses.iter().any(|access| access.process != 0);
                let accesses = accesses.into_iter().map(Ok);
                let saved = save(accesses, to, saved_as, processes, watch::interrupted);
                (saved, Vec::new())
            }
        },
        (true, None) => {
            let message = "what a program asks for depends on the drive's answers";
            return Err(Failure::input("fathom::convert::on", message)
                .help("name a modelled drive that answers: --on model:nvme"));
        }
        (false, Some(_)) => {
            let message = "`--on` is for programs and jobs: what this workload asks for is the same on any drive";
            return Err(Failure::input("fathom::convert::on", message).help("leave it out"));
        }
    };
    let count = match saved {
        Err(SaveError::Interrupted) => {
            out::note("Interrupted; nothing was written.");
            return Ok(Exit::Negative);
        }
        Err(SaveError::Source(error)) => return Err(error.into()),
        Err(SaveError::Store(error)) => return Err(error.into()),
        Err(error) => {
            return Err(Failure::input("fathom::convert::failed", error.to_string())
                .help("choose another file, or FILE.parquet, which takes every access"));
        }
        Ok(count) => count,
    };
    for note in notes {
        out::note(&format!("note: {note}"));
    }
    let what = if count == 1 { "access" } else { "accesses" };
    out::data(&format!("{count} {what} in {}\n", out::shown(to)))?;
    Ok(Exit::Done)
}

/// Returns a modelled drive in its default state for a workload.
fn drive(on: &str, workload: &Workload, seed: u64) -> Result<Drive, Failure> {
    let model = input::target(on)?.model(&[])?.ok_or_else(|| {
        let message = format!("{on} is a real drive, and `convert` only writes files");
        Failure::input("fathom::convert::on", message).help("name a modelled one: --on model:nvme")
    })?;
    let drive = model
        .build(seed)
        .map_err(|error| Failure::input("fathom::target::drive", error.to_string()))?;
    let drive = prepared(drive, Precondition::of(None, model.starts_empty()), seed)?;
    Ok(match workload.wants()?.data {
        true => drive.keep_data(),
        false => drive,
    })
}

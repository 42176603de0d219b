//! `fathom convert`: a workload written out as a trace.

use super::workload;
use crate::args::ConvertArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::source::{SaveError, SavedAs, save};

pub(super) fn run(args: &ConvertArgs) -> Result<Exit, Failure> {
    let to = &args.to;
    let saved_as = SavedAs::of(to).ok_or_else(|| {
        let message = format!("the ending of {} names no format to write", to.display());
        Failure::input("fathom::convert::format", message)
            .help("FILE.parquet is Fathom's own format, FILE.trace DiskSim's")
    })?;
    watch::on_interrupt()
        .map_err(|e| Failure::input("fathom::signal", "cannot listen for Ctrl-C").because(e))?;
    let mut accesses = workload::of(&args.workload)?.open(args.workload.seed)?;
    let count = match save(&mut accesses, to, saved_as, watch::interrupted) {
        Err(SaveError::Interrupted) => {
            out::note("Interrupted; nothing was written.");
            return Ok(Exit::Negative);
        }
        Err(SaveError::Source(error)) => return Err(error.into()),
        Err(error) => {
            return Err(Failure::input("fathom::convert::failed", error.to_string())
                .help("choose another file, or FILE.parquet, which takes every access"));
        }
        Ok(count) => count,
    };
    for note in accesses.notes() {
        out::note(&format!("note: {note}"));
    }
    out::data(&format!("{count} accesses in {}\n", to.display()))?;
    Ok(Exit::Done)
}

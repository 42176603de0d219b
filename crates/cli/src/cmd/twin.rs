//! `fathom twin`: a drive file that behaves like a measured drive.

use super::made;
use crate::args::TwinArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out, watch};
use fathom_lab::store::SetKind;
use fathom_lab::twin::{self, TwinError};
use fathom_report::twin::text;

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

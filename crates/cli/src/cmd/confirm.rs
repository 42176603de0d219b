//! Before the first byte is written to a real drive: what will be written where, and leave to do it.

use crate::args::ProbeArgs;
use crate::failure::Failure;
use crate::out;
use fathom_hostio::{Inspection, Kind};
use fathom_lab::target::Opened;
use fathom_report::text::human_bytes;

/// Tells the bound and asks. A scratch file is Fathom's own: without a terminal it goes ahead. What existed before
/// wants a word from a person, or both `--destroy` and `--yes`.
///
/// # Errors
/// Refused, when the answer is no or nobody can be asked.
pub(super) fn confirm(opened: &Opened, bound_bytes: u64, args: &ProbeArgs) -> Result<(), Failure> {
    let Some(found) = &opened.found else {
        return Ok(());
    };
    if opened.device.info().read_only || bound_bytes == 0 {
        out::note(&format!(
            "{}\nNothing will be written; what needs writing stays unanswered.{}",
            found.describe(),
            how_to_write(found, args)
        ));
        return Ok(());
    }
    let capacity = opened.target.capacity_bytes;
    out::note(&format!(
        "{}\nAt most {} will be written to {}.",
        found.describe(),
        human_bytes(bound_bytes),
        place(found, capacity)
    ));
    let scratch = found.kind == Kind::Directory;
    let allowed = if out::interactive() {
        args.yes || out::confirm("Go on?")
    } else {
        scratch || (args.yes && args.destroy.is_some())
    };
    if allowed {
        return Ok(());
    }
    let path = found.path.display();
    Err(Failure::refused(format!("nothing was written to {path}"))
        .help("answer `y`, or give both `--destroy NAME` and `--yes` where nobody can be asked"))
}

fn place(found: &Inspection, capacity_bytes: u64) -> String {
    let (path, size) = (found.path.display(), human_bytes(capacity_bytes));
    match found.kind {
        Kind::Directory => {
            format!("a scratch file of {size} in {path}, which is removed at the end")
        }
        Kind::File => format!("the file {path} ({size}), over what it holds"),
        Kind::Block => format!("the drive {path} ({size}), over what it holds"),
    }
}

fn how_to_write(found: &Inspection, args: &ProbeArgs) -> String {
    if found.kind == Kind::File && !args.read_only {
        let path = found.path.display();
        format!(" `--destroy {path}` would allow its contents to be overwritten.")
    } else {
        String::new()
    }
}

//! Before the first byte is written to a real drive: what will be written where, and leave to do it.

use crate::failure::Failure;
use crate::out;
use fathom_hostio::{Inspection, Kind};
use fathom_lab::target::Opened;
use fathom_report::text::human_bytes;

/// What the user has allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consent<'a> {
    /// `--destroy`.
    pub(super) destroy: Option<&'a str>,
    /// `--yes`.
    pub(super) yes: bool,
    /// `--read-only`.
    pub(super) read_only: bool,
}

/// What is going to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Nothing.
    Nothing,
    /// At most so many bytes.
    Bytes(u64),
    /// Whatever a workload writes.
    Workload,
}

/// Tells the bound and asks. A scratch file is Fathom's own: without a terminal it goes ahead. What existed before
/// wants a word from a person, or both `--destroy` and `--yes`.
///
/// # Errors
/// Refused, when the answer is no or nobody can be asked.
pub(super) fn confirm(opened: &Opened, bound: Bound, consent: Consent<'_>) -> Result<(), Failure> {
    let Some(found) = &opened.found else {
        return Ok(());
    };
    let read_only = opened.device.info().read_only;
    let written = match bound {
        _ if read_only => None,
        Bound::Nothing => None,
        Bound::Bytes(bytes) => Some(format!("At most {} will be written", human_bytes(bytes))),
        Bound::Workload => Some("What the workload writes goes".to_owned()),
    };
    let Some(written) = written else {
        let unanswered = match bound {
            Bound::Bytes(_) => "; what needs writing stays unanswered",
            _ => "",
        };
        out::note(&format!(
            "{}\nNothing will be written{unanswered}.{}",
            found.describe(),
            how_to_write(found, consent)
        ));
        return Ok(());
    };
    let capacity = opened.target.capacity_bytes;
    out::note(&format!(
        "{}\n{written} to {}.",
        found.describe(),
        place(found, capacity)
    ));
    let scratch = found.kind == Kind::Directory;
    let allowed = if out::interactive() {
        consent.yes || out::confirm("Go on?")
    } else {
        scratch || (consent.yes && consent.destroy.is_some())
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

fn how_to_write(found: &Inspection, consent: Consent<'_>) -> String {
    if found.kind == Kind::File && !consent.read_only {
        let path = found.path.display();
        format!(" `--destroy {path}` would allow its contents to be overwritten.")
    } else {
        String::new()
    }
}

//! Before the first write to a real drive: announces what will be written where, asks for permission, and checks the target
//! again.

use crate::failure::Failure;
use crate::out;
use fathom_hostio::{Inspection, Kind};
use fathom_lab::target::{Opened, TargetError};
use fathom_probe::run::Announcement;
use fathom_report::text::human_bytes;

/// Permissions and facts given by the user.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consent<'a> {
    /// `--destroy`.
    pub(super) destroy: Option<&'a str>,
    /// `--yes`.
    pub(super) yes: bool,
    /// `--read-only`.
    pub(super) read_only: bool,
    /// `--endurance`: rated endurance of the drive, in bytes written.
    pub(super) rated_bytes: Option<u64>,
}

/// Amount that will be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Nothing.
    Nothing,
    /// The announced number of bytes.
    Bytes(Announcement),
    /// As much as the workload writes.
    Workload,
}

/// Announces what will be written and asks the user, then checks the target once more. Without a terminal, `--yes` is
/// required, and for an existing target also `--destroy`.
///
/// # Errors
/// A refusal if the answer is no, if the user cannot be asked, or if the target changed before the answer.
pub(super) fn confirm(opened: &Opened, bound: Bound, consent: Consent<'_>) -> Result<(), Failure> {
    let Some(clearance) = &opened.clearance else {
        return Ok(());
    };
    let found = clearance.inspection();
    let read_only = opened.device.info().read_only;
    let written = match bound {
        _ if read_only => None,
        Bound::Nothing => None,
        Bound::Bytes(bytes) => Some(announced(bytes)),
        Bound::Workload => Some("What the workload writes goes".to_owned()),
    };
    let Some(written) = written else {
        let unanswered = match bound {
            Bound::Bytes(_) => "; parameters that need writes are reported as inconclusive",
            _ => "",
        };
        describe(found);
        let how = how_to_write(found, consent);
        out::note(&format!("Nothing will be written{unanswered}.{how}"));
        return Ok(());
    };
    let capacity = opened.target.capacity_bytes;
    describe(found);
    out::note(&format!(
        "{written} to {}.{}",
        place(found, capacity),
        worn(bound, consent)
    ));
    if !allowed(found, consent) {
        let path = out::shown(&found.path);
        return Err(
            Failure::refused(format!("nothing was written to {path}")).help(how_to_allow(found))
        );
    }
    clearance
        .renew()
        .map_err(|error| TargetError::from(error).into())
}

fn describe(found: &Inspection) {
    for line in found.describe() {
        out::note(&line);
    }
}

fn allowed(found: &Inspection, consent: Consent<'_>) -> bool {
    if out::interactive() {
        return consent.yes || out::confirm("Go on?");
    }
    consent.yes && (found.kind == Kind::Directory || consent.destroy.is_some())
}

fn how_to_allow(found: &Inspection) -> &'static str {
    match found.kind {
        Kind::Directory => "answer `y`, or give `--yes` where nobody can be asked",
        Kind::File | Kind::Block => {
            "answer `y`, or give both `--destroy NAME` and `--yes` where nobody can be asked"
        }
    }
}

fn announced(bytes: Announcement) -> String {
    let [expected, most] = [bytes.expected_bytes, bytes.bound_bytes].map(human_bytes);
    match bytes.expected_bytes < bytes.bound_bytes {
        true => format!("About {expected}, and at most {most}, will be written"),
        false => format!("At most {most} will be written"),
    }
}

/// Returns the share of the drive's rated endurance, if the user gave one.
fn worn(bound: Bound, consent: Consent<'_>) -> String {
    let (Bound::Bytes(bytes), Some(rated)) = (bound, consent.rated_bytes) else {
        return String::new();
    };
    let [expected, most] = [bytes.expected_bytes, bytes.bound_bytes]
        .map(|bytes| share(bytes as f64 / rated.max(1) as f64));
    format!(" That is {expected} of what it is rated for, at most {most}.")
}

/// Formats a share as a percentage with two significant digits.
fn share(of_one: f64) -> String {
    let percent = 100.0 * of_one;
    let digits = (1.0 - percent.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{percent:.digits$} %")
}

fn place(found: &Inspection, capacity_bytes: u64) -> String {
    let (path, size) = (out::shown(&found.path), human_bytes(capacity_bytes));
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
        let path = out::shown(&found.path);
        format!(" `--destroy {path}` would allow its contents to be overwritten.")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_two_digits_that_count() {
        let said = [0.5, 0.0123, 0.000_035, 2.0].map(share);
        assert_eq!(said, ["50 %", "1.2 %", "0.0035 %", "200 %"]);
    }
}

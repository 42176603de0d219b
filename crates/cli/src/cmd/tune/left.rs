//! Restores the settings that a killed process has left.

use crate::failure::Failure;
use crate::out;
use fathom_hostio::{Left, Outcome, restore_left};
use std::path::Path;

/// Restores what is left, and says so. `asked` is true if the user asked for nothing else.
///
/// # Errors
/// If the user asked for it and it could not be done.
pub(super) fn restore(journals: &Path, asked: bool) -> Result<(), Failure> {
    let all = restore_left(journals);
    if all.is_empty() && asked {
        out::note(&format!(
            "Nothing is left to put back: {} has no journal of a killed process.",
            out::shown(journals)
        ));
    }
    let mut failed = Ok(());
    for left in all {
        say(&left);
        if let Outcome::Failed(error) = &left.outcome {
            let message = format!("the settings of {} are not put back: {error}", left.drive);
            let failure = Failure::input("fathom::tune::restore", message)
                .help("run `fathom tune --restore` as root");
            match asked {
                true => failed = Err(failure),
                false => out::note(&format!("warning: {}", failure.message)),
            }
        }
    }
    failed
}

fn say(left: &Left) {
    let drive = &left.drive;
    match &left.outcome {
        Outcome::Restored(back) => {
            let changed = !back.is_empty() || !left.changed_since.is_empty();
            let back: Vec<String> = back
                .iter()
                .map(|[attribute, old]| format!("{attribute} = {old}"))
                .collect();
            let what = match back.is_empty() {
                true => "nothing".to_owned(),
                false => back.join(", "),
            };
            match changed {
                true => out::note(&format!(
                    "A `fathom tune` was killed while it had changed {drive}; put back: {what}."
                )),
                false => out::note(&format!(
                    "A `fathom tune` was killed before it had changed {drive}; nothing is left to put back."
                )),
            }
        }
        Outcome::Gone => out::note(&format!(
            "A `fathom tune` was killed while it had changed {drive}, which is gone; nothing is left to put back."
        )),
        Outcome::InUse => out::note(&format!("Another `fathom tune` is changing {drive} now.")),
        _ => {}
    }
    for [attribute, now, old] in &left.changed_since {
        out::note(&format!(
            "{attribute} of {drive} was {old}, and somebody has set {now} since; it was left alone."
        ));
    }
}

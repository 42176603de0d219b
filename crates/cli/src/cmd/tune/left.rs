//! Restores the settings that a killed process has left.

use crate::failure::Failure;
use crate::out;
use fathom_hostio::{HostError, Left, Outcome, Since, restore_left};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const CODE: &str = "fathom::tune::restore";

/// Restores what is left, and says so. `asked` is true if the user asked for nothing else.
///
/// # Errors
/// If the user asked for it and it could not be done.
pub(super) fn restore(journals: &Path, asked: bool) -> Result<(), Failure> {
    if asked {
        readable(journals)?;
    }
    let all = restore_left(journals);
    if all.is_empty() && asked {
        out::note(&format!(
            "Nothing is left to put back: {} has no journal of a killed process.",
            out::shown(journals)
        ));
    }
    let mut ended = Ok(());
    for left in all {
        say(&left);
        let Some(failure) = failed(&left) else {
            continue;
        };
        match asked {
            true => ended = Err(failure),
            false => out::note(&format!(
                "warning: {}; {}",
                failure.message,
                failure.help.as_deref().unwrap_or_default()
            )),
        }
    }
    ended
}

/// Checks that the directory can be read. One that is missing has no journal.
fn readable(journals: &Path) -> Result<(), Failure> {
    match fs::read_dir(journals) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => {
            let message = format!(
                "no journal can be looked for in {}: {error}",
                out::shown(journals)
            );
            Err(Failure::input(CODE, message)
                .help("name the directory of the journals with `--journal`, and run it as root"))
        }
    }
}

/// Returns what could not be done.
fn failed(left: &Left) -> Option<Failure> {
    let drive = &left.drive;
    let (message, help) = match &left.outcome {
        Outcome::Failed(error) => {
            let help = match error {
                HostError::NoPermission { .. } => "run `fathom tune --restore` as root".to_owned(),
                _ => format!(
                    "the journal {} has the old values and stays: put them back by hand, and remove it",
                    out::shown(&left.journal)
                ),
            };
            (
                format!("the settings of {drive} are not put back: {error}"),
                help,
            )
        }
        Outcome::Damaged(why) => (
            format!(
                "the journal {} is damaged and stays ({why}); no setting of {drive} is put back",
                out::shown(&left.journal)
            ),
            format!(
                "its lines `set` and `keep` name attributes in /sys/block/{drive}/queue with the values before: put back by \
                 hand what can be read, and remove it"
            ),
        ),
        _ => return None,
    };
    Some(Failure::input(CODE, message).help(help))
}

fn say(left: &Left) {
    let drive = &left.drive;
    match &left.outcome {
        Outcome::Restored(back) => {
            let changed = !back.is_empty() || !left.since.is_empty();
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
                    "A `fathom tune` of {drive} was killed before it had changed anything, or after it had put all back; nothing is \
                     left to do."
                )),
            }
        }
        Outcome::Gone => out::note(&format!(
            "A `fathom tune` was killed while it had changed {drive}, which is gone; nothing is left to put back."
        )),
        Outcome::InUse => out::note(&format!("Another `fathom tune` is changing {drive} now.")),
        _ => {}
    }
    for since in &left.since {
        out::note(&of_others(since, drive));
    }
}

/// Says what somebody else has set.
fn of_others(since: &Since, drive: &str) -> String {
    let Since {
        attribute,
        old,
        set,
        now,
    } = since;
    let Some(set) = set else {
        return format!(
            "{attribute} of {drive} was {old}; it went with the scheduler, which somebody has switched since."
        );
    };
    let left = format!("{attribute} of {drive} was {old}, and somebody has set {set} since");
    match now {
        Some(now) if now == set => format!("{left}; it was left alone."),
        Some(now) => format!("{left}; with what was put back the kernel has made {now} of it."),
        None => format!("{left}; it went with the scheduler that was put back."),
    }
}

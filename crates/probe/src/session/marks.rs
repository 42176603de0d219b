//! Entries of a record that are no work: how a parameter ended, and the cost of work without a result.
//!
//! They are stored as steps without samples, so that the record alone tells which parameters were measured to their end, why
//! the others were not, and what all of it cost.

use crate::{Parameter, Record, Step};

/// The name of the entry of a parameter that was measured to its end.
const END: &str = "end";
/// The name of the entry of a parameter that was given up begins like this; the reason follows. Its cost is that of the step
/// that was cut short.
const STOPPED: &str = "stopped: ";
/// The name of the entry of a parameter whose question does not fit the drive begins like this; the reason follows.
const SKIPPED: &str = "skipped: ";
/// The name of the entry of a step that was cut short by the end of a run begins like this; the step's name follows. Its
/// cost was spent without a result.
const ABANDONED: &str = "abandoned ";

/// How the measurement of a parameter ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was measured to its end.
    Whole,
    /// It was given up, for this reason.
    Stopped(String),
    /// Its question does not fit the drive, for this reason.
    Skipped(String),
    /// The run ended before it began or while it was measured.
    Open,
}

/// Returns how the measurement of `parameter` ended in `record`.
pub fn ending(record: &Record, parameter: Parameter) -> Ending {
    let steps = record.steps.iter().filter(|s| s.parameter == parameter);
    for step in steps {
        if step.name == END {
            return Ending::Whole;
        }
        if let Some(reason) = step.name.strip_prefix(STOPPED) {
            return Ending::Stopped(reason.to_owned());
        }
        if let Some(reason) = step.name.strip_prefix(SKIPPED) {
            return Ending::Skipped(reason.to_owned());
        }
    }
    Ending::Open
}

/// Returns true if a step of a record is one of these entries.
pub(super) fn is_mark(step: &Step) -> bool {
    let marks = [STOPPED, SKIPPED, ABANDONED];
    step.name == END || marks.iter().any(|mark| step.name.starts_with(mark))
}

pub(super) fn end() -> String {
    END.to_owned()
}

pub(super) fn stopped(reason: &str) -> String {
    format!("{STOPPED}{reason}")
}

pub(super) fn skipped(reason: &str) -> String {
    format!("{SKIPPED}{reason}")
}

/// `count` makes the name unique.
pub(super) fn abandoned(count: usize, step: &str) -> String {
    format!("{ABANDONED}{count}: {step}")
}

/// Returns the text of a `stopped` or `abandoned` entry: the reason, or the name of the step that was cut short.
pub(super) fn subject(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(_, subject)| subject)
}

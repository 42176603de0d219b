//! Entries of a record that are no work: how a parameter ended, and what was spent without a result.
//!
//! They stand among the steps, without samples, so that a record alone tells which parameters were measured to
//! their end, why the others were not, and what all of it cost.

use crate::{Parameter, Record, Step};

/// The parameter was measured to its end.
const END: &str = "end";
/// The parameter was given up; the reason follows. Its cost is that of the step that was cut short.
const STOPPED: &str = "stopped: ";
/// A step was cut short by the end of a run; its name follows. Its cost was spent for nothing.
const ABANDONED: &str = "abandoned ";

/// How one parameter stands in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Measured to its end.
    Whole,
    /// Given up, and why.
    Stopped(String),
    /// Not reached, or cut short by the end of the run.
    Open,
}

/// How `parameter` stands in `record`.
pub fn ending(record: &Record, parameter: Parameter) -> Ending {
    let steps = record.steps.iter().filter(|s| s.parameter == parameter);
    for step in steps {
        if step.name == END {
            return Ending::Whole;
        }
        if let Some(reason) = step.name.strip_prefix(STOPPED) {
            return Ending::Stopped(reason.to_owned());
        }
    }
    Ending::Open
}

/// Whether a step of a record is one of these entries.
pub(super) fn is_mark(step: &Step) -> bool {
    step.name == END || step.name.starts_with(STOPPED) || step.name.starts_with(ABANDONED)
}

pub(super) fn end() -> String {
    END.to_owned()
}

pub(super) fn stopped(reason: &str) -> String {
    format!("{STOPPED}{reason}")
}

/// `count` makes the name unique.
pub(super) fn abandoned(count: usize, step: &str) -> String {
    format!("{ABANDONED}{count}: {step}")
}

/// What an entry that is no end is about: a reason, or the step that was cut short.
pub(super) fn subject(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(_, subject)| subject)
}

//! The reasons for which a step, a parameter or a run ends early.

use crate::parameters::Parameter;
use crate::robust::size::time;
use fathom_base::Bytes;
use fathom_block::{IoError, IoErrorKind};

/// Says what a parameter needs that the budget of bytes does not cover. One that writes nothing waits for those before it.
fn unreached(needs: u64, left: u64, allow: u64) -> String {
    let allow = allow.div_ceil(1 << 20);
    match needs {
        0 => format!(
            "comes after a parameter that the budget of bytes does not cover; allow at least {allow} MiB"
        ),
        _ if left < 1 << 20 => format!(
            "needs about {} MiB, and those before it need the whole budget of bytes; allow at least {allow} MiB",
            needs.div_ceil(1 << 20)
        ),
        _ => format!(
            "needs about {} MiB and the budget of bytes leaves {} MiB for it; allow at least {allow} MiB",
            needs.div_ceil(1 << 20),
            left >> 20
        ),
    }
}

/// The reason for which a step, a parameter or a run ended early. `Stop::ends_run` tells which of them ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The next write would exceed the bytes that the run allows for the parameter.
    #[error(
        "what a run may write for this parameter is spent and the answer is not settled: the drive is too uneven"
    )]
    Allowance {
        /// The bytes of the next write or fill.
        wanted: u64,
        /// The bytes that may still be written for the parameter.
        left: u64,
    },
    /// The next write would exceed the user's budget.
    #[error(
        "the budget of bytes is spent: {} were to be written and {} are left; allow more",
        Bytes(*wanted).human(), Bytes(*left).human()
    )]
    BudgetBytes {
        /// The bytes of the next write or fill.
        wanted: u64,
        /// The bytes that may still be written.
        left: u64,
    },
    /// The user's budget does not cover the parameter.
    #[error("{}", unreached(*needs_bytes, *left_bytes, *allow_bytes))]
    Unreached {
        /// The bytes that it is expected to write.
        needs_bytes: u64,
        /// The bytes that are left for it.
        left_bytes: u64,
        /// A budget that is expected to suffice, in bytes.
        allow_bytes: u64,
    },
    /// The user's budget of time on the drive's clock is spent.
    #[error(
        "the budget of time does not suffice: {} of {} are spent, and what comes next takes longer than the rest; allow more", time(*spent_ns as f64), time(*budget_ns as f64)
    )]
    BudgetTime {
        /// The time spent so far, in nanoseconds.
        spent_ns: u64,
        /// The time allowed, in nanoseconds.
        budget_ns: u64,
    },
    /// At the quick level, the part of the bytes that one of many parameters may write is spent.
    #[error(
        "writes more than {}, its part of the {} of all; ask for it alone, or at the full level",
        Bytes(*part).human(), Bytes(*budget).human()
    )]
    PartBytes {
        /// The part, in bytes.
        part: u64,
        /// The bytes of all.
        budget: u64,
    },
    /// At the quick level, the part of the time that one of many parameters may take is spent.
    #[error(
        "takes longer than {}, its part of the {} of all; ask for it alone, or at the full level",
        time(*part_ns as f64), time(*budget_ns as f64)
    )]
    PartTime {
        /// The part, in nanoseconds.
        part_ns: u64,
        /// The time of all, in nanoseconds.
        budget_ns: u64,
    },
    /// The parameter cannot be measured without writing, and the run is read-only.
    #[error("needs writing, and the run is read-only; allow writing")]
    ReadOnly,
    /// The run is read-only, and too little of what it reads holds data.
    #[error(
        "the run is read-only, and data was found in only {percent} % of the places that it looked at: a drive answers a read \
         of a place that was never written without its flash, which measures nothing; write data to all of it first, or \
         allow writing"
    )]
    Unwritten {
        /// The percentage of the checked places that hold data, rounded down.
        percent: u32,
    },
    /// A request failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A modelled drive, run again, did not do what the record says.
    #[error(
        "step `{step}` of {parameter} went otherwise than in the record: the record is of another drive or \
         version; start a new one"
    )]
    Mismatch {
        /// The parameter of the step.
        parameter: Parameter,
        /// The name of the step.
        step: String,
    },
    /// Two steps of one parameter have the same name, so resuming could not distinguish them.
    #[error("step `{step}` of {parameter} ran twice: a fault of the probe; report it")]
    Repeated {
        /// The parameter of the steps.
        parameter: Parameter,
        /// The name of the steps.
        step: String,
    },
}

impl Stop {
    /// Returns true if the whole run ends and not only the parameter. A medium error and a request that the drive does not
    /// support concern one parameter; a drive that is gone, full or fails in unknown ways concerns all.
    pub(crate) fn ends_run(&self) -> bool {
        match self {
            Stop::Allowance { .. }
            | Stop::BudgetBytes { .. }
            | Stop::Unreached { .. }
            | Stop::BudgetTime { .. }
            | Stop::PartTime { .. }
            | Stop::PartBytes { .. }
            | Stop::ReadOnly
            | Stop::Unwritten { .. } => false,
            Stop::Io(error) => {
                !matches!(error.kind, IoErrorKind::Medium | IoErrorKind::Unsupported)
            }
            Stop::Interrupted | Stop::Mismatch { .. } | Stop::Repeated { .. } => true,
        }
    }
}

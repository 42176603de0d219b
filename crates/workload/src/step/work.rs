//! The interface of a step: its settings, and its work on each access.

use fathom_base::{BadValue, Bytes, want};
use fathom_block::{Access, Op};
use std::collections::BTreeMap;

/// The reason why a step cannot process an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The access ends past the end of the drive.
    #[error(
        "it ends past the capacity of {0}: use a larger drive, make the addresses fit before (`shrink,capacity={0}` or \
         `wrap,capacity={0}`), or let `clip` drop it"
    )]
    PastEnd(Bytes),
    /// The access is longer than the whole capacity.
    #[error("it is longer than the capacity of {0}: use a larger drive")]
    LongerThan(Bytes),
    /// The access ends after the given span.
    #[error("it ends behind the span of {0}: give the whole span of the trace, or leave it out")]
    PastSpan(Bytes),
    /// The access's disk is not among the given disks.
    #[error("its disk is not listed: add it, or choose a disk first")]
    UnknownDisk,
    /// After rounding, the access would end beyond 2^64 bytes.
    #[error("rounded up it ends behind 2^64 bytes: the address in the trace is wrong")]
    TooFar,
    /// After scaling, its time would be 2^64 ns or later.
    #[error("scaled, its time is later than 2^64 ns: use a smaller factor")]
    TooLate,
}

/// The result of a step for one access: the access, changed or not; `None` if it is dropped; or a problem.
pub(crate) type Verdict = Result<Option<Access>, Problem>;

/// A step at work.
pub(crate) trait Work {
    /// Validates the settings of a step that has no state beyond them.
    fn check(&self) -> Result<(), BadValue> {
        Ok(())
    }

    /// Processes an access.
    fn shape(&mut self, access: Access) -> Verdict;

    /// Returns a further piece of the last access that passed, if it was split.
    fn rest(&mut self) -> Option<Access> {
        None
    }

    /// Returns true if the step accepts no more accesses, so that none has to be read.
    fn full(&self) -> bool {
        false
    }
}

/// The settings of a step.
pub(crate) trait Settings {
    /// Validates the settings.
    fn check(&self) -> Result<(), BadValue> {
        Ok(())
    }

    /// Makes the step at work.
    fn work(&self) -> Box<dyn Work>;

    /// Returns true if a first pass is needed to find where the trace ends.
    fn needs_survey(&self) -> bool {
        false
    }

    /// Fills in settings from the first pass.
    fn learn(&mut self, _survey: &Survey) {}
}

/// A step without a state works with a copy of its settings.
impl<S: Work + Copy + 'static> Settings for S {
    fn check(&self) -> Result<(), BadValue> {
        Work::check(self)
    }

    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}

/// Refuses a length of zero; `how` is the advice in the error message.
pub(super) fn given(length: Bytes, key: &'static str, how: &str) -> Result<(), BadValue> {
    want(length > Bytes(0), key, "zero", || how.to_owned())
}

/// The result of a first pass over a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// The end of the last access in address order, by disk. Disks with flushes only are not included.
    pub(crate) disks: BTreeMap<u32, u64>,
}

impl Survey {
    /// Returns the largest end of any access, on any disk.
    pub(super) fn end(&self) -> u64 {
        self.disks.values().copied().max().unwrap_or(0)
    }

    pub(super) fn add(&mut self, access: &Access) {
        if access.op != Op::Flush {
            let end = self.disks.entry(access.disk).or_default();
            *end = (*end).max(access.end());
        }
    }
}

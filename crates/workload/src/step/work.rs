//! What a step is: its settings, and what it says to each access.

use fathom_base::{BadValue, Bytes, want};
use fathom_block::{Access, Op};
use std::collections::BTreeMap;

/// Why a step cannot take an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It ends past the end of the drive.
    #[error(
        "it ends past the capacity of {0}: use a larger drive, make the addresses fit before (`shrink,capacity={0}` or \
         `wrap,capacity={0}`), or let `clip` drop it"
    )]
    PastEnd(Bytes),
    /// It is longer than the whole capacity.
    #[error("it is longer than the capacity of {0}: use a larger drive")]
    LongerThan(Bytes),
    /// It ends behind the span that the step was told.
    #[error("it ends behind the span of {0}: give the whole span of the trace, or leave it out")]
    PastSpan(Bytes),
    /// Its disk is not among those that the step was told.
    #[error("its disk is not listed: add it, or choose a disk first")]
    UnknownDisk,
    /// Rounded, it would end behind 2^64 bytes.
    #[error("rounded up it ends behind 2^64 bytes: the address in the trace is wrong")]
    TooFar,
    /// Scaled, its time would be later than 2^64 ns.
    #[error("scaled, its time is later than 2^64 ns: use a smaller factor")]
    TooLate,
}

/// What a step says to one access: it goes on, changed or not, or no further; or the step cannot take it.
pub(crate) type Verdict = Result<Option<Access>, Problem>;

/// A step at work.
pub(crate) trait Work {
    /// What becomes of an access.
    fn shape(&mut self, access: Access) -> Verdict;

    /// A further piece of the last access that passed.
    fn rest(&mut self) -> Option<Access> {
        None
    }

    /// Whether it takes no further access, so that none needs to be read.
    fn full(&self) -> bool {
        false
    }
}

/// The settings of a step.
pub(crate) trait Settings {
    /// What is wrong with them, if anything.
    fn check(&self) -> Result<(), BadValue> {
        Ok(())
    }

    /// The step, ready to work.
    fn work(&self) -> Box<dyn Work>;

    /// Whether a first pass has to say where the trace ends.
    fn needs_survey(&self) -> bool {
        false
    }

    /// Takes what the first pass found.
    fn learn(&mut self, _survey: &Survey) {}
}

/// Refuses a length of zero; `how` says what to give.
pub(super) fn given(length: Bytes, key: &'static str, how: &str) -> Result<(), BadValue> {
    want(length > Bytes(0), key, "zero", || how.to_owned())
}

/// What a first pass over a workload finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// The first byte behind every access, by disk. A disk with flushes only is not here.
    pub(crate) disks: BTreeMap<u32, u64>,
}

impl Survey {
    /// The first byte behind every access, on whichever disk.
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

//! The limits of a step. They are checked before every transfer, so no limit is ever exceeded.

use super::stop::Stop;
use fathom_base::Dur;
use fathom_block::{IoError, IoErrorKind, Op};
use std::ops::Range;

/// The limits of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The bytes left of the user's budget when the step begins.
    pub(super) budget_left: u64,
    /// The bytes that the parameter may still write when the step begins.
    pub(super) allowance_left: u64,
    /// The time spent when the step begins, and the time allowed, in nanoseconds; `None` without a limit.
    pub(super) time_ns: Option<(u64, u64)>,
    /// Whether writes are refused.
    pub(super) read_only: bool,
    /// The region that no transfer may leave, in bytes.
    pub(super) region: Range<u64>,
}

impl Limits {
    /// Checks that the transfers of `list` are allowed after this step has written `written` bytes. Returns their total
    /// length.
    pub(super) fn check(&self, op: Op, list: &[(u64, u64)], written: u64) -> Result<u64, Stop> {
        if op == Op::Flush {
            return Ok(0);
        }
        let mut bytes = 0u64;
        for &(offset, len) in list {
            if offset < self.region.start || offset.saturating_add(len) > self.region.end {
                let kind = IoErrorKind::OutOfRange;
                return Err(Stop::Io(IoError {
                    kind,
                    op,
                    offset,
                    len,
                }));
            }
            bytes = bytes.saturating_add(len);
        }
        if op != Op::Read && self.read_only {
            return Err(Stop::ReadOnly);
        }
        if op == Op::Write {
            self.check_bytes(bytes, written)?;
        }
        Ok(bytes)
    }

    /// Checks that `wanted` more bytes may be written after this step has written `written`.
    pub(super) fn check_bytes(&self, wanted: u64, written: u64) -> Result<(), Stop> {
        if self.read_only {
            return Err(Stop::ReadOnly);
        }
        let left = self.budget_left.saturating_sub(written);
        if wanted > left {
            return Err(Stop::BudgetBytes { wanted, left });
        }
        let left = self.allowance_left.saturating_sub(written);
        if wanted > left {
            return Err(Stop::Allowance { wanted, left });
        }
        Ok(())
    }

    /// Checks that the step may go on for `pause` after it has spent `spent`.
    pub(super) fn check_time(&self, spent: Dur, pause: Dur) -> Result<(), Stop> {
        let Some((before_ns, budget_ns)) = self.time_ns else {
            return Ok(());
        };
        let spent_ns = before_ns.saturating_add(spent.0);
        if spent_ns.saturating_add(pause.0) >= budget_ns {
            return Err(Stop::BudgetTime {
                spent_ns,
                budget_ns,
            });
        }
        Ok(())
    }
}

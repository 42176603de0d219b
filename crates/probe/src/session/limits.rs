//! What a step may still spend, and where: checked before every transfer, so that nothing is ever exceeded.

use super::stop::Stop;
use fathom_base::Dur;
use fathom_block::{IoError, IoErrorKind, Op};
use std::ops::Range;

/// The limits of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of the user's budget when the step begins.
    pub(super) budget_left: u64,
    /// Bytes that the parameter may still write when the step begins.
    pub(super) allowance_left: u64,
    /// Spent when the step begins, and allowed, in nanoseconds.
    pub(super) time_ns: Option<(u64, u64)>,
    /// Whether writes are refused.
    pub(super) read_only: bool,
    /// No transfer leaves it.
    pub(super) region: Range<u64>,
}

impl Limits {
    /// Whether the transfers of `list` may be made after `written` bytes of this step; their length.
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

    /// Whether `wanted` more bytes may be written after `written` of this step.
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

    /// Whether the step may go on for `pause` after `spent` of its own.
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

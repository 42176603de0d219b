//! The state of a process with respect to the zones of a drive (`zonemode=zbd`).

use crate::program::fio::job::Job;
use fathom_block::zoned::ZoneAction;
use fathom_block::{Access, Op};

/// Where a process goes next.
pub(super) enum Place {
    /// To these bytes, by this operation.
    At(Op, u64, u64),
    /// First it resets or finishes the zone of this start and length.
    First(ZoneAction, u64, u64),
    /// Nowhere before another access is done.
    Later,
    /// Nowhere in this pass.
    None,
}

/// Why a process cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Trouble {
    /// It found no data before its first access.
    NothingHeld,
    /// It may write to no zone, unless another process fills or resets one.
    NoZone,
}

/// The state of a process with respect to zones.
#[derive(Clone, Debug, Default)]
pub(super) struct InZones {
    pub(super) zbd: bool,
    /// Size of a zone for appends, in bytes; 0 if writes are no appends.
    append: bool,
    pub(super) zone_bytes: u64,
    /// True if its zones are reset before each pass.
    clears: bool,
    /// True until they are.
    pub(super) clearing: bool,
    /// A place that was drawn and waits for its zone.
    pub(super) drawn: Option<(Op, u64, u64)>,
    pub(super) trouble: Option<Trouble>,
}

impl InZones {
    pub(super) fn new(job: &Job) -> Self {
        let zbd = job.zones.zbd;
        let clears = zbd && job.verify;
        Self {
            zbd,
            append: job.zones.zone_append,
            clears,
            clearing: clears,
            ..Self::default()
        }
    }

    pub(super) fn begin_pass(&mut self) {
        (self.clearing, self.drawn) = (self.clears, None);
    }

    /// Returns the request for an access: an append for a write, and a reset for a trim.
    pub(super) fn access(&self, access: Access) -> Access {
        match access.op {
            Op::Write if self.zbd && self.append => Access {
                op: Op::Append,
                offset: access.offset - access.offset % self.zone_bytes.max(1),
                ..access
            },
            Op::Trim if self.zbd => Access {
                op: Op::Zone(ZoneAction::Reset),
                ..access
            },
            _ => access,
        }
    }
}

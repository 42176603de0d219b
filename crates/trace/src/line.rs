//! What the text formats share: what a line is, how it is read, and what no access may be.

use super::Access;
use super::fault::Fault;
use super::fields::too_large;
use fathom_base::{Bytes, Time};
use fathom_block::Op;
use serde::{Deserialize, Serialize};

/// Which events of blkparse and blktrace are accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockEvent {
    /// What is sent to the driver (D): after merging and scheduling, which is what a drive sees.
    #[default]
    Dispatch,
    /// What comes from above (Q): before merging and scheduling.
    Queue,
}

/// What the formats of blkparse and DiskSim leave open.
pub(super) struct Choices {
    /// Which events are accesses.
    pub(super) block_event: BlockEvent,
    /// What the fourth column of a DiskSim trace counts.
    pub(super) disksim_size_unit: Bytes,
}

/// What a line is.
pub(super) enum Line {
    /// An access; its time is the trace's own, not yet since the first access.
    Access(Access),
    /// Something that the format knows and that is no access, such as another event.
    Event,
    /// Text around the records.
    Text,
}

/// Reads the lines of a text format.
pub(super) trait LineParser: Send {
    /// A first line that names the columns: what tells nothing new to a format whose columns are known.
    fn names<'a>(&mut self, _line: &'a [u8]) -> Result<(), Fault<'a>> {
        Ok(())
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>>;
}

/// An access out of its fields.
pub(super) fn access<'a>(
    at_ns: u64,
    op: Op,
    offset: u64,
    len: u64,
    disk: u32,
) -> Result<Line, Fault<'a>> {
    check(op, offset, len)?;
    Ok(Line::Access(Access {
        at: Time(at_ns),
        op,
        offset,
        len,
        disk,
    }))
}

/// What no access may be: empty, or beyond the end of the address space.
pub(super) fn check<'a>(op: Op, offset: u64, len: u64) -> Result<(), Fault<'a>> {
    if len == 0 && op != Op::Flush {
        return Err(Fault::zero_length());
    }
    if offset.checked_add(len).is_none() {
        return Err(too_large("offset + length", b"beyond 2^64"));
    }
    Ok(())
}

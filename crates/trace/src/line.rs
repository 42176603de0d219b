//! The interface of the text formats: the result of a line, the parser trait, and the checks of every access.

use super::Access;
use super::fault::Fault;
use super::fields::too_large;
use fathom_base::{Bytes, Time};
use fathom_block::Op;
use serde::{Deserialize, Serialize};

/// The events of blkparse and blktrace that count as accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockEvent {
    /// Requests sent to the driver (D), after merging and scheduling: the requests that the drive receives.
    #[default]
    Dispatch,
    /// Requests entering the block layer (Q), before merging and scheduling.
    Queue,
}

/// Options of the parsers for blkparse and DiskSim traces.
pub(super) struct Choices {
    /// The events that count as accesses.
    pub(super) block_event: BlockEvent,
    /// Unit of the fourth column of a DiskSim trace, in bytes.
    pub(super) disksim_size_unit: Bytes,
}

/// The result of parsing a line.
pub(super) enum Line {
    /// An access. Its time is the trace's own, not yet relative to the first access.
    Access(Access),
    /// A valid record that is not an access, such as an event of another kind.
    Event,
    /// Text that is not a record.
    Text,
}

/// A parser for the lines of a text format.
pub(super) trait LineParser: Send {
    /// Reads a first line that names the columns. Formats with fixed columns ignore it.
    fn names<'a>(&mut self, _line: &'a [u8]) -> Result<(), Fault<'a>> {
        Ok(())
    }

    /// The names of fixed columns, as the traces of the format have them in their first line or their description.
    fn columns(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns true if the accesses have processes.
    fn has_processes(&self) -> bool {
        false
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>>;
}

/// Makes an access from its fields, after checking them.
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
        process: 0,
    }))
}

impl Line {
    /// Sets the process of an access.
    pub(super) fn of_process(self, process: u32) -> Self {
        match self {
            Self::Access(access) => Self::Access(Access { process, ..access }),
            other => other,
        }
    }
}

/// Checks an access: only a flush may have length zero, and no access may end past 2^64 bytes.
pub(super) fn check<'a>(op: Op, offset: u64, len: u64) -> Result<(), Fault<'a>> {
    if len == 0 && op != Op::Flush {
        return Err(Fault::zero_length());
    }
    if offset.checked_add(len).is_none() {
        return Err(too_large("offset + length", b"beyond 2^64"));
    }
    Ok(())
}

//! A request in flight, and a piece of a write that has crossed the link.

use crate::buffer::lines::Piece;
use fathom_base::{SECTOR_BYTES, Time};
use fathom_block::{Op, Request};

/// A request in flight.
#[derive(Clone, Debug)]
pub(super) struct Active {
    /// Its data is that of a write, or what a read will return.
    pub(super) request: Request,
    /// The offset that was asked for. That of the request is the place of an append.
    pub(super) asked: u64,
    pub(super) submitted: Time,
    /// Parts still to come: flash operations of a read, programs of an unbuffered write.
    pub(super) pending: u32,
    /// Sectors of a write that have crossed the link.
    pub(super) arrived: u64,
    /// The piece on the link: its sectors, and the sectors of room reserved for it.
    pub(super) piece: (u32, u32),
    /// Set for a write with a part that can no longer be placed; it fails when nothing of it is in progress.
    pub(super) failed: bool,
    /// End of the last transfer of a read.
    pub(super) last_transfer: Time,
}

// It is made for every request. A larger one is copied by a call.
const _: () = assert!(size_of::<Active>() <= 128);

impl Active {
    /// Makes the state of a request that comes now; `asked` is the offset that was asked for.
    #[inline]
    pub(super) fn new(request: Request, asked: u64, now: Time) -> Self {
        Self {
            request,
            asked,
            submitted: now,
            pending: 0,
            arrived: 0,
            piece: (0, 0),
            failed: false,
            last_transfer: now,
        }
    }

    /// Takes the bytes that a read returns.
    #[inline]
    pub(super) fn take_read(&mut self) -> Option<Box<[u8]>> {
        match self.request.op {
            Op::Read => self.request.data.take(),
            _ => None,
        }
    }

    /// Returns true if all of a write has crossed the link.
    pub(super) fn has_arrived(&self) -> bool {
        self.arrived == self.sectors().1
    }

    /// Returns the first sector and the number of sectors.
    pub(super) fn sectors(&self) -> (u64, u64) {
        let Request { offset, len, .. } = self.request;
        (offset / SECTOR_BYTES, len / SECTOR_BYTES)
    }
}

/// A piece of a write that has crossed the link.
pub(super) struct Arrival {
    pub(super) piece: Piece,
    /// First sector of the piece.
    pub(super) sector: u64,
    /// Offset of the piece's data in the data of the write, in bytes.
    pub(super) at: usize,
    /// Total sectors of the write.
    pub(super) length: u64,
    /// True if it is the last piece.
    pub(super) is_last: bool,
    pub(super) fua: bool,
    pub(super) failed: bool,
}

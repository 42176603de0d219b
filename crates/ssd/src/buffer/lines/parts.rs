//! The parts of the write buffer: lines, eviction candidates and batches, lines set aside, and room.

use crate::buffer::WritePolicy;
use crate::buffer::policy::{Leaving, Shape};
use fathom_base::links::NONE;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Clustered page in the host's address space.
    pub(super) cline: u32,
    /// The previous newest line of the same `cline`, or [`NONE`].
    pub(super) covered: u32,
    /// Number of insertions when the line became dirty.
    pub(super) since: u64,
    pub(super) dirty: u32,
    pub(super) owner: u32,
    /// The line was chosen to leave and is set aside.
    pub(super) parked: bool,
}

/// A line as the engine sees it. `mask` has one bit for each sector, set if the sector is dirty.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineView {
    pub(crate) id: u32,
    pub(crate) cline: u32,
    pub(crate) dirty: u32,
    pub(crate) owner: u32,
    /// All of the clustered page is to be written. Sectors that are not dirty are read from the drive.
    pub(crate) whole: bool,
    pub(crate) mask: Vec<u64>,
}

impl LineView {
    /// Returns true if a sector of the clustered page is dirty.
    #[inline]
    pub(crate) fn holds(&self, sector: u32) -> bool {
        self.mask[(sector / 64) as usize] >> (sector % 64) & 1 == 1
    }
}

/// A piece of a write that has arrived: sectors of one clustered page. `reserved` of them have room set aside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) cline: u32,
    pub(crate) first: u32,
    pub(crate) sectors: u32,
    pub(crate) reserved: u32,
    pub(crate) owner: u32,
}

/// Parameters of the write buffer.
#[derive(Clone, Debug)]
pub(crate) struct LineSetup {
    pub(crate) policy: WritePolicy,
    /// Whether a FIFO buffer joins writes to its newest line.
    pub(crate) combine: bool,
    pub(crate) capacity_sectors: u64,
    pub(crate) sectors_per_line: u32,
    /// The properties of the drive that a policy may use.
    pub(crate) shape: Shape,
    /// Number of clustered pages of the drive.
    pub(crate) clines: u32,
}

/// An eviction candidate: a line, or a clustered page without a line that is written as padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Out {
    /// The line, or [`NONE`] if the clustered page has none.
    pub(super) id: u32,
    pub(super) cline: u32,
    /// See [`LineView::whole`].
    pub(super) whole: bool,
    /// Whether the line shares no program with another line.
    pub(crate) alone: bool,
    /// Position in the batch, or in `queue`, counted from 1. It is 0 if the line leaves by age.
    pub(super) place: u32,
    /// Queue of lines that are set aside, or [`NONE`] if this one is not.
    pub(super) queue: u32,
}

impl Out {
    /// Returns true if this is line `id`.
    pub(crate) fn is(&self, id: u32) -> bool {
        self.id == id
    }

    /// Returns the line, if there is one.
    pub(crate) fn line(&self) -> Option<u32> {
        Some(self.id).filter(|&id| id != NONE)
    }
}

/// An eviction batch: clustered pages that the policy chose to leave together.
#[derive(Clone, Debug)]
pub(super) struct Together {
    pub(super) block_pages: u32,
    pub(super) clines_of_drive: u32,
    pub(super) leaving: Leaving,
    pub(super) clines: Vec<u32>,
    /// Number of clustered pages of the batch that have left.
    pub(super) left: usize,
}

impl Together {
    pub(super) fn new(block_pages: u32, clines_of_drive: u32) -> Self {
        Self {
            block_pages,
            clines_of_drive,
            leaving: Leaving::default(),
            clines: Vec::new(),
            left: 0,
        }
    }
}

/// A clustered page that is set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) cline: u32,
    /// See [`LineView::whole`].
    pub(super) whole: bool,
    /// See [`Out::alone`].
    pub(super) alone: bool,
}

/// Clustered pages that are set aside, in one queue for each domain of the engine that they may wait for. Each queue is in
/// the order in which its pages leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Parked {
    pub(super) queues: Vec<VecDeque<Waiting>>,
    pub(super) waiting: usize,
    /// Number of lines among them.
    pub(super) lines: usize,
    /// Number of dirty sectors of these lines.
    pub(super) sectors: u64,
}

impl Parked {
    pub(super) fn push(&mut self, queue: usize, waiting: Waiting) {
        if self.queues.len() <= queue {
            self.queues.resize_with(queue + 1, VecDeque::new);
        }
        self.queues[queue].push_back(waiting);
        self.waiting += 1;
    }

    pub(super) fn pop(&mut self, queue: usize) -> Option<Waiting> {
        let first = self.queues[queue].pop_front()?;
        self.waiting -= 1;
        Some(first)
    }

    /// Forgets all waiting clustered pages and their lines.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Capacity of the buffer, and the room that is taken or reserved, in sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) capacity: u64,
    /// Sectors that are dirty or on their way to the flash array.
    pub(super) used: u64,
    /// Room reserved for data that is on the link.
    pub(super) reserved: u64,
}

impl Room {
    pub(super) fn new(capacity: u64) -> Self {
        let (used, reserved) = (0, 0);
        Self {
            capacity,
            used,
            reserved,
        }
    }
}

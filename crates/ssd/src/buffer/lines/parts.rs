//! What a memory for writes consists of: lines, what leaves next, what leaves together, what waits aside, room.

use crate::buffer::WritePolicy;
use crate::buffer::links::NONE;
use crate::buffer::policy::{Leaving, Shape};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Which clustered page of the host's address space.
    pub(super) cline: u32,
    /// The line of the same `cline` that was newest before this one.
    pub(super) covered: u32,
    /// When it became dirty, by the count of insertions.
    pub(super) since: u64,
    pub(super) dirty: u32,
    pub(super) owner: u32,
    /// It was chosen to leave and waits aside.
    pub(super) parked: bool,
}

/// A line as the engine sees it. `mask` has a bit for every dirty sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineView {
    pub(crate) id: u32,
    pub(crate) cline: u32,
    pub(crate) dirty: u32,
    pub(crate) owner: u32,
    /// All of the clustered page is to be written, with what the drive holds where nothing is dirty.
    pub(crate) whole: bool,
    pub(crate) mask: Vec<u64>,
}

impl LineView {
    /// Whether a sector of the clustered page is dirty.
    #[inline]
    pub(crate) fn holds(&self, sector: u32) -> bool {
        self.mask[(sector / 64) as usize] >> (sector % 64) & 1 == 1
    }
}

/// A piece of a write that has arrived: sectors of one clustered page, and those for which room was set aside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) cline: u32,
    pub(crate) first: u32,
    pub(crate) sectors: u32,
    pub(crate) reserved: u32,
    pub(crate) owner: u32,
}

/// What makes a memory for writes.
#[derive(Clone, Debug)]
pub(crate) struct LineSetup {
    pub(crate) policy: WritePolicy,
    /// Whether a FIFO buffer's newest line is joined.
    pub(crate) combine: bool,
    pub(crate) capacity_sectors: u64,
    pub(crate) sectors_per_line: u32,
    /// What a policy may know of the drive.
    pub(crate) shape: Shape,
    /// Clustered pages of the drive.
    pub(crate) clines: u32,
}

/// What leaves next: a line, or a clustered page that is written to pad others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Out {
    /// The line, if the clustered page has one.
    pub(super) id: u32,
    pub(super) cline: u32,
    /// See [`LineView::whole`].
    pub(super) whole: bool,
    /// It shares no program with another line.
    pub(crate) alone: bool,
    /// Its place among those that leave together, from 1; 0 where it leaves by age.
    pub(super) place: u32,
    /// The queue that it waits in aside, or [`NONE`].
    pub(super) queue: u32,
}

impl Out {
    /// Whether it is this line.
    pub(crate) fn is(&self, id: u32) -> bool {
        self.id == id
    }

    /// The line, if it is one.
    pub(crate) fn line(&self) -> Option<u32> {
        Some(self.id).filter(|&id| id != NONE)
    }
}

/// Clustered pages that the policy chose to leave together.
#[derive(Clone, Debug)]
pub(super) struct Together {
    pub(super) block_pages: u32,
    pub(super) clines_of_drive: u32,
    pub(super) leaving: Leaving,
    pub(super) clines: Vec<u32>,
    /// How many of them have left.
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

/// A clustered page that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) cline: u32,
    /// See [`LineView::whole`].
    pub(super) whole: bool,
    /// See [`Out::alone`].
    pub(super) alone: bool,
}

/// Clustered pages that wait, by what they wait for, each in the order in which they leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Parked {
    pub(super) queues: Vec<VecDeque<Waiting>>,
    pub(super) waiting: usize,
    /// Lines among them.
    pub(super) lines: usize,
    /// Dirty sectors of these lines.
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

    /// Forgets what waits, and what of it are lines.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// How much room there is, and how much of it is taken or promised, in sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) capacity: u64,
    /// Dirty, or on their way to the flash array.
    pub(super) used: u64,
    /// Set aside for what is on the link.
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

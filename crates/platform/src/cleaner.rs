//! The state of the cleaner of a log-structured file system: what it has to read and to write.

use fathom_block::Op;
use fathom_fs::Extent;
use std::collections::VecDeque;

/// A part of cleaning. Those of a stage are in flight together, after those of the stage before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) op: Op,
    pub(super) extent: Extent,
    stage: u64,
}

/// What cleaning has to read and to write.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    parts: VecDeque<Part>,
    /// The stage that was added last, and the one in flight.
    last: u64,
    now: u64,
    in_flight: u32,
}

impl Cleaner {
    /// Returns whether cleaning is going on.
    pub(super) fn is_busy(&self) -> bool {
        !self.parts.is_empty() || self.in_flight > 0
    }

    pub(super) fn add(&mut self, op: Op, extents: impl Iterator<Item = Extent>) {
        self.last += 1;
        let stage = self.last;
        self.parts
            .extend(extents.map(|extent| Part { op, extent, stage }));
    }

    /// Takes the next part, of at most `longest` blocks, if those before it allow that.
    pub(super) fn next(&mut self, longest: u64) -> Option<Part> {
        let part = self.parts.front_mut()?;
        if self.in_flight > 0 && part.stage != self.now {
            return None;
        }
        let taken = Part {
            extent: Extent::new(part.extent.start, part.extent.blocks.min(longest)),
            ..*part
        };
        part.extent = Extent::new(taken.extent.end(), part.extent.blocks - taken.extent.blocks);
        if part.extent.blocks == 0 {
            self.parts.pop_front();
        }
        self.now = taken.stage;
        self.in_flight += 1;
        Some(taken)
    }

    /// Notes that a part is done.
    pub(super) fn done(&mut self) {
        self.in_flight -= 1;
    }
}

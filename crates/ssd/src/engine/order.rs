//! Ordering of overlapping requests: no request overtakes an earlier one if that could be observed.
//!
//! A write is open from its command until its last byte has arrived. A request that overlaps an open write or an earlier
//! held request is held until that one has passed; two reads never conflict. Requests that share no sector are not
//! ordered, except the writes to a zone: a later one must not arrive first where an earlier one is held behind a read.

use fathom_block::{Op, Request, ZoneAction};
use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug)]
struct Open {
    first: u64,
    end: u64,
    id: u32,
    op: Op,
    held: bool,
    /// The number of earlier entries that conflict with this one.
    blockers: u32,
}

/// Open writes and held requests, in order of command.
#[derive(Clone, Debug, Default)]
pub(super) struct Hazards {
    open: Vec<Open>,
    /// The number of held requests without blockers: almost always 0, and then nothing is searched.
    free: usize,
    /// Size of a zone, in bytes; `None` if the drive has none.
    zone_bytes: Option<NonZeroU64>,
}

impl Hazards {
    /// Makes the order of a drive with zones of this size.
    pub(super) fn new(zone_bytes: Option<NonZeroU64>) -> Self {
        Self {
            zone_bytes,
            ..Self::default()
        }
    }

    /// Returns true if a request must not overtake an earlier one.
    #[inline]
    fn meet(zone_bytes: Option<NonZeroU64>, a: &Open, b: &Open) -> bool {
        let overlap = a.first < b.end && b.first < a.end && (a.op != Op::Read || b.op != Op::Read);
        let in_zone = |bytes: NonZeroU64| {
            a.op.is_write() && b.op.is_write() && a.first / bytes == b.first / bytes
        };
        overlap || zone_bytes.is_some_and(in_zone)
    }

    /// Handles a new command. Returns true if it may start at once.
    #[inline]
    pub(super) fn admit(&mut self, id: u32, request: &Request) -> bool {
        let (first, end, op) = (request.offset, request.end(), request.op);
        if op == Op::Flush {
            return true;
        }
        let new = Open {
            first,
            end,
            id,
            op,
            held: false,
            blockers: 0,
        };
        let zone = self.zone_bytes;
        let blockers = self.open.iter();
        let blockers = blockers.filter(|earlier| Self::meet(zone, earlier, &new));
        let blockers = blockers.count() as u32;
        let held = blockers > 0;
        if held || stays(op) {
            self.open.push(Open {
                held,
                blockers,
                ..new
            });
        }
        !held
    }

    /// Closes a write whose last byte has arrived.
    #[inline]
    pub(super) fn received(&mut self, id: u32) {
        if let [only] = &self.open[..]
            && only.id == id
        {
            return self.open.clear();
        }
        if let Some(index) = self.open.iter().position(|open| open.id == id) {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: usize) {
        let (gone, zone) = (self.open.remove(index), self.zone_bytes);
        let later = self.open[index..].iter_mut();
        for blocked in later.filter(|later| Self::meet(zone, &gone, later)) {
            blocked.blockers -= 1;
            self.free += usize::from(blocked.blockers == 0);
        }
    }

    /// Returns true if a held request may start now.
    #[inline]
    pub(super) fn has_free(&self) -> bool {
        self.free > 0
    }

    /// Returns the first held request that may start now.
    #[inline]
    pub(super) fn admit_held(&mut self) -> Option<(u32, Op)> {
        if self.free == 0 {
            return None;
        }
        let is_free = |open: &Open| open.held && open.blockers == 0;
        let index = self.open.iter().position(is_free)?;
        self.free -= 1;
        let Open { id, op, .. } = self.open[index];
        if stays(op) {
            self.open[index].held = false;
        } else {
            self.remove(index);
        }
        Some((id, op))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.free = 0;
    }
}

/// Returns true for a request that later ones wait for after it has started: a write until its last byte has arrived, the
/// finish of a zone until it is done.
#[inline]
fn stays(op: Op) -> bool {
    op.is_write() || op == Op::Zone(ZoneAction::Finish)
}

//! The order of overlapping requests: a request enters only when all earlier requests that conflict with it are
//! complete.
//!
//! Two requests meet, that is conflict, if they share a byte and are not both reads. Requests that meet are never held
//! by the scheduler together, so a scheduler may order its requests in any way.

use fathom_block::{Op, Request};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Open {
    end: u64,
    op: Op,
    sequence: u64,
    /// Number of earlier requests that it meets and that are not complete.
    waits_for: u32,
}

/// The requests that are not complete, by start and slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    open: BTreeMap<(u64, u32), Open>,
    /// The longest request ever admitted, in bytes. A request that reaches an offset begins at most this far below it.
    longest: u64,
    sequence: u64,
    /// Number of open requests that are not reads. At 0, a new read meets nothing.
    changing: u32,
    /// Number of open requests that wait for another. At 0, a completed request need not search for them.
    waiting: u32,
}

impl Order {
    /// Adds a new request. Returns whether it may enter at once.
    pub(super) fn admit(&mut self, slot: u32, request: &Request) -> bool {
        let (start, end) = (request.offset, request.end());
        let met = match request.op {
            Op::Read if self.changing == 0 => 0,
            op => self.meeting(start, end, op).count() as u32,
        };
        self.longest = self.longest.max(request.len);
        self.sequence += 1;
        let open = Open {
            end,
            op: request.op,
            sequence: self.sequence,
            waits_for: met,
        };
        self.open.insert((start, slot), open);
        self.changing += u32::from(request.op != Op::Read);
        self.waiting += u32::from(met > 0);
        met == 0
    }

    /// Removes a completed request and appends the slots of the requests that may enter now to `free`, in order of
    /// arrival.
    pub(super) fn done(&mut self, slot: u32, start: u64, free: &mut Vec<u32>) {
        let Some(gone) = self.open.remove(&(start, slot)) else {
            return;
        };
        self.changing -= u32::from(gone.op != Op::Read);
        if self.waiting == 0 {
            return;
        }
        let later = self.meeting(start, gone.end, gone.op);
        let later: Vec<(u64, u32)> = later
            .filter(|(_, open)| open.sequence > gone.sequence)
            .map(|(place, _)| place)
            .collect();
        let mut ready = Vec::new();
        for place in later {
            if let Some(open) = self.open.get_mut(&place) {
                open.waits_for -= 1;
                if open.waits_for == 0 {
                    self.waiting -= 1;
                    ready.push((open.sequence, place.1));
                }
            }
        }
        ready.sort_unstable();
        free.extend(ready.into_iter().map(|(_, slot)| slot));
    }

    /// The open requests that a range meets. The search goes downwards and ends at the first request that begins too
    /// far below `start` to reach it.
    fn meeting(&self, start: u64, end: u64, op: Op) -> impl Iterator<Item = ((u64, u32), Open)> {
        let from = start.saturating_sub(self.longest);
        let near = self.open.range(..(end, 0)).rev();
        near.take_while(move |&(&(at, _), _)| at >= from)
            .filter(move |(_, open)| open.end > start && !(op == Op::Read && open.op == Op::Read))
            .map(|(&place, &open)| (place, open))
    }
}

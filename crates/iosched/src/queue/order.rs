//! The order of requests that overlap: none enters before an earlier one that it could be told apart from is done.
//!
//! Two requests meet where they share a byte and are not both reads. The schedulers may order what they hold as they
//! like, because requests that meet are never held together.

use fathom_block::{Op, Request};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Open {
    end: u64,
    op: Op,
    sequence: u64,
    /// Earlier requests that it meets.
    waits_for: u32,
}

/// Requests that are not done, by where they begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    open: BTreeMap<(u64, u32), Open>,
    /// The longest of all that were ever open: how far to the left a request may begin that reaches a place.
    longest: u64,
    sequence: u64,
    /// How many of them are no reads: while there are none, a read meets nothing.
    changing: u32,
    /// How many of them wait for another: while there are none, one that is done need not look for them.
    waiting: u32,
}

impl Order {
    /// A request has come; whether it may enter at once.
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

    /// A request is done; the slots of those that may enter now are added to `free`, in order of arrival.
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

    /// From the right: beyond the first that is too far to the left to reach `start`, there is none.
    fn meeting(&self, start: u64, end: u64, op: Op) -> impl Iterator<Item = ((u64, u32), Open)> {
        let from = start.saturating_sub(self.longest);
        let near = self.open.range(..(end, 0)).rev();
        near.take_while(move |&(&(at, _), _)| at >= from)
            .filter(move |(_, open)| open.end > start && !(op == Op::Read && open.op == Op::Read))
            .map(|(&place, &open)| (place, open))
    }
}

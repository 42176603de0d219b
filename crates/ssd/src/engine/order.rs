//! Ordering of overlapping requests: no request overtakes an earlier one if that could be observed.
//!
//! A write is open from its command until its last byte has arrived. A request that overlaps an open write or an earlier
//! held request is held until that one has passed; two reads never conflict. Requests that share no sector are not
//! ordered.

use fathom_block::{Op, Request};

#[derive(Clone, Copy, Debug)]
struct Open {
    first: u64,
    end: u64,
    id: u32,
    op: Op,
    held: bool,
}

/// Open writes and held requests, in order of command.
#[derive(Clone, Debug, Default)]
pub(super) struct Hazards {
    open: Vec<Open>,
    held: usize,
}

impl Hazards {
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
        };
        let held = self.open.iter().any(|earlier| meet(earlier, &new));
        if held || op == Op::Write {
            self.open.push(Open { held, ..new });
        }
        self.held += usize::from(held);
        !held
    }

    /// Closes a write whose last byte has arrived.
    #[inline]
    pub(super) fn received(&mut self, id: u32) {
        if let Some(index) = self.open.iter().position(|open| open.id == id) {
            self.open.remove(index);
        }
    }

    /// Returns the first held request that may start now.
    #[inline]
    pub(super) fn admit_held(&mut self) -> Option<(u32, Op)> {
        if self.held == 0 {
            return None;
        }
        let free = |&index: &usize| {
            let (earlier, this) = (&self.open[..index], &self.open[index]);
            this.held && !earlier.iter().any(|e| meet(e, this))
        };
        let index = (0..self.open.len()).find(free)?;
        self.held -= 1;
        let Open { id, op, .. } = self.open[index];
        if op == Op::Write {
            self.open[index].held = false;
        } else {
            self.open.remove(index);
        }
        Some((id, op))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.held = 0;
    }
}

#[inline]
fn meet(a: &Open, b: &Open) -> bool {
    a.first < b.end && b.first < a.end && (a.op != Op::Read || b.op != Op::Read)
}

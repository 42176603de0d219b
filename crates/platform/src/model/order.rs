//! The order in which requests leave the host: one that overlaps an earlier one does not overtake it, unless both are reads,
//! on any processors. The contract of a device demands it.

use fathom_block::{Op, Request};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Unsent {
    ticket: u32,
    op: Op,
    start: u64,
    end: u64,
    /// Whether the host has done its part.
    is_issued: bool,
}

impl Unsent {
    fn meets(&self, other: &Self) -> bool {
        let shares = self.start < other.end && other.start < self.end;
        shares && (self.op != Op::Read || other.op != Op::Read)
    }
}

/// The requests that have not left the host, in order of submission.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    unsent: BTreeMap<u64, Unsent>,
    by_ticket: BTreeMap<u32, u64>,
    sequence: u64,
    /// Number of those that are not reads. At 0, nothing meets.
    changing: u32,
}

impl Order {
    pub(super) fn enter(&mut self, ticket: u32, request: &Request) {
        self.sequence += 1;
        self.changing += u32::from(request.op != Op::Read);
        self.by_ticket.insert(ticket, self.sequence);
        let unsent = Unsent {
            ticket,
            op: request.op,
            start: request.offset,
            end: request.end(),
            is_issued: false,
        };
        self.unsent.insert(self.sequence, unsent);
    }

    /// The host has issued a request. Puts those that may leave now into `leave`, in order.
    pub(super) fn issued(&mut self, ticket: u32, leave: &mut Vec<u32>) {
        let Some(&sequence) = self.by_ticket.get(&ticket) else {
            return;
        };
        if self.changing == 0 {
            self.remove(sequence);
            leave.push(ticket);
            return;
        }
        if let Some(unsent) = self.unsent.get_mut(&sequence) {
            unsent.is_issued = true;
        }
        self.free_from(sequence, leave);
    }

    /// Lets everything leave that is issued and meets nothing before it, from a request on.
    fn free_from(&mut self, sequence: u64, leave: &mut Vec<u32>) {
        let later: Vec<u64> = self.unsent.range(sequence..).map(|(at, _)| *at).collect();
        for at in later {
            let Some(unsent) = self.unsent.get(&at).copied() else {
                continue;
            };
            let mut earlier = self.unsent.range(..at);
            if unsent.is_issued && !earlier.any(|(_, other)| other.meets(&unsent)) {
                self.remove(at);
                leave.push(unsent.ticket);
            }
        }
    }

    fn remove(&mut self, sequence: u64) {
        if let Some(unsent) = self.unsent.remove(&sequence) {
            self.changing -= u32::from(unsent.op != Op::Read);
            self.by_ticket.remove(&unsent.ticket);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_overlaps_an_earlier_one_waits_for_it() {
        let mut order = Order::default();
        let request = |op, offset, len| Request::new(0, op, offset, len);
        order.enter(10, &request(Op::Write, 0, 8));
        order.enter(11, &request(Op::Read, 4, 8));
        order.enter(12, &request(Op::Read, 6, 1));
        order.enter(13, &request(Op::Write, 100, 1));
        order.enter(14, &request(Op::Write, 8, 8));
        let mut issued = |ticket| {
            let mut leave = Vec::new();
            order.issued(ticket, &mut leave);
            leave
        };
        assert_eq!(issued(14), [], "a read of its bytes came before");
        assert_eq!(issued(13), [13]);
        assert_eq!(issued(11), []);
        assert_eq!(issued(10), [10, 11, 14]);
        assert_eq!(issued(12), [12]);
        assert!(order.unsent.is_empty() && order.by_ticket.is_empty());
        assert_eq!(order.changing, 0);
    }
}

//! Requests that the device refused, in the order in which they wait.
//!
//! A device that has refused a request refuses all until something completes, and a block layer may refuse reads and
//! other requests separately ([`fathom_block::Busy`]). So one refusal applies to all requests of its kind, and the cost
//! of a round depends on the number of accepted requests, not on the number of waiting ones.

use fathom_block::{Op, Request};
use std::collections::VecDeque;

/// Number of kinds for which a device may have separate room.
const KINDS: usize = 4;

/// The waiting requests with their actors.
#[derive(Default)]
pub(super) struct Refused {
    waiting: [VecDeque<Held>; KINDS],
    /// The number of the next request to wait, counted from 0.
    next: u64,
    len: usize,
}

struct Held {
    number: u64,
    actor: usize,
    request: Request,
}

fn kind(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write | Op::Append => 1,
        Op::Flush => 2,
        Op::Trim | Op::Zone(_) => 3,
    }
}

impl Refused {
    /// Queues an actor's request behind all others.
    pub(super) fn push(&mut self, actor: usize, request: Request) {
        self.waiting[kind(request.op)].push_back(Held {
            number: self.next,
            actor,
            request,
        });
        self.next += 1;
        self.len += 1;
    }

    /// Number of waiting requests.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Offers the waiting requests to a device in order; a request that is refused again keeps its place. `submit`
    /// returns the request if the device refuses it. `taken` is called with the actor of each accepted request.
    pub(super) fn offer(
        &mut self,
        mut submit: impl FnMut(Request) -> Option<Request>,
        mut taken: impl FnMut(usize),
    ) {
        let mut full = [false; KINDS];
        while self.len > 0 {
            let waiting = self.waiting.iter().zip(full).enumerate();
            let open = waiting.filter(|(_, (_, full))| !full);
            let first = open
                .filter_map(|(kind, (queue, _))| Some((queue.front()?.number, kind)))
                .min();
            let Some((_, kind)) = first else {
                return;
            };
            let Some(held) = self.waiting[kind].pop_front() else {
                return;
            };
            match submit(held.request) {
                None => {
                    self.len -= 1;
                    taken(held.actor);
                }
                Some(request) => {
                    full[kind] = true;
                    self.waiting[kind].push_front(Held { request, ..held });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(ops: &[Op]) -> Refused {
        let mut refused = Refused::default();
        for (actor, op) in ops.iter().enumerate() {
            refused.push(actor, Request::new(actor as u64, *op, 0, 4096));
        }
        refused
    }

    /// Offers the requests to a device with room for `room[0]` reads and `room[1]` others. Returns the actors whose
    /// requests were accepted, and the number of submissions.
    fn offer(refused: &mut Refused, mut room: [usize; 2]) -> (Vec<usize>, usize) {
        let (mut taken, mut asked) = (Vec::new(), 0);
        let submit = |request: Request| {
            asked += 1;
            let room = &mut room[usize::from(request.op != Op::Read)];
            match *room {
                0 => Some(request),
                _ => {
                    *room -= 1;
                    None
                }
            }
        };
        refused.offer(submit, |actor| taken.push(actor));
        (taken, asked)
    }

    #[test]
    fn those_that_wait_take_turns_and_keep_their_place() {
        use Op::{Flush, Read, Write};
        let mut refused = with(&[Write, Read, Write, Read, Flush, Read]);
        assert_eq!(offer(&mut refused, [2, 1]).0, [0, 1, 3]);
        assert_eq!(refused.len(), 3);
        assert_eq!(offer(&mut refused, [0, 2]).0, [2, 4]);
        assert_eq!(offer(&mut refused, [9, 9]).0, [5]);
        assert_eq!(refused.len(), 0);
    }

    #[test]
    fn a_full_device_is_asked_once_for_each_kind() {
        let mut refused = with(&[Op::Read, Op::Write].repeat(1000));
        assert_eq!(offer(&mut refused, [0, 0]), (vec![], 2));
        assert_eq!(offer(&mut refused, [1, 0]), (vec![0], 3));
        assert_eq!(refused.len(), 1999);
    }
}

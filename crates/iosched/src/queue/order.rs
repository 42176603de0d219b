//! The order of overlapping requests: a request enters only when all earlier requests that conflict with it are
//! complete.
//!
//! Two requests meet, that is conflict, if they share a byte and are not both reads. Requests that meet are never held
//! by the scheduler together, so a scheduler may order its requests in any way.

use super::table::Table;
use fathom_block::{Op, Request};

/// A request that is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    start: u64,
    end: u64,
    is_read: bool,
    sequence: u64,
    /// Number of earlier requests that it meets and that are not complete.
    waits_for: u32,
}

impl Open {
    /// Makes the entry of a new request.
    #[inline]
    pub(super) fn new(request: &Request) -> Self {
        Self {
            start: request.offset,
            end: request.end(),
            is_read: matches!(request.op, Op::Read),
            sequence: 0,
            waits_for: 0,
        }
    }

    /// Returns 1 if the request reaches beyond the stretch in which it begins.
    #[inline]
    fn beyond(&self, stretch: u32) -> u32 {
        u32::from((self.end - 1) >> stretch != self.start >> stretch)
    }
}

/// The requests that are not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// By the stretch in which they begin.
    starts: Table,
    /// The binary logarithm of the length of a stretch: no request is longer than one. So a request that reaches an
    /// offset begins in the stretch of that offset or in the one before.
    stretch: u32,
    /// By slot; of slots without an open request, what was last there.
    open: Vec<Open>,
    sequence: u64,
    /// Number of open requests that are not reads. At 0, a new read meets nothing.
    changing: u32,
    /// Number of open requests that reach beyond the stretch in which they begin. At 0, as where all are pages, none that
    /// begins in the stretch before need be looked at.
    beyond: u32,
    /// Number of open requests that wait for another. At 0, a completed request need not search for them.
    waiting: u32,
}

impl Order {
    /// Adds a new request. Returns whether it may enter at once.
    #[inline]
    pub(super) fn admit(&mut self, slot: u32, mut new: Open) -> bool {
        self.sequence += 1;
        new.sequence = self.sequence;
        let len = new.end - new.start;
        if len > 1 << self.stretch {
            self.lengthen(len);
        }
        self.beyond += new.beyond(self.stretch);
        let is_first = self.starts.insert(new.start >> self.stretch, slot);
        self.set(slot, new);
        let is_alone = is_first && self.beyond == 0;
        let may_meet = !is_alone && (!new.is_read || self.changing > 0);
        self.changing += u32::from(!new.is_read);
        !may_meet || self.is_free(slot)
    }

    /// Counts the earlier requests that a new one meets. Returns whether there is none.
    fn is_free(&mut self, slot: u32) -> bool {
        let new = self.open[slot as usize];
        let mut met = 0;
        self.meeting(&new, |other| met += u32::from(other != slot));
        self.open[slot as usize].waits_for = met;
        self.waiting += u32::from(met > 0);
        met == 0
    }

    #[inline]
    fn set(&mut self, slot: u32, open: Open) {
        match self.open.get_mut(slot as usize) {
            Some(place) => *place = open,
            None => self.extend(slot, open),
        }
    }

    #[cold]
    fn extend(&mut self, slot: u32, open: Open) {
        self.open.resize(slot as usize + 1, open);
    }

    /// Removes a completed request. Returns it if others wait, so that [`Order::release`] must be called.
    #[inline]
    pub(super) fn done(&mut self, slot: u32) -> Option<Open> {
        let gone = self.open.get(slot as usize)?;
        if !self.starts.remove(gone.start >> self.stretch, slot) {
            return None;
        }
        self.changing -= u32::from(!gone.is_read);
        self.beyond -= gone.beyond(self.stretch);
        (self.waiting > 0).then_some(*gone)
    }

    /// Counts down the requests that have waited for a completed one. Returns the slots of those that wait for no other
    /// and may enter now, in order of arrival.
    #[cold]
    pub(super) fn release(&mut self, gone: &Open) -> Vec<u32> {
        let mut later = Vec::new();
        self.meeting(gone, |slot| later.push(slot));
        later.retain(|&slot| self.open[slot as usize].sequence > gone.sequence);
        later.retain(|&slot| {
            let open = &mut self.open[slot as usize];
            open.waits_for -= 1;
            open.waits_for == 0
        });
        self.waiting -= later.len() as u32;
        later.sort_unstable_by_key(|&slot| self.open[slot as usize].sequence);
        later
    }

    /// Makes the stretches long enough for a request.
    #[cold]
    fn lengthen(&mut self, len: u64) {
        self.stretch = (len - 1).ilog2() + 1;
        let (open, stretch) = (&self.open, self.stretch);
        let mut beyond = 0;
        self.starts.renumber(|slot| {
            let open = &open[slot as usize];
            beyond += open.beyond(stretch);
            open.start >> stretch
        });
        self.beyond = beyond;
    }

    /// Calls a function with the slots of the open requests that one meets.
    #[inline]
    fn meeting(&self, one: &Open, mut found: impl FnMut(u32)) {
        let last = (one.end - 1) >> self.stretch;
        let before = u64::from(self.beyond > 0);
        let mut stretch = (one.start >> self.stretch).saturating_sub(before);
        while stretch <= last {
            for slot in self.starts.at(stretch) {
                let open = &self.open[slot as usize];
                let overlaps = open.start < one.end && one.start < open.end;
                if overlaps && !(one.is_read && open.is_read) {
                    found(slot);
                }
            }
            stretch += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::{Rng, Slab};

    fn meet(one: &Request, other: &Request) -> bool {
        let overlap = one.offset < other.end() && other.offset < one.end();
        overlap && !(one.op == Op::Read && other.op == Op::Read)
    }

    /// The open requests in order of arrival, with their slots.
    type Plain = Vec<(u32, Request)>;

    /// The slots of the requests that meet no earlier one.
    fn entered(plain: &Plain) -> Vec<u32> {
        let is_free = |at: usize| !plain[..at].iter().any(|other| meet(&other.1, &plain[at].1));
        let free = (0..plain.len()).filter(|&at| is_free(at));
        free.map(|at| plain[at].0).collect()
    }

    fn request(rng: &mut Rng, longest: u64) -> Request {
        let op = [Op::Read, Op::Read, Op::Write, Op::Trim][rng.below(4) as usize];
        let len = 1 + rng.below(longest);
        Request::new(0, op, rng.below(400) * 512, len * 512)
    }

    /// The number of requests that reach beyond the stretch in which they begin.
    fn beyond(plain: &Plain, stretch: u32) -> u32 {
        let beyond = |request: &Request| (request.end() - 1) >> stretch > request.offset >> stretch;
        plain.iter().filter(|open| beyond(&open.1)).count() as u32
    }

    #[test]
    fn a_request_enters_when_all_earlier_ones_that_it_meets_are_complete() {
        let (mut order, mut plain) = (Order::default(), Plain::new());
        let (mut slots, mut rng) = (Slab::default(), Rng::new(11, 0));
        for turn in 0..6_000_u64 {
            // The requests become longer, and the queue is full and nearly empty in turn.
            let most = if turn / 500 % 2 == 0 { 60 } else { 3 };
            if plain.len() < most {
                let new = request(&mut rng, 1 << (turn / 800));
                let slot = slots.insert(());
                let meets = plain.iter().any(|(_, other)| meet(other, &new));
                assert_eq!(order.admit(slot, Open::new(&new)), !meets);
                plain.push((slot, new));
            }
            if plain.len() >= most || rng.chance(0.4) {
                let before = entered(&plain);
                let gone = before[rng.below(before.len() as u64) as usize];
                let at = plain.iter().position(|&(slot, _)| slot == gone).unwrap();
                plain.remove(at);
                let mut now = entered(&plain);
                now.retain(|slot| !before.contains(slot));
                let released = order.done(gone).map(|gone| order.release(&gone));
                assert_eq!(released.unwrap_or_default(), now);
                slots.remove(gone);
            }
            assert_eq!(order.beyond, beyond(&plain, order.stretch));
        }
    }
}

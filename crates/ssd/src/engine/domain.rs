//! What must be done before what: the order of programs and erases.
//!
//! Programs are numbered as they are issued. An erase waits until every program with a lower number is done, and so does
//! a program into a block behind a barrier. A domain is what must be kept in order together: where units never leave
//! their group (block mapping and its kin) each group is one, so that groups merge, erase and wait for erased blocks
//! each by itself; else the whole drive is.

use std::collections::VecDeque;

/// What waits until every program with a lower number than `after` is done.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    after: u64,
    what: Waiting,
}

/// What can wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    Erase { cblock: u32 },
    Program { ticket: u32 },
}

/// Programs into a clustered block wait until every program with a lower number than `after` is done.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    cblock: u32,
    after: u64,
}

/// Programs that are kept in order together.
#[derive(Clone, Debug, Default)]
pub(super) struct Domain {
    next: u64,
    first_undone: u64,
    /// Which are done, from `first_undone` on.
    done: VecDeque<bool>,
    deferred: VecDeque<Deferred>,
    barriers: Vec<Barrier>,
    /// Erases that were asked for and are not done.
    pub(super) erasing: u32,
    /// The translation layer waits for one of them.
    pub(super) stalled: bool,
}

impl Domain {
    /// The number of a new program.
    #[inline]
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.done.push_back(false);
        self.next - 1
    }

    /// The number of the next program: all before it have been issued.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Whether every program with a lower number is done.
    #[inline]
    pub(super) fn is_done(&self, after: u64) -> bool {
        after <= self.first_undone
    }

    /// A program is done.
    #[inline]
    pub(super) fn complete(&mut self, number: u64) {
        self.done[(number - self.first_undone) as usize] = true;
        while self.done.front() == Some(&true) {
            self.done.pop_front();
            self.first_undone += 1;
        }
    }

    /// Has an erase wait for every program so far.
    pub(super) fn defer_erase(&mut self, cblock: u32) {
        let what = Waiting::Erase { cblock };
        self.erasing += 1;
        let after = self.next;
        self.deferred.push_back(Deferred { after, what });
    }

    /// Has a program wait for all with a lower number than `after`.
    pub(super) fn defer_program(&mut self, ticket: u32, after: u64) {
        let what = Waiting::Program { ticket };
        let position = self.deferred.partition_point(|d| d.after <= after);
        self.deferred.insert(position, Deferred { after, what });
    }

    /// The next of those that wait for nothing any more.
    #[inline]
    pub(super) fn release(&mut self) -> Option<Waiting> {
        let first = self.deferred.front()?;
        if !self.is_done(first.after) {
            return None;
        }
        self.deferred.pop_front().map(|deferred| deferred.what)
    }

    /// Programs into a clustered block wait for every program so far.
    pub(super) fn set_barrier(&mut self, cblock: u32) {
        let (after, undone) = (self.next, self.first_undone);
        self.barriers.retain(|barrier| barrier.after > undone);
        self.barriers.push(Barrier { cblock, after });
    }

    /// Up to which number all programs must be done before this one into a clustered block, if some are not.
    #[inline]
    pub(super) fn barrier_before(&self, cblock: u32, number: u64) -> Option<u64> {
        let applies =
            |b: &&Barrier| b.cblock == cblock && b.after <= number && !self.is_done(b.after);
        self.barriers.iter().find(applies).map(|b| b.after)
    }

    /// Forgets what is under way; numbers go on.
    pub(super) fn clear(&mut self) {
        *self = Self {
            next: self.next,
            first_undone: self.next,
            ..Self::default()
        };
    }
}

//! Ordering of programs and erases.
//!
//! Programs are numbered as they are issued. An erase waits until every program with a lower number is done, and so does
//! a program into a block with a barrier. A domain is a set of programs and erases that must be ordered together. If
//! units never leave their group (block mapping and hybrid mappings), each group is a domain, so that groups merge, erase
//! and wait for erased blocks independently. Otherwise the whole drive is one domain.

use crate::geometry::Geometry;
use crate::spec::Spec;
use fathom_base::Ppn;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// The domains of a drive.
#[derive(Clone, Debug)]
pub(super) struct Domains {
    all: Vec<Domain>,
    cpages_per_cblock: u32,
}

impl Domains {
    pub(super) fn new(spec: &Spec, g: &Geometry) -> Self {
        let kind = spec.mapping.kind;
        let count = match kind.is_paged() || kind.is_zoned() {
            true => 1,
            false => g.groups as usize,
        };
        Self {
            all: vec![Domain::default(); count],
            cpages_per_cblock: g.cpages_per_cblock,
        }
    }

    /// Returns the domain of a clustered block.
    #[inline]
    pub(super) fn of_cblock(&self, g: &Geometry, cblock: u32) -> usize {
        match self.all.len() {
            1 => 0,
            _ => g.group_of_cblock(cblock) as usize,
        }
    }

    /// Returns the domain of a physical unit.
    #[inline]
    pub(super) fn of_unit(&self, g: &Geometry, at: Ppn) -> usize {
        match self.all.len() {
            1 => 0,
            _ => self.of_cblock(g, g.cblock_of_unit(at.0)),
        }
    }

    /// Returns the domain of a clustered page of the host's address space.
    #[inline]
    pub(super) fn of_line(&self, cline: u32) -> usize {
        match self.all.len() {
            1 => 0,
            groups => (cline / self.cpages_per_cblock) as usize % groups,
        }
    }

    /// Returns true if a clustered page of the host's address space waits for an erase.
    #[inline]
    pub(super) fn is_stalled(&self, cline: u32) -> bool {
        self.all[self.of_line(cline)].stalled
    }

    /// Returns the domain if there is only one.
    #[inline]
    pub(super) fn single(&self) -> Option<&Domain> {
        match &self.all[..] {
            [whole] => Some(whole),
            _ => None,
        }
    }

    /// Returns the number of the next program of each domain.
    pub(super) fn next(&self) -> Box<[u64]> {
        self.all.iter().map(|domain| domain.programs.next).collect()
    }

    /// Returns true if in every domain the programs with lower numbers than `before` are done.
    pub(super) fn are_done(&self, before: &[u64]) -> bool {
        let mut all = self.all.iter().zip(before);
        all.all(|(domain, &before)| domain.is_done(before))
    }

    /// Returns true if an erase is waiting or in progress.
    pub(super) fn is_erasing(&self) -> bool {
        self.all.iter().any(|domain| domain.erasing > 0)
    }

    /// Returns true if a domain waits for an erased block although no erase is outstanding.
    pub(super) fn is_stuck(&self) -> bool {
        let stuck = |domain: &Domain| domain.stalled && domain.erasing == 0;
        self.all.iter().any(stuck)
    }

    /// Forgets the work in progress.
    pub(super) fn clear(&mut self) {
        self.all.iter_mut().for_each(Domain::clear);
    }
}

impl Index<usize> for Domains {
    type Output = Domain;

    #[inline]
    fn index(&self, domain: usize) -> &Domain {
        &self.all[domain]
    }
}

impl IndexMut<usize> for Domains {
    #[inline]
    fn index_mut(&mut self, domain: usize) -> &mut Domain {
        &mut self.all[domain]
    }
}

/// A program or an erase that waits until every program with a lower number than `after` is done.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    after: u64,
    what: Waiting,
}

/// The operations that can wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    Erase { cblock: u32 },
    Program { ticket: u32 },
}

/// A barrier: programs into the clustered block wait until every program with a lower number than `after` is done.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    cblock: u32,
    after: u64,
}

/// The numbers of the programs of a domain, and which of them are done.
#[derive(Clone, Debug, Default)]
struct Numbers {
    next: u64,
    /// A bit for each program from `base` on, set if it is done. The first word is not full.
    done: VecDeque<u64>,
    /// A multiple of the bits of a word.
    base: u64,
}

impl Numbers {
    /// Begins with a number; all before it are done.
    fn from(next: u64) -> Self {
        let (base, bits) = (next & !63, next & 63);
        let done = VecDeque::from_iter((bits > 0).then(|| (1 << bits) - 1));
        Self { next, done, base }
    }

    /// Numbers `count` programs. Returns the first number.
    #[inline]
    fn add(&mut self, count: u32) -> u64 {
        let number = self.next;
        self.next += u64::from(count);
        while self.next - self.base > 64 * self.done.len() as u64 {
            self.done.push_back(0);
        }
        number
    }

    /// Marks `count` programs as done. Returns true if all before them are.
    #[inline]
    fn complete(&mut self, number: u64, count: u32) -> bool {
        let is_first = number == self.first_undone();
        let from = number - self.base;
        match count {
            1 => self.done[(from / 64) as usize] |= 1 << (from % 64),
            _ => self.mark(from, from + u64::from(count)),
        }
        while self.done.front() == Some(&u64::MAX) {
            self.done.pop_front();
            self.base += 64;
        }
        is_first
    }

    /// Sets the bits `from` to `end`.
    fn mark(&mut self, mut from: u64, end: u64) {
        while from < end {
            let bits = (end - from).min(64 - from % 64);
            self.done[(from / 64) as usize] |= (u64::MAX >> (64 - bits)) << (from % 64);
            from += bits;
        }
    }

    #[inline]
    fn first_undone(&self) -> u64 {
        let done = self.done.front().map_or(0, |first| first.trailing_ones());
        self.base + u64::from(done)
    }
}

/// State of one domain.
#[derive(Clone, Debug, Default)]
pub(super) struct Domain {
    programs: Numbers,
    deferred: VecDeque<Deferred>,
    barriers: Vec<Barrier>,
    /// Outstanding erases: requested and not done.
    pub(super) erasing: u32,
    /// The translation layer waits for one of these erases.
    pub(super) stalled: bool,
}

impl Domain {
    /// Numbers `count` new programs. Returns the first number.
    #[inline]
    pub(super) fn number(&mut self, count: u32) -> u64 {
        self.programs.add(count)
    }

    /// Returns true if every program with a lower number than `after` is done.
    #[inline]
    fn is_done(&self, after: u64) -> bool {
        after <= self.programs.first_undone()
    }

    /// Returns true if a program may have to wait for others.
    #[inline]
    pub(super) fn has_barriers(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// Marks `count` programs as done, `number` and those after it. Returns true if the wait of a deferred operation may be over.
    /// Nothing is deferred behind some of the programs that were numbered together, so that all of them may be marked when
    /// the last one is done.
    #[inline]
    pub(super) fn complete(&mut self, number: u64, count: u32) -> bool {
        self.programs.complete(number, count) && !self.deferred.is_empty()
    }

    /// Queues an erase behind all programs issued so far.
    pub(super) fn defer_erase(&mut self, cblock: u32) {
        let what = Waiting::Erase { cblock };
        self.erasing += 1;
        let after = self.programs.next;
        self.deferred.push_back(Deferred { after, what });
    }

    /// Queues a program behind all programs with a lower number than `after`.
    pub(super) fn defer_program(&mut self, ticket: u32, after: u64) {
        let what = Waiting::Program { ticket };
        let position = self.deferred.partition_point(|d| d.after <= after);
        self.deferred.insert(position, Deferred { after, what });
    }

    /// Removes and returns the next operation whose wait is over.
    #[inline]
    pub(super) fn release(&mut self) -> Option<Waiting> {
        let first = self.deferred.front()?;
        if !self.is_done(first.after) {
            return None;
        }
        self.deferred.pop_front().map(|deferred| deferred.what)
    }

    /// Makes later programs into a clustered block wait for all programs issued so far.
    pub(super) fn set_barrier(&mut self, cblock: u32) {
        let (after, undone) = (self.programs.next, self.programs.first_undone());
        self.barriers.retain(|barrier| barrier.after > undone);
        self.barriers.push(Barrier { cblock, after });
    }

    /// Returns the number below which all programs must be done before program `number` into a clustered block may start;
    /// `None` if it may start now.
    #[inline]
    pub(super) fn barrier_before(&self, cblock: u32, number: u64) -> Option<u64> {
        let applies =
            |b: &&Barrier| b.cblock == cblock && b.after <= number && !self.is_done(b.after);
        self.barriers.iter().find(applies).map(|b| b.after)
    }

    /// Forgets the work in progress; the numbering continues.
    fn clear(&mut self) {
        *self = Self {
            programs: Numbers::from(self.programs.next),
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    /// Compares numbers that are taken and done together, in any order, to a list with an entry for each.
    #[test]
    fn numbers_taken_together_are_done_together() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed, 0);
            let mut numbers = Numbers::from(rng.below(200));
            let mut done = vec![true; numbers.next as usize];
            let mut taken: Vec<(u64, u32)> = Vec::new();
            for step in 0..2_000 {
                if taken.len() < 2 || rng.below(2) == 0 {
                    let count = [1, 1, 2, 63, 64, 65, 300][rng.below(7) as usize];
                    let first = numbers.add(count);
                    assert_eq!(first as usize, done.len(), "seed {seed} step {step}");
                    done.resize(done.len() + count as usize, false);
                    taken.push((first, count));
                } else {
                    let next = rng.below(taken.len() as u64) as usize;
                    let (first, count) = taken.swap_remove(next);
                    let undone = done.iter().position(|done| !done);
                    let is_first = numbers.complete(first, count);
                    assert_eq!(is_first, undone == Some(first as usize));
                    done[first as usize..][..count as usize].fill(true);
                }
                let undone = done.iter().position(|done| !done);
                let undone = undone.unwrap_or(done.len()) as u64;
                assert_eq!(numbers.first_undone(), undone, "seed {seed} step {step}");
            }
        }
    }
}

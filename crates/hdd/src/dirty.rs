//! The cache for writes: which sectors are not on the medium yet, and which go there next.
//!
//! A sector that is written again before it is on the medium keeps its place in the order. Sectors on their way to the
//! medium still take room and still answer reads. How many separate runs it can hold is not limited.

use crate::spec::{Destage, WriteCache};
use fathom_base::SECTOR_BYTES;
use std::collections::{BTreeMap, VecDeque};

/// Dirty sectors and their order.
#[derive(Clone, Debug)]
pub(crate) struct Dirty {
    policy: Destage,
    capacity: u64,
    /// Runs by first sector, each with its end; no two of them overlap, those of C-SCAN do not touch either.
    runs: BTreeMap<u64, u64>,
    /// Runs in the order in which they became dirty (first in, first out only).
    order: VecDeque<(u64, u64)>,
    dirty: u64,
    /// Sectors on their way from the host.
    reserved: u64,
    /// Sectors on their way to the medium.
    leaving: (u64, u64),
    /// Where the last ones went.
    at: u64,
}

impl Dirty {
    pub(crate) fn new(cache: &WriteCache) -> Self {
        Self {
            policy: cache.destage,
            capacity: cache.capacity.0 / SECTOR_BYTES,
            runs: BTreeMap::new(),
            order: VecDeque::new(),
            dirty: 0,
            reserved: 0,
            leaving: (0, 0),
            at: 0,
        }
    }

    /// Sectors for which there is room.
    pub(crate) fn room(&self) -> u64 {
        let leaving = self.leaving.1 - self.leaving.0;
        self.capacity
            .saturating_sub(self.dirty + self.reserved + leaving)
    }

    /// Nothing in it, nothing coming, nothing leaving.
    pub(crate) fn is_clean(&self) -> bool {
        self.room() == self.capacity
    }

    /// Room for these is taken.
    pub(crate) fn reserve(&mut self, sectors: u64) {
        self.reserved += sectors;
    }

    /// Sectors for which room was reserved have come.
    pub(crate) fn arrived(&mut self, first: u64, end: u64) {
        self.reserved = self.reserved.saturating_sub(end - first);
        for (from, to) in self.gaps(first, end) {
            self.dirty += to - from;
            self.insert(from, to);
        }
    }

    /// The parts of a range that are not dirty.
    fn gaps(&self, first: u64, end: u64) -> Vec<(u64, u64)> {
        let (mut gaps, mut at) = (Vec::new(), first);
        let before = self.runs.range(..first).next_back();
        for (&from, &to) in before.into_iter().chain(self.runs.range(first..end)) {
            if from > at {
                gaps.push((at, from));
            }
            at = at.max(to);
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }

    fn insert(&mut self, mut from: u64, mut to: u64) {
        if self.policy == Destage::Fifo {
            self.order.push_back((from, to));
        } else {
            let before = self.runs.range(..=from).next_back();
            if let Some((&first, _)) = before.filter(|(_, end)| **end == from) {
                self.runs.remove(&first);
                from = first;
            }
            if let Some(end) = self.runs.remove(&to) {
                to = end;
            }
        }
        self.runs.insert(from, to);
    }

    /// The end of the run of sectors in memory from `sector` on; `sector` itself where it is not.
    pub(crate) fn run(&self, sector: u64) -> u64 {
        if (self.leaving.0..self.leaving.1).contains(&sector) {
            return self.leaving.1;
        }
        let run = self.runs.range(..=sector).next_back();
        run.map_or(sector, |(_, &end)| end.max(sector))
    }

    /// The run that goes to the medium next.
    pub(crate) fn next(&self) -> Option<(u64, u64)> {
        match self.policy {
            Destage::Fifo => self.order.front().copied(),
            Destage::CScan => {
                let ahead = self.runs.range(self.at..).next();
                let run = ahead.or_else(|| self.runs.iter().next());
                run.map(|(&first, &end)| (first, end))
            }
        }
    }

    /// The first sectors of the next run, up to `end`, go to the medium now.
    pub(crate) fn depart(&mut self, first: u64, end: u64) {
        self.cut(first, end);
        self.leaving = (first, end);
        self.at = end;
    }

    /// What was on its way to the medium is there.
    pub(crate) fn departed(&mut self) {
        self.leaving = (0, 0);
    }

    /// These sectors need not go to the medium any more.
    pub(crate) fn cut(&mut self, first: u64, end: u64) {
        let before = self.runs.range(..first).next_back();
        let met: Vec<_> = before
            .into_iter()
            .chain(self.runs.range(first..end))
            .map(|(&from, &to)| (from, to))
            .filter(|&(_, to)| to > first)
            .collect();
        for (from, to) in met {
            self.runs.remove(&from);
            self.dirty -= to.min(end) - from.max(first);
            let rest = [(from, first.max(from)), (end.min(to), to)];
            let rest = rest.into_iter().filter(|(from, to)| from < to);
            for (from, to) in rest.clone() {
                self.runs.insert(from, to);
            }
            if self.policy == Destage::Fifo
                && let Some(place) = self.order.iter().position(|&run| run == (from, to))
            {
                self.order.remove(place);
                for (offset, run) in rest.enumerate() {
                    self.order.insert(place + offset, run);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::{Bytes, Rng};
    use std::collections::BTreeSet;

    fn cache(destage: Destage, sectors: u64) -> Dirty {
        Dirty::new(&WriteCache {
            capacity: Bytes(sectors * 512),
            destage,
        })
    }

    fn write(dirty: &mut Dirty, first: u64, end: u64) {
        dirty.reserve(end - first);
        dirty.arrived(first, end);
    }

    fn drain(dirty: &mut Dirty) -> Vec<u64> {
        let mut order = Vec::new();
        while let Some((first, end)) = dirty.next() {
            order.push(first);
            dirty.depart(first, end);
            dirty.departed();
        }
        order
    }

    #[test]
    fn each_policy_has_its_order() {
        for (policy, expected) in [
            (Destage::Fifo, vec![50, 10, 90, 30]),
            (Destage::CScan, vec![50, 90, 10, 30]),
        ] {
            let mut dirty = cache(policy, 100);
            write(&mut dirty, 40, 41);
            dirty.depart(40, 41);
            dirty.departed();
            for first in [50, 10, 90, 30, 50] {
                write(&mut dirty, first, first + 2);
            }
            assert_eq!(drain(&mut dirty), expected, "{policy:?}");
            assert!(dirty.is_clean());
        }
    }

    #[test]
    fn it_holds_what_a_set_of_sectors_holds() {
        for policy in [Destage::Fifo, Destage::CScan] {
            let mut rng = Rng::new(3, 0);
            let (mut dirty, mut set) = (cache(policy, 1000), BTreeSet::new());
            for step in 0..4000 {
                let first = rng.below(120);
                let end = first + 1 + rng.below(20);
                match rng.below(3) {
                    0 => {
                        dirty.cut(first, end);
                        set.retain(|s| !(first..end).contains(s));
                    }
                    1 => {
                        if let Some((from, to)) = dirty.next() {
                            let to = to.min(from + 5);
                            dirty.depart(from, to);
                            dirty.departed();
                            assert!((from..to).all(|s| set.remove(&s)), "step {step}");
                        }
                    }
                    _ => {
                        write(&mut dirty, first, end);
                        set.extend(first..end);
                    }
                }
                assert_eq!(dirty.room(), 1000 - set.len() as u64, "step {step}");
                for sector in 0..141 {
                    assert_eq!(dirty.run(sector) > sector, set.contains(&sector));
                }
            }
        }
    }
}

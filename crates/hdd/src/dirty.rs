//! The write cache: the dirty sectors, and the order in which they are written to the medium.
//!
//! A sector that is written again before it is on the medium keeps its place in the order. Sectors being written to the
//! medium still occupy space and still answer reads. The number of separate runs is not limited.

use crate::spec::{Destage, WriteCache};
use fathom_base::SECTOR_BYTES;
use std::collections::{BTreeMap, VecDeque};

/// The dirty sectors and their order.
#[derive(Clone, Debug)]
pub(crate) struct Dirty {
    policy: Destage,
    capacity: u64,
    /// Runs: first sector and end. They do not overlap; with C-SCAN they do not touch either.
    runs: BTreeMap<u64, u64>,
    /// Runs in the order in which they became dirty (FIFO only).
    order: VecDeque<(u64, u64)>,
    dirty: u64,
    /// Sectors on their way from the host.
    reserved: u64,
    /// Range of sectors being written to the medium.
    leaving: (u64, u64),
    /// End of the range that was written last.
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

    /// Returns the free space in sectors.
    pub(crate) fn room(&self) -> u64 {
        let leaving = self.leaving.1 - self.leaving.0;
        self.capacity
            .saturating_sub(self.dirty + self.reserved + leaving)
    }

    /// Returns true if the cache is empty, with nothing arriving and nothing leaving.
    pub(crate) fn is_clean(&self) -> bool {
        self.room() == self.capacity
    }

    /// Reserves space for sectors that will arrive.
    pub(crate) fn reserve(&mut self, sectors: u64) {
        self.reserved += sectors;
    }

    /// Adds sectors that have arrived; space was reserved for them.
    pub(crate) fn arrived(&mut self, first: u64, end: u64) {
        self.reserved = self.reserved.saturating_sub(end - first);
        for (from, to) in self.gaps(first, end) {
            self.dirty += to - from;
            self.insert(from, to);
        }
    }

    /// Returns the parts of a range that are not dirty.
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

    /// Returns the end of the run of sectors in memory that starts at `sector`, or `sector` if it is not in memory.
    pub(crate) fn run(&self, sector: u64) -> u64 {
        if (self.leaving.0..self.leaving.1).contains(&sector) {
            return self.leaving.1;
        }
        let run = self.runs.range(..=sector).next_back();
        run.map_or(sector, |(_, &end)| end.max(sector))
    }

    /// Returns the next run to write to the medium.
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

    /// Starts writing the first sectors of the next run, up to `end`, to the medium.
    pub(crate) fn depart(&mut self, first: u64, end: u64) {
        self.cut(first, end);
        self.leaving = (first, end);
        self.at = end;
    }

    /// The sectors being written have reached the medium.
    pub(crate) fn departed(&mut self) {
        self.leaving = (0, 0);
    }

    /// Removes sectors that no longer need to be written to the medium.
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

//! Requests sorted by place: a vector while they are few, and a tree above some hundred.
//!
//! A queue of a drive mostly holds some tens of requests. A tree of one entry allocates and frees its node with every
//! request; in a vector, an insertion moves less than a page of memory.

use std::collections::BTreeMap;

/// Maximum number of requests in the vector.
const FEW: usize = 256;

/// A place, and what tells the requests at one place apart.
pub(crate) type Rank = (u64, u64);

/// A rank as one number, which is compared without a branch.
#[inline]
fn fused(rank: Rank) -> u128 {
    u128::from(rank.0) << 64 | u128::from(rank.1)
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    rank: Rank,
    id: u32,
}

/// The numbers of requests in order of their ranks, each rank once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    /// All entries while there are few; otherwise empty.
    few: Vec<Entry>,
    /// All entries from the time when they were too many until none is left.
    many: BTreeMap<Rank, u32>,
}

impl Sorted {
    /// Returns the number of entries.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Returns true if there are no entries.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    /// Returns how many entries of the vector have a lower rank.
    #[inline]
    fn index(&self, rank: Rank) -> usize {
        let rank = fused(rank);
        self.few.partition_point(|entry| fused(entry.rank) < rank)
    }

    /// Adds an entry whose rank is not there.
    #[inline]
    pub(crate) fn insert(&mut self, rank: Rank, id: u32) {
        if self.few.len() < FEW && self.many.is_empty() {
            let index = self.index(rank);
            let entry = Entry { rank, id };
            match index == self.few.len() {
                true => self.few.push(entry),
                false => self.few.insert(index, entry),
            }
        } else {
            self.insert_in_tree(rank, id);
        }
    }

    #[cold]
    fn insert_in_tree(&mut self, rank: Rank, id: u32) {
        let few = self.few.drain(..);
        self.many.extend(few.map(|entry| (entry.rank, entry.id)));
        self.many.insert(rank, id);
    }

    /// Removes an entry. Returns false if there is none of this rank.
    #[inline]
    pub(crate) fn remove(&mut self, rank: Rank) -> bool {
        let index = self.index(rank);
        match self.few.get(index) {
            Some(entry) if entry.rank == rank => {
                match index + 1 == self.few.len() {
                    true => self.few.truncate(index),
                    false => _ = self.few.remove(index),
                }
                true
            }
            _ => !self.many.is_empty() && self.many.remove(&rank).is_some(),
        }
    }

    /// Returns the first entry of this rank or a higher one.
    #[inline]
    pub(crate) fn at_or_above(&self, rank: Rank) -> Option<(Rank, u32)> {
        if self.many.is_empty() {
            let entry = self.few.get(self.index(rank))?;
            return Some((entry.rank, entry.id));
        }
        let (&rank, &id) = self.many.range(rank..).next()?;
        Some((rank, id))
    }

    /// Calls a function with the entries of lower ranks, the highest first, as long as it returns true.
    #[inline]
    pub(crate) fn below(&self, rank: Rank, mut go_on: impl FnMut(Rank, u32) -> bool) {
        if self.many.is_empty() {
            let mut few = self.few[..self.index(rank)].iter().rev();
            few.all(|entry| go_on(entry.rank, entry.id));
        } else {
            let mut many = self.many.range(..rank).rev();
            many.all(|(&rank, &id)| go_on(rank, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    fn same(sorted: &Sorted, tree: &BTreeMap<Rank, u32>, rank: Rank) {
        let copied = |(&rank, &id): (&Rank, &u32)| (rank, id);
        assert_eq!(sorted.len(), tree.len());
        assert_eq!(sorted.is_empty(), tree.is_empty());
        let above = tree.range(rank..).next();
        assert_eq!(sorted.at_or_above(rank), above.map(copied));
        let below: Vec<_> = tree.range(..rank).rev().take(9).map(copied).collect();
        let mut found = Vec::new();
        sorted.below(rank, |rank, id| {
            found.push((rank, id));
            found.len() < 9
        });
        assert_eq!(found, below);
    }

    #[test]
    fn it_does_as_a_tree_does_with_few_and_with_many() {
        let (mut sorted, mut tree) = (Sorted::default(), BTreeMap::new());
        let mut rng = Rng::new(7, 0);
        // It grows beyond the vector, and shrinks to nothing, several times.
        for turn in 0..6_000_u32 {
            let rank = (rng.below(200), rng.below(5));
            if turn / 1_000 % 2 == 0 {
                if tree.insert(rank, turn).is_none() {
                    sorted.insert(rank, turn);
                } else {
                    assert!(sorted.remove(rank));
                    sorted.insert(rank, turn);
                }
            } else {
                let gone = tree.range(rank..).next().or_else(|| tree.iter().next());
                let gone = gone.map_or(rank, |(&rank, _)| rank);
                assert_eq!(sorted.remove(gone), tree.remove(&gone).is_some());
            }
            assert!(!sorted.remove((rank.0, 5)));
            if turn % 16 == 0 {
                same(&sorted, &tree, (rng.below(201), rng.below(5)));
            }
        }
    }
}

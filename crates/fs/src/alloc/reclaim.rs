//! Placement for page-mapped drives: blocks that are expected to die together fill a reclaim unit together.
//!
//! A page-mapped drive writes in the order in which it is written to, and erases a reclaim unit (a superblock) after it has
//! copied what is valid there. Where a block lies among the addresses costs nothing by itself. But blocks that are written
//! one after the other share a unit, so what matters is that they become invalid together, by TRIM or by being overwritten.
//! `greedy-space` section VI leaves page mapping for the future; what follows is ours.
//!
//! As in Greedy-Space, a unit of addresses is filled until it is full, and the one with the most free blocks is next: its
//! old content is trimmed or was overwritten, so the drive gets whole invalid units. Unlike there, one unit is open for each
//! expected lifetime: metadata, which is overwritten most often; large files, which die alone and as a whole; and small
//! files by directory, because those of one directory are often deleted together. If no unit is left for a lifetime, it
//! shares the one of another.
//!
//! Left out: a hint to the drive (streams, FDP), and lifetimes that are learned.

use super::{Allocator, GreedySpace, Want, What};
use crate::block::Extent;
use crate::space::Space;

/// A file of at most this many blocks is small: 64 KiB, as in ext4's choice of a pool.
const SMALL: u64 = 16;
/// Lifetimes beside those of directories: metadata, and large files.
const OTHERS: usize = 2;

/// Placement by expected lifetime in reclaim units.
#[derive(Clone, Debug)]
pub struct ReclaimUnits {
    /// Counts the free blocks of units.
    units: GreedySpace,
    /// The open unit of each lifetime.
    open: Vec<Option<u32>>,
}

impl ReclaimUnits {
    /// Takes account of the free blocks. `blocks` and `offset` are those of a reclaim unit, as in [`GreedySpace::new`];
    /// `directories` is the number of lifetimes for small files, at least 1.
    pub fn new(space: &Space, blocks: u64, offset: u64, directories: usize) -> Self {
        Self {
            units: GreedySpace::new(space, blocks, offset),
            open: vec![None; OTHERS + directories.max(1)],
        }
    }

    /// The lifetime of what is wanted.
    fn lifetime(&self, want: &Want) -> usize {
        match want.what {
            What::Directory | What::Map | What::Node => 0,
            What::Data if want.size > SMALL => 1,
            What::Data => OTHERS + want.parent.0 as usize % (self.open.len() - OTHERS),
        }
    }

    /// The unit that a lifetime fills.
    fn unit(&mut self, lifetime: usize) -> Option<u32> {
        let has_room = |unit: &u32| self.units.free_of(*unit) > 0;
        if let Some(unit) = self.open[lifetime].filter(has_room) {
            return Some(unit);
        }
        let others: Vec<u32> = self.open.iter().flatten().copied().collect();
        self.open[lifetime] = self.units.emptiest_but(&others);
        let shared = || others.iter().copied().find(has_room);
        self.open[lifetime].or_else(shared)
    }
}

impl Allocator for ReclaimUnits {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        let unit = self.unit(self.lifetime(want))?;
        self.units.take_from(space, unit, want.blocks)
    }

    fn released(&mut self, space: &Space, extent: Extent) {
        self.units.released(space, extent);
    }

    fn memory_bytes(&self) -> u64 {
        let open = self.open.len() * size_of::<Option<u32>>();
        self.units.memory_bytes() + open as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::FileId;

    fn want(parent: u32, what: What, size: u64) -> Want {
        Want {
            file: FileId(2),
            what,
            page: 0,
            blocks: 4,
            size,
            open: false,
            home: 0,
            after: None,
            extents: false,
            inode: 0,
            parent: FileId(parent),
            processor: 0,
        }
    }

    #[test]
    fn a_directory_that_is_deleted_leaves_whole_units() {
        // Eight units of 8 blocks. Files of 4 blocks, in turn in two directories.
        let of = |allocator: &mut dyn Allocator, space: &mut Space| {
            let mut first = Vec::new();
            for file in 0..8 {
                let wanted = want(file % 2, What::Data, 4);
                let taken = allocator.allocate(space, &wanted).unwrap();
                if file % 2 == 0 {
                    first.push(taken);
                }
            }
            for extent in first {
                space.release(extent);
                allocator.released(space, extent);
            }
            (0..8).filter(|unit| space.run_at(unit * 8, 8) == 8).count()
        };
        let mut space = Space::new(64);
        let mut units = ReclaimUnits::new(&space, 8, 0, 2);
        // 32 blocks fill four units: with lifetimes two of them are whole again, with Greedy-Space none.
        assert_eq!(of(&mut units, &mut space), 6);
        let mut space = Space::new(64);
        let mut greedy = GreedySpace::new(&space, 8, 0);
        assert_eq!(of(&mut greedy, &mut space), 4);
    }

    #[test]
    fn lifetimes_share_a_unit_only_if_none_is_left() {
        let mut space = Space::new(16);
        let mut units = ReclaimUnits::new(&space, 8, 0, 1);
        let mut take = |wanted: Want| units.allocate(&mut space, &wanted).map(|taken| taken.start);
        assert_eq!(take(want(1, What::Data, 4)), Some(0));
        assert_eq!(take(want(1, What::Node, 4)), Some(8));
        assert_eq!(take(want(1, What::Data, 17)), Some(12));
        assert_eq!(take(want(1, What::Data, 4)), Some(4));
        assert_eq!(take(want(1, What::Data, 4)), None);
    }
}

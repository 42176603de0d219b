//! Filling a volume with files before a measurement, and ageing it.
//!
//! The sequence of files depends on the seed, the lengths and the number of usable blocks, and not on the allocator: each
//! allocator ages by the same operations, as in `greedy-space` V.

use crate::block::{BLOCK_BYTES, FileId};
use crate::error::FsError;
use crate::volume::Volume;
use fathom_base::{Bytes, Rng};
use serde::{Deserialize, Serialize};

/// A range of file lengths with a uniform distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Minimum length, at least one byte.
    pub min: Bytes,
    /// Maximum length.
    pub max: Bytes,
}

impl Sizes {
    /// Draws a length in bytes, uniform from `min` to below `max` as Postmark does, or `min` if both are equal.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        self.min.0 + rng.below(self.max.0.saturating_sub(self.min.0))
    }
}

/// Number of times that a volume is overfilled and thinned out.
const ROUNDS: u32 = 4;
/// Length of the names of files, in bytes.
const NAME_BYTES: usize = 8;

/// A step of ageing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aged {
    /// Creates a file in a directory, given by its index, and writes it.
    Create {
        /// The directory.
        directory: usize,
        /// Length of the file, at least one byte.
        bytes: u64,
    },
    /// Deletes a file, given by its index among those that are left; the last of them takes its place
    /// ([`Vec::swap_remove`]).
    Delete(usize),
    /// Writes everything to the drive.
    Sync,
}

/// The files that age a file system, in order, until data takes a share of the blocks that are free now, and the free
/// blocks are fragmented. Several times, half of the blocks that are to stay free are filled as well, and random files are
/// deleted until enough blocks are free. Then the used share is at most `share` and less than one file below it.
#[derive(Clone, Debug)]
pub struct Ageing {
    /// Blocks that files may have at the end of a round, and that they have at its middle.
    most: u64,
    overfull: u64,
    directories: u64,
    sizes: Sizes,
    rng: Rng,
    /// Blocks of each file that is left, and of all.
    files: Vec<u64>,
    used: u64,
    fills: bool,
    rounds: u32,
}

impl Ageing {
    /// The steps for `free` free blocks, of which data is to take `share`, in this many directories.
    pub fn new(free: u64, share: f64, directories: u64, sizes: Sizes, rng: Rng) -> Self {
        let most = (free as f64 * share.clamp(0.0, 1.0)) as u64;
        Self {
            most,
            overfull: most + (free - most) / 2,
            directories,
            sizes,
            rng,
            files: Vec::new(),
            used: 0,
            fills: true,
            rounds: 0,
        }
    }

    fn create(&mut self) -> Aged {
        let directory = self.rng.below(self.directories) as usize;
        let bytes = self.sizes.draw(&mut self.rng);
        let bytes = bytes.min((self.overfull - self.used) * BLOCK_BYTES);
        let blocks = bytes.div_ceil(BLOCK_BYTES);
        self.files.push(blocks);
        self.used += blocks;
        Aged::Create { directory, bytes }
    }

    fn delete(&mut self) -> Aged {
        let victim = self.rng.below(self.files.len() as u64) as usize;
        self.used -= self.files.swap_remove(victim);
        Aged::Delete(victim)
    }
}

impl Iterator for Ageing {
    type Item = Aged;

    fn next(&mut self) -> Option<Aged> {
        if self.most == 0 || self.directories == 0 || self.rounds == ROUNDS {
            return None;
        }
        self.fills &= self.used < self.overfull;
        if self.fills {
            return Some(self.create());
        }
        if self.used > self.most {
            return Some(self.delete());
        }
        self.fills = true;
        self.rounds += 1;
        Some(Aged::Sync)
    }
}

impl Volume {
    /// Ages the volume with files in these directories ([`Ageing`]). Returns the remaining files.
    ///
    /// # Errors
    /// No inode is free, or there is no room for what maps the files.
    pub fn age(
        &mut self,
        directories: &[FileId],
        share: f64,
        sizes: Sizes,
        rng: Rng,
    ) -> Result<Vec<FileId>, FsError> {
        let free = self.space().free().saturating_sub(self.layout.kept());
        let steps = Ageing::new(free, share, directories.len() as u64, sizes, rng);
        let mut files = Vec::new();
        for step in steps {
            match step {
                Aged::Create { directory, bytes } => {
                    let file = self.create(directories[directory], NAME_BYTES, false)?;
                    self.set_size(file, bytes)?;
                    self.allocate(file, 0, bytes.div_ceil(BLOCK_BYTES) as u32)?;
                    self.open(file, false)?;
                    files.push(file);
                }
                Aged::Delete(victim) => {
                    let freed = self.delete(files.swap_remove(victim))?;
                    self.release(&freed);
                }
                Aged::Sync => self.forget_changes()?,
            }
        }
        Ok(files)
    }

    /// Forgets which metadata was changed: what was done so far is on the drive.
    ///
    /// # Errors
    /// A log-structured format has no room for what is to be written.
    pub fn forget_changes(&mut self) -> Result<(), FsError> {
        self.checkpoint()?;
        self.take_changed();
        self.take_revoked();
        self.close();
        self.committed(&[]);
        self.take_fresh();
        self.take_cleaned();
        self.take_writes();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Aged, Ageing, ROUNDS, Sizes};
    use crate::block::BLOCK_BYTES;
    use fathom_base::{Bytes, Rng};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn each_round_overfills_and_ends_at_the_share(
            seed: u64,
            free in 0_u64..200_000,
            share in 0.0_f64..1.0,
            directories in 0_u64..5,
            min in 1_u64..100_000,
            more in 0_u64..10_000_000,
        ) {
            let sizes = Sizes { min: Bytes(min), max: Bytes(min + more) };
            let (mut files, mut used, mut peak, mut syncs) = (Vec::new(), 0, 0, 0);
            let most = (free as f64 * share) as u64;
            for step in Ageing::new(free, share, directories, sizes, Rng::new(seed, 0)) {
                match step {
                    Aged::Create { directory, bytes } => {
                        prop_assert!((directory as u64) < directories && bytes > 0);
                        files.push(bytes.div_ceil(BLOCK_BYTES));
                        used += bytes.div_ceil(BLOCK_BYTES);
                        peak = peak.max(used);
                    }
                    Aged::Delete(victim) => {
                        prop_assert!(used > most);
                        used -= files.swap_remove(victim);
                    }
                    Aged::Sync => {
                        prop_assert_eq!(peak, most + (free - most) / 2);
                        prop_assert!(used <= most);
                        prop_assert!(used + (min + more).div_ceil(BLOCK_BYTES) >= most);
                        peak = used;
                        syncs += 1;
                    }
                }
            }
            prop_assert_eq!(syncs, if most > 0 && directories > 0 { ROUNDS } else { 0 });
        }
    }
}

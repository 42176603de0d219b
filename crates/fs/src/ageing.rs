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

impl Volume {
    /// Fills the volume with files in random directories until data takes `share` of the blocks that are free now, and
    /// the free blocks are fragmented. Several times, half of the blocks that are to stay free are filled as well, and
    /// random files are deleted until enough blocks are free. Returns the remaining files. The used share is then at most
    /// `share` and less than one file below it.
    ///
    /// # Errors
    /// No inode is free, or there is no room for what maps the files.
    pub fn age(
        &mut self,
        directories: &[FileId],
        share: f64,
        sizes: Sizes,
        rng: &mut Rng,
    ) -> Result<Vec<FileId>, FsError> {
        let usable = self.space().free().saturating_sub(self.layout.kept());
        let most = (usable as f64 * share.clamp(0.0, 1.0)) as u64;
        let overfull = most + (usable - most) / 2;
        let mut files: Vec<(FileId, u64)> = Vec::new();
        let mut used = 0;
        for _ in 0..ROUNDS {
            while used < overfull && most > 0 {
                let Some(&directory) = rng.pick(directories) else {
                    break;
                };
                let bytes = sizes.draw(rng);
                let blocks = bytes.div_ceil(BLOCK_BYTES).min(overfull - used);
                let file = self.create(directory, NAME_BYTES, false)?;
                self.set_size(file, bytes.min(blocks * BLOCK_BYTES))?;
                self.allocate(file, 0, blocks as u32)?;
                self.open(file, false)?;
                files.push((file, blocks));
                used += blocks;
            }
            while used > most && !files.is_empty() {
                let victim = rng.below(files.len() as u64) as usize;
                let (file, blocks) = files.swap_remove(victim);
                let freed = self.delete(file)?;
                self.release(&freed);
                used -= blocks;
            }
            self.forget_changes()?;
        }
        Ok(files.into_iter().map(|(file, _)| file).collect())
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

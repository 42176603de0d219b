//! Filling a drive with files before a measurement, and aging it.

use super::space::{Full, Space};
use crate::block::{BLOCK_BYTES, Extent, GROUP_BLOCKS};
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

/// Number of times that a drive is overfilled and thinned out.
const ROUNDS: u32 = 4;

/// Something that can be filled with files.
pub(super) trait Fill {
    /// The handle of a file.
    type File;

    /// The block allocator.
    fn space(&self) -> &Space;

    /// Adds a file, no longer than there is room for.
    fn add(&mut self, sizes: Sizes, rng: &mut Rng) -> Result<Self::File, Full>;

    /// Deletes a file.
    fn remove(&mut self, file: Self::File);
}

/// Fills the drive with files until `share` of the usable blocks is used and the free blocks are fragmented. Several
/// times, half of the blocks that are to stay free are filled as well, and random files are deleted until enough blocks
/// are free. Returns the remaining files. The used share is then at most `share` and less than one file below it,
/// unless more was used before.
pub(super) fn fill<F: Fill>(
    drive: &mut F,
    share: f64,
    sizes: Sizes,
    rng: &mut Rng,
) -> Result<Vec<F::File>, Full> {
    let usable = drive.space().usable();
    let target = usable - (usable as f64 * share.clamp(0.0, 1.0)) as u64;
    let mut files = Vec::new();
    for _ in 0..ROUNDS {
        while drive.space().free() > target / 2 {
            files.push(drive.add(sizes, rng)?);
        }
        while drive.space().free() < target && !files.is_empty() {
            let victim = rng.below(files.len() as u64) as usize;
            drive.remove(files.swap_remove(victim));
        }
    }
    Ok(files)
}

/// Files in random groups; only their extents are known.
impl Fill for Space {
    type File = Box<[Extent]>;

    fn space(&self) -> &Space {
        self
    }

    fn add(&mut self, sizes: Sizes, rng: &mut Rng) -> Result<Self::File, Full> {
        let blocks = sizes.draw(rng).div_ceil(BLOCK_BYTES).max(1);
        let goal = rng.below(self.groups()) * GROUP_BLOCKS;
        let mut extents = Vec::new();
        self.allocate(goal, blocks.min(self.free()), &mut extents)?;
        Ok(extents.into_boxed_slice())
    }

    fn remove(&mut self, file: Self::File) {
        file.iter().for_each(|&extent| self.release(extent));
    }
}

/// Number of files that begin in each group.
pub(super) fn by_group(space: &Space, files: &[Box<[Extent]>]) -> Vec<u64> {
    let mut counts = vec![0; space.groups() as usize];
    for first in files.iter().filter_map(|extents| extents.first()) {
        counts[(first.start / GROUP_BLOCKS) as usize] += 1;
    }
    counts
}

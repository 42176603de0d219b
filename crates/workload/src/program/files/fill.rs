//! A drive that is filled with files before anything is measured, and aged.

use super::space::{Extent, GROUP_BLOCKS, Space};
use super::{BLOCK_BYTES, GROUP_METADATA};
use fathom_base::{Bytes, Rng};
use serde::{Deserialize, Serialize};

/// Lengths of files, each as likely as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// The shortest, at least one byte.
    pub min: Bytes,
    /// The longest.
    pub max: Bytes,
}

impl Sizes {
    /// Draws one, in bytes: uniform from `min` up to below `max` as Postmark draws, or `min` where they are equal.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        self.min.0 + rng.below(self.max.0.saturating_sub(self.min.0))
    }
}

/// Places files at random until `share` of the usable blocks is used, turns them over, and tells how many files each
/// group ended up with, by where they begin.
pub(super) fn fill(space: &mut Space, share: f64, sizes: Sizes, rng: &mut Rng) -> Vec<u64> {
    let used = (space.usable() as f64 * share.clamp(0.0, 1.0)) as u64;
    let target = space.usable() - used;
    let mut files = Vec::new();
    top_up(space, target, sizes, rng, &mut files);
    for _ in 0..files.len() {
        let victim = rng.below(files.len() as u64) as usize;
        if files.is_empty() {
            break;
        }
        let gone: Box<[Extent]> = files.swap_remove(victim);
        gone.iter().for_each(|&extent| space.release(extent));
        top_up(space, target, sizes, rng, &mut files);
    }
    let mut counts = vec![0; space.groups() as usize];
    for first in files.iter().filter_map(|extents| extents.first()) {
        counts[(first.start / GROUP_BLOCKS) as usize] += 1;
    }
    counts
}

/// New files in groups at random until no more than `target` blocks are free; the last one may go over it, if there is
/// room.
fn top_up(
    space: &mut Space,
    target: u64,
    sizes: Sizes,
    rng: &mut Rng,
    files: &mut Vec<Box<[Extent]>>,
) {
    while space.free() > target {
        let blocks = sizes.draw(rng).div_ceil(BLOCK_BYTES).max(1);
        let goal = rng.below(space.groups()) * GROUP_BLOCKS + GROUP_METADATA;
        let mut extents = Vec::new();
        let fits = space.allocate(goal, blocks.min(space.free()), &mut extents);
        if fits.is_err() || extents.is_empty() {
            return;
        }
        files.push(extents.into_boxed_slice());
    }
}

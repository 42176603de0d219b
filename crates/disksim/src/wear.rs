//! Wear-aware cleaning: worn blocks receive cold data or are skipped.
//!
//! Candidates are the blocks of a plane that, in order of block number, have no more valid pages than all blocks before
//! them; they are tried in reverse order. The remaining life of a block is compared with the mean of the plane. From 85 %
//! on, the block is cleaned. From 80 to 85 %, it is cleaned and then receives the data of the coldest block of the plane,
//! the one that was erased longest ago, which is erased as well. Below 80 %, it is cleaned with a probability that falls
//! to zero at 75 %. The last candidate is cleaned in any case.

use super::clean::Cleaner;
use super::flash::Flash;
use super::pass::{Pass, clean};
use super::shape::Shape;

/// Remaining life, relative to the mean, below which a block receives cold data.
const MIGRATE_BELOW: f64 = 0.85;
/// Remaining life, relative to the mean, below which a block may be skipped.
const LIMIT_BELOW: f64 = 0.80;
/// Width of the range below [`LIMIT_BELOW`] in which the probability of cleaning falls to zero.
const LIMIT_WINDOW: f64 = 0.05;

impl Cleaner {
    /// Cleans a plane once. Returns `None` if no block can be cleaned.
    pub(super) fn plane_by_wear(
        &mut self,
        flash: &mut Flash,
        shape: &Shape,
        element: u32,
        plane: u32,
        millis: f64,
    ) -> Option<Pass> {
        let Self {
            costs,
            rng,
            candidates,
            ..
        } = self;
        let first = plane * shape.blocks;
        let base = element * shape.slots() + first;
        let rows = base as usize..(base + shape.blocks) as usize;
        candidates.clear();
        let mut least = shape.data_pages() as i16;
        for (row, &score) in (0..).zip(&flash.score[rows.clone()]) {
            if score <= least {
                least = score;
                candidates.push((score, row, first + row));
            }
        }
        let life = |erases: u16| f64::from(shape.endurance) - f64::from(erases);
        let mean =
            flash.erases[rows].iter().map(|&n| life(n)).sum::<f64>() / f64::from(shape.blocks);
        while let Some((_, row, slot)) = candidates.pop() {
            let left = life(flash.erases[(base + row) as usize]) / mean;
            if !flash.can_move(shape, element, slot) {
                continue;
            }
            if candidates.is_empty() || left >= MIGRATE_BELOW {
                return Some(clean(flash, shape, costs, element, slot, millis));
            }
            if left >= LIMIT_BELOW {
                let emptied = clean(flash, shape, costs, element, slot, millis);
                let Some(cold) = coldest(flash, shape, element, plane, slot, millis) else {
                    return Some(emptied);
                };
                let pages = flash.migrate(shape, element, cold, slot);
                let moved = Pass {
                    cost: f64::from(pages) * costs.read + f64::from(pages) * costs.program,
                    ..Pass::default()
                };
                let erased = clean(flash, shape, costs, element, cold, millis);
                return Some(emptied.then(moved).then(erased));
            }
            if rng.chance((left - (LIMIT_BELOW - LIMIT_WINDOW)) / LIMIT_WINDOW) {
                return Some(clean(flash, shape, costs, element, slot, millis));
            }
        }
        None
    }
}

/// Returns the sealed block of a plane that was erased longest ago, the first one if there are several.
fn coldest(
    flash: &Flash,
    shape: &Shape,
    element: u32,
    plane: u32,
    not: u32,
    millis: f64,
) -> Option<u32> {
    let mut oldest = (millis, None);
    for slot in plane * shape.blocks..(plane + 1) * shape.blocks {
        let at = flash.erased_at[(element * shape.slots() + slot) as usize];
        if at < oldest.0 && slot != not && flash.is_sealed(shape, element, slot) {
            oldest = (at, Some(slot));
        }
    }
    oldest.1
}

//! Cleaning of a block: its valid pages are moved, it is erased, and the element is blocked meanwhile.

use super::flash::Flash;
use super::shape::{Costs, Shape};

/// Result of a cleaning pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pass {
    /// Time for which the element is blocked, in milliseconds.
    pub(super) cost: f64,
    /// Number of blocks erased.
    pub(super) blocks: u64,
    /// Number of pages moved.
    pub(super) moved: u64,
}

impl Pass {
    /// Adds another block, cleaned after this one.
    pub(super) fn then(self, next: Pass) -> Pass {
        Pass {
            cost: self.cost + next.cost,
            blocks: self.blocks + next.blocks,
            moved: self.moved + next.moved,
        }
    }

    /// Adds another block, cleaned in parallel with this one.
    pub(super) fn beside(self, other: Pass) -> Pass {
        Pass {
            cost: self.cost.max(other.cost),
            ..self.then(other)
        }
    }
}

/// Moves the valid pages of the block in a slot and erases it.
pub(super) fn clean(
    flash: &mut Flash,
    shape: &Shape,
    costs: &Costs,
    element: u32,
    slot: u32,
    millis: f64,
) -> Pass {
    let plane = slot / shape.blocks;
    let mut pass = Pass {
        cost: 0.0,
        blocks: 1,
        moved: 0,
    };
    flash.begin_cleaning(shape, element, slot);
    for word in 0..flash.valid_words(shape) {
        let mut valid = flash.valid_word(shape, element, slot, word);
        while valid != 0 {
            let place = slot * shape.pages + word * 64 + valid.trailing_zeros();
            valid &= valid - 1;
            let page = flash.page_at(shape, element, place);
            let to = shape.copy_back.then_some(plane);
            // The caller has checked that there is room.
            let last = flash.append(shape, element, to, page).unwrap_or(false);
            let mut cost = costs.read + costs.program_page(last);
            pass.moved += 1;
            if !shape.copy_back {
                let there = flash.tally[element as usize].open.slot / shape.blocks;
                if there != plane {
                    cost += 2.0 * costs.transfer;
                }
            }
            pass.cost += cost;
        }
    }
    pass.cost += costs.erase;
    flash.erase(shape, element, slot, millis + pass.cost);
    pass
}

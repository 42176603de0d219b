//! Cleaning (garbage collection): the choice of the victim block, the destination of its pages, and the time that the
//! element is blocked.
//!
//! A pass cleans one plane of every parallel unit that has a plane with too few free blocks. Without copy-back it cleans
//! the element as a whole. A block whose pages are all valid, or find no room, is left alone.

use super::flash::{Flash, NO_CANDIDATE};
use super::pass::{Pass, clean};
use super::shape::{Costs, Shape};
use fathom_base::Rng;

/// State of the cleaner.
#[derive(Clone, Debug)]
pub(super) struct Cleaner {
    /// Plane within each parallel unit that is tried first.
    turn: Vec<u32>,
    pub(super) costs: Costs,
    /// Candidate blocks (valid pages, block number, slot). Used within a pass only.
    pub(super) candidates: Vec<(i16, u32, u32)>,
    /// Random numbers for wear-aware cleaning.
    pub(super) rng: Rng,
}

impl Cleaner {
    pub(super) fn new(shape: &Shape, costs: Costs, seed: u64) -> Self {
        Self {
            turn: vec![0; (shape.elements * shape.units) as usize],
            costs,
            candidates: Vec::with_capacity(if shape.copy_back && !shape.wear_aware {
                0
            } else {
                shape.slots() as usize
            }),
            rng: Rng::new(seed, 0),
        }
    }

    /// Cleans an element once, if it is necessary and possible.
    pub(super) fn pass(
        &mut self,
        flash: &mut Flash,
        shape: &Shape,
        element: u32,
        millis: f64,
    ) -> Option<Pass> {
        let pass = if shape.copy_back {
            if flash.tally[element as usize].low_planes == 0 {
                return None;
            }
            self.units(flash, shape, element, millis)
        } else {
            self.whole(flash, shape, element, millis)
        };
        (pass.blocks > 0).then_some(pass)
    }

    /// Cleans one plane of every parallel unit.
    fn units(&mut self, flash: &mut Flash, shape: &Shape, element: u32, millis: f64) -> Pass {
        let per_unit = shape.planes / shape.units;
        let mut pass = Pass::default();
        for unit in 0..shape.units {
            let turn = (element * shape.units + unit) as usize;
            let first = self.turn[turn];
            let planes = (0..per_unit).map(|i| (first + i) % per_unit);
            for plane in planes {
                let n = unit * per_unit + plane;
                let free = flash.planes[(element * shape.planes + n) as usize].free;
                if free > shape.low {
                    continue;
                }
                let Some(cleaned) = self.plane(flash, shape, element, n, millis) else {
                    continue;
                };
                self.turn[turn] = (plane + 1) % per_unit;
                pass = pass.beside(cleaned);
                break;
            }
        }
        pass
    }

    /// Cleans one block of a plane, if possible.
    fn plane(
        &mut self,
        flash: &mut Flash,
        shape: &Shape,
        element: u32,
        plane: u32,
        millis: f64,
    ) -> Option<Pass> {
        if shape.wear_aware {
            return self.plane_by_wear(flash, shape, element, plane, millis);
        }
        let slot = victim(flash, shape, element, plane)?;
        Some(clean(flash, shape, &self.costs, element, slot, millis))
    }

    /// Cleans the element as a whole, until enough blocks are free.
    fn whole(&mut self, flash: &mut Flash, shape: &Shape, element: u32, millis: f64) -> Pass {
        let mut pass = Pass::default();
        if flash.tally[element as usize].free > shape.low_element {
            return pass;
        }
        let base = element * shape.slots();
        let scores = &flash.score[base as usize..(base + shape.slots()) as usize];
        self.candidates.clear();
        for (slot, &score) in (0..).zip(scores) {
            if score < shape.data_pages() as i16 {
                self.candidates
                    .push((score, shape.block_number(slot), slot));
            }
        }
        self.candidates.sort_unstable();
        for &(_, _, slot) in &self.candidates {
            if !flash.can_move(shape, element, slot) {
                break;
            }
            pass = pass.then(clean(flash, shape, &self.costs, element, slot, millis));
            if flash.tally[element as usize].free > shape.low_element + 1 {
                break;
            }
        }
        pass
    }
}

/// Returns the victim of a plane: the block with the fewest valid pages, the last one if there are several.
fn victim(flash: &Flash, shape: &Shape, element: u32, plane: u32) -> Option<u32> {
    let first = plane * shape.blocks;
    let base = (element * shape.slots() + first) as usize;
    let scores = &flash.score[base..base + shape.blocks as usize];
    let least = scores
        .iter()
        .fold(NO_CANDIDATE, |least, &score| least.min(score));
    let row = scores.iter().rposition(|&score| score == least)?;
    let slot = first + row as u32;
    (least < shape.data_pages() as i16 && flash.can_move(shape, element, slot)).then_some(slot)
}

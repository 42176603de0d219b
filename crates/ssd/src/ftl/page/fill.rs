//! Fills an erased drive in order, one block in every group at a time. It has the same result as `write` page by
//! page, without writing the tables: [`super::filled`] says what would be in them.
//!
//! Measured on `model:epo` with 42 million pages: 2.8 s by requests, 1.0 s by `write` alone, 0.2 s with the tables
//! written in order (340 MiB), 0.02 s this way.

use super::PageFtl;
use super::filled::Filled;
use super::group::HOST;
use crate::ftl::contract::NO_CBLOCK;

#[cfg(test)]
mod tests;

/// Number of erased blocks that every group keeps. With fewer, `write` looks for blocks to collect.
const KEPT: usize = 4;

impl PageFtl {
    /// Writes the first clustered pages in order, as long as every group can take a whole block of them. Returns
    /// how many were written: 0 if the placement of a page depends on something that this does not handle.
    pub(super) fn fill_rows(&mut self, cpages: u32) -> u32 {
        let is_plain = !self.heat.is_used() && self.in_step.is_none() && self.cache.is_none();
        if !is_plain || self.g.units_lost_per_cblock > 0 || !self.is_new() {
            return 0;
        }
        let row = self.g.groups * self.g.cpages_per_cblock;
        let mut rows = 0;
        while cpages - rows * row >= row && self.takes_a_row() && self.fill_row() {
            rows += 1;
        }
        if rows == 0 {
            return 0;
        }
        let turn = match &self.stripes {
            Some(stripes) => stripes.in_turn().to_vec(),
            None => (0..self.g.groups).collect(),
        };
        let filled = Filled::new(&self.g, turn, rows);
        self.owners.fill(filled.clone());
        self.map.fill(filled);
        rows * row
    }

    /// Returns true if nothing was written yet, so that every group takes its blocks in the order of their numbers.
    fn is_new(&self) -> bool {
        let blocks = self.g.cblocks_per_group;
        let in_order = |group: u32| group * blocks..(group + 1) * blocks;
        self.turn == 0
            && self.wear.is_new()
            && (0..).zip(&self.groups).all(|(group, at)| {
                let is_empty = at.valid == 0 && at.open[HOST].cblock == NO_CBLOCK;
                is_empty && at.free.iter().eq(in_order(group))
            })
    }

    fn takes_a_row(&self) -> bool {
        let takes = |units: u32| units + self.g.units_per_cblock;
        let mut groups = self.groups.iter();
        groups.all(|at| at.free.len() > KEPT && takes(at.valid) <= at.valid_max)
    }

    /// Fills one block in every group. Returns false if a group has no erased block.
    fn fill_row(&mut self) -> bool {
        for group in 0..self.g.groups {
            if self.open_block(group, HOST, &mut Vec::new()).is_none() {
                return false;
            }
            let at = &mut self.groups[group as usize];
            at.open[HOST].next = self.g.units_per_cblock;
            at.valid += self.g.units_per_cblock;
            let units = self.g.units_per_cblock;
            self.blocks.gain(at.open[HOST].cblock, group, units);
        }
        true
    }
}

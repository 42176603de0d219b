//! Fills an erased drive in order, one block in every group at a time. It has the same result as `write` page by
//! page, but runs at the speed of memory.
//!
//! Measured on `model:epo` with 42 million pages: 2.8 s by requests, 1.0 s by `write` alone, 0.2 s this way.

use super::PageFtl;
use super::group::HOST;
use crate::ftl::contract::NO_CBLOCK;

/// Number of erased blocks that every group keeps. With fewer, `write` looks for blocks to collect.
const KEPT: usize = 4;

impl PageFtl {
    /// Writes the first clustered pages in order, as long as every group can take a whole block of them. Returns
    /// how many were written: 0 if the placement of a page depends on something that this does not handle.
    pub(super) fn fill_rows(&mut self, cpages: u32) -> u32 {
        let is_new = |ftl: &Self| {
            let mut groups = ftl.groups.iter();
            ftl.turn == 0 && groups.all(|at| at.valid == 0 && at.open[HOST].cblock == NO_CBLOCK)
        };
        let is_plain = !self.heat.is_used() && self.in_step.is_none() && self.cache.is_none();
        if !is_plain || self.g.units_lost_per_cblock > 0 || !is_new(self) {
            return 0;
        }
        let order = match &self.stripes {
            Some(stripes) => stripes.in_turn().to_vec(),
            None => (0..self.g.groups).collect(),
        };
        let row = self.g.groups * self.g.cpages_per_cblock;
        let mut filled = 0;
        while cpages - filled >= row && self.takes_a_row() && self.fill_row(filled, &order) {
            filled += row;
        }
        filled
    }

    fn takes_a_row(&self) -> bool {
        let takes = |units: u32| units + self.g.units_per_cblock;
        let mut groups = self.groups.iter();
        groups.all(|at| at.free.len() > KEPT && takes(at.valid) <= at.valid_max)
    }

    /// Fills one block in every group with the pages from `first` on, which go to the groups in `order`. Returns
    /// false if a group has no erased block.
    fn fill_row(&mut self, first: u32, order: &[u32]) -> bool {
        let (width, per_page) = (order.len() as u32, self.g.units_per_cpage);
        let mut places = Vec::with_capacity(order.len());
        for (position, &group) in (0..).zip(order) {
            if self.open_block(group, HOST, &mut Vec::new()).is_none() {
                return false;
            }
            let open = &mut self.groups[group as usize].open[HOST];
            open.next = self.g.units_per_cblock;
            let place = open.cblock * self.g.units_per_cblock;
            self.groups[group as usize].valid += self.g.units_per_cblock;
            self.blocks.gain_all(self.g.cblock_of_unit(place), group);
            let owners = &mut self.owner_of[place as usize..][..self.g.units_per_cblock as usize];
            let mut page = first + position;
            for owners in owners.chunks_exact_mut(per_page as usize) {
                let numbered = (page * per_page + 1..).zip(owners);
                numbered.for_each(|(owner, at)| *at = owner);
                page += width;
            }
            places.push(place + 1);
        }
        let entries = self
            .map
            .fill(first * per_page, width * self.g.units_per_cblock);
        for (row, entries) in (0..).zip(entries.chunks_exact_mut((width * per_page) as usize)) {
            for (&place, entries) in places
                .iter()
                .zip(entries.chunks_exact_mut(per_page as usize))
            {
                let numbered = (place + row * per_page..).zip(entries);
                numbered.for_each(|(place, at)| *at = place);
            }
        }
        true
    }
}

//! The tables of a drive that was filled in order, computed from the numbers of units and places.
//!
//! [`super::fill`] gives each row of clustered pages one block of every group, the next one of the group, and the pages of
//! a row go to the groups in turn. The place of a unit and the owner of a place are therefore a few divisions away, and
//! neither table has to be written. Entries that differ lie elsewhere ([`super::sparse`], [`super::owners`]).

use crate::geometry::{Divisor, Geometry};

/// Empty entry of the map and of the owners of places. Both store numbers plus one, so that empty tables are zero pages.
pub(super) const NOTHING: u32 = 0;

/// The rows of a drive that was filled.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    g: Geometry,
    /// Number of units in the rows. They are the first ones.
    units: u32,
    /// The groups in the order of the pages.
    turn: Vec<u32>,
    /// The index in `turn` of each group.
    turn_of: Vec<u32>,
    by_turn: Divisor,
    by_block: Divisor,
}

impl Filled {
    /// The rule of `rows` rows whose pages go to the groups in the order of `turn`.
    pub(super) fn new(g: &Geometry, turn: Vec<u32>, rows: u32) -> Self {
        let mut turn_of = vec![0; turn.len()];
        for (at, &group) in (0..).zip(&turn) {
            turn_of[group as usize] = at;
        }
        Self {
            units: rows * g.groups * g.units_per_cblock,
            turn,
            turn_of,
            by_turn: Divisor::new(g.groups),
            by_block: Divisor::new(g.cpages_per_cblock),
            g: g.clone(),
        }
    }

    /// Number of units in the rows.
    pub(super) fn units(&self) -> u32 {
        self.units
    }

    /// Returns the place of a unit plus one, or [`NOTHING`].
    #[inline]
    pub(super) fn place(&self, lpn: u32) -> u32 {
        if lpn >= self.units {
            return NOTHING;
        }
        let (page, unit) = self.g.cpage_of_unit(lpn);
        let (turn, at) = self.by_turn.split_u32(page);
        let (row, page) = self.by_block.split_u32(turn);
        let cblock = self.turn[at as usize] * self.g.cblocks_per_group + row;
        (cblock * self.g.cpages_per_cblock + page) * self.g.units_per_cpage + unit + 1
    }

    /// Returns the owner of a place plus one, or [`NOTHING`].
    pub(super) fn owner(&self, place: u32) -> u32 {
        let (page, unit) = self.g.cpage_of_unit(place);
        let (cblock, page) = self.by_block.split_u32(page);
        let group = self.g.group_of_cblock(cblock);
        let row = cblock - group * self.g.cblocks_per_group;
        let turn = row * self.g.cpages_per_cblock + page;
        let page = turn * self.g.groups + self.turn_of[group as usize];
        let lpn = page * self.g.units_per_cpage + unit;
        if lpn < self.units { lpn + 1 } else { NOTHING }
    }

    /// Enters the places of all units into a table. The places of a turn follow those of the turn before it.
    pub(super) fn enter(&self, place_of: &mut [u32]) {
        let width = (self.g.groups * self.g.units_per_cpage) as usize;
        let row = width * self.g.cpages_per_cblock as usize;
        let rows = place_of[..self.units as usize].chunks_exact_mut(row);
        for (first, places) in (0..).step_by(row).zip(rows) {
            let numbered = (first..).zip(&mut places[..width]);
            numbered.for_each(|(lpn, at)| *at = self.place(lpn));
            for turn in (width..row).step_by(width) {
                let (before, rest) = places.split_at_mut(turn);
                let pairs = rest[..width].iter_mut().zip(&before[turn - width..]);
                pairs.for_each(|(at, &last)| *at = last + self.g.units_per_cpage);
            }
        }
    }
}

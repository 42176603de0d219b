//! The unit last written to each place.
//!
//! The places of a drive that was filled in order have owners by a rule ([`super::filled`]). They are entered into the table
//! block by block, when a block is collected. The table is a zero page where nothing was entered, and a copy of the drive
//! leaves it so.

use super::filled::{Filled, NOTHING};
use crate::geometry::Geometry;

/// Number of blocks whose bits share a word.
const WORD: usize = 64;

/// The unit last written to each place, plus one. It is still valid there if the map agrees.
#[derive(Debug)]
pub(super) struct Owners {
    table: Vec<u32>,
    /// One bit for each block that has entries in the table. Those of other blocks follow from the rule.
    entered: Vec<u64>,
    filled: Option<Filled>,
    per_cblock: usize,
}

impl Owners {
    /// The owners of the places of a drive that was never written.
    pub(super) fn new(g: &Geometry) -> Self {
        Self {
            table: vec![NOTHING; g.physical_units() as usize],
            entered: vec![0; (g.cblocks() as usize).div_ceil(WORD)],
            filled: None,
            per_cblock: g.units_per_cblock as usize,
        }
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.table = vec![NOTHING; self.table.len()];
        self.entered.fill(0);
        self.filled = None;
    }

    /// Sets the owners by the rule. There must be no valid unit in other places.
    pub(super) fn fill(&mut self, filled: Filled) {
        self.entered.fill(0);
        self.filled = Some(filled);
    }

    /// Notes that the places of an erased block get entries from now on.
    pub(super) fn open(&mut self, cblock: u32) {
        self.entered[cblock as usize / WORD] |= 1 << (cblock as usize % WORD);
    }

    fn is_entered(&self, cblock: usize) -> bool {
        self.entered[cblock / WORD] >> (cblock % WORD) & 1 == 1
    }

    /// Sets the owner of a place in an open block, plus one.
    #[inline]
    pub(super) fn set(&mut self, place: u32, owner: u32) {
        self.table[place as usize] = owner;
    }

    /// Returns the owner of a place plus one, or [`NOTHING`].
    pub(super) fn get(&self, place: u32) -> u32 {
        match &self.filled {
            Some(filled) if !self.is_entered(place as usize / self.per_cblock) => {
                filled.owner(place)
            }
            _ => self.table[place as usize],
        }
    }

    /// Returns the owners of the places of a block, plus one each.
    #[inline]
    pub(super) fn of_block(&mut self, cblock: u32) -> &[u32] {
        if self.filled.is_some() && !self.is_entered(cblock as usize) {
            self.enter(cblock);
        }
        &self.table[cblock as usize * self.per_cblock..][..self.per_cblock]
    }

    /// Enters what the rule says about a block.
    #[cold]
    fn enter(&mut self, cblock: u32) {
        if let Some(filled) = &self.filled {
            let first = cblock as usize * self.per_cblock;
            let entries = &mut self.table[first..][..self.per_cblock];
            let numbered = (first as u32..).zip(entries);
            numbered.for_each(|(place, at)| *at = filled.owner(place));
        }
        self.open(cblock);
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.table.capacity() * 4 + self.entered.capacity() * 8
    }
}

/// A copy of the entries, and not of the zero pages between them.
impl Clone for Owners {
    fn clone(&self) -> Self {
        let mut table = vec![NOTHING; self.table.len()];
        let blocks = table.chunks_mut(self.per_cblock);
        let pairs = blocks.zip(self.table.chunks(self.per_cblock));
        for (cblock, (to, from)) in pairs.enumerate() {
            if self.is_entered(cblock) {
                to.copy_from_slice(from);
            }
        }
        Self {
            table,
            entered: self.entered.clone(),
            filled: self.filled.clone(),
            per_cblock: self.per_cblock,
        }
    }
}

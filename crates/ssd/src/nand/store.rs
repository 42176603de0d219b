//! What the flash array holds, for those who verify: bytes, owner and age of every programmed unit.
//!
//! Exists only where data is kept. A cell can be read as soon as its program is issued and survives a power
//! cut only once the program is done, which is what makes the power-cut tests mean something.

use fathom_base::{Lpn, Ppn};
use std::collections::BTreeMap;

/// A programmed unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Whose data it is: the owner written beside the data (the spare area of a real page).
    pub(crate) lpn: Lpn,
    /// Which host write brought it; the same in every copy. Later writes have higher numbers.
    pub(crate) version: u64,
    /// How often it was moved since the host wrote it.
    pub(crate) copies: u32,
    /// Whether it would survive a power cut.
    pub(crate) durable: bool,
    /// The data.
    pub(crate) bytes: Box<[u8]>,
}

/// Programmed units by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    cells: BTreeMap<Ppn, Cell>,
    versions: u64,
}

impl Store {
    /// A host program is issued.
    pub(crate) fn program(&mut self, at: Ppn, lpn: Lpn, bytes: Box<[u8]>) {
        self.versions += 1;
        let cell = Cell {
            lpn,
            version: self.versions,
            copies: 0,
            durable: false,
            bytes,
        };
        debug_assert!(
            !self.cells.contains_key(&at),
            "unit {at:?} programmed twice"
        );
        self.cells.insert(at, cell);
    }

    /// A copy is issued.
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, units: u32) {
        for i in 0..units {
            if let Some(cell) = self.cells.get(&Ppn(from.0 + i)) {
                let copied = Cell {
                    durable: false,
                    copies: cell.copies + 1,
                    ..cell.clone()
                };
                debug_assert!(
                    !self.cells.contains_key(&Ppn(to.0 + i)),
                    "copied over a unit"
                );
                self.cells.insert(Ppn(to.0 + i), copied);
            }
        }
    }

    /// The programs of `units` units from `first` on are done.
    pub(crate) fn settle(&mut self, first: Ppn, units: u32) {
        for (_, cell) in self.cells.range_mut(first..Ppn(first.0 + units)) {
            cell.durable = true;
        }
    }

    /// An erase is done.
    pub(crate) fn erase(&mut self, first: Ppn, units: u32) {
        for i in 0..units {
            self.cells.remove(&Ppn(first.0 + i));
        }
    }

    /// The data at a place.
    pub(crate) fn get(&self, at: Ppn) -> Option<&Cell> {
        self.cells.get(&at)
    }

    /// The units whose newest version is still being programmed: what a battery must save.
    pub(crate) fn latest_in_flight(&self) -> Vec<Cell> {
        let mut newest: BTreeMap<Lpn, &Cell> = BTreeMap::new();
        for cell in self.cells.values() {
            let best = newest.entry(cell.lpn).or_insert(cell);
            if (cell.version, cell.durable) > (best.version, best.durable) {
                *best = cell;
            }
        }
        newest
            .into_values()
            .filter(|cell| !cell.durable)
            .cloned()
            .collect()
    }

    /// Power is cut: what was not done is lost. Gives the places that were being programmed.
    pub(crate) fn power_cut(&mut self) -> Vec<Ppn> {
        let torn: Vec<Ppn> = self
            .cells
            .iter()
            .filter(|(_, c)| !c.durable)
            .map(|(p, _)| *p)
            .collect();
        self.cells.retain(|_, cell| cell.durable);
        torn
    }

    /// Every unit, in order of place: the scan of a drive that has lost its map.
    pub(crate) fn scan(&self) -> impl Iterator<Item = (Ppn, &Cell)> {
        self.cells.iter().map(|(at, cell)| (*at, cell))
    }
}

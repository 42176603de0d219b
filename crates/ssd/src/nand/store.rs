//! What the flash array holds, for those who verify: bytes, owner and age of every programmed unit.
//!
//! Exists only where data is kept. A cell can be read as soon as its program is issued and survives a power cut only
//! once that very program is done, which is what makes the power-cut tests mean something. A cell whose program was cut
//! off is torn: it holds nothing, and cannot be programmed before its block is erased. An erase that is cut off has not
//! begun.

use crate::geometry::Geometry;
use fathom_base::{Lpn, Ppn, SECTOR_BYTES};
use std::collections::BTreeMap;

/// The program of a cell is not issued yet.
const NOT_ISSUED: u64 = u64::MAX;

/// What is in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Erased,
    /// Its program, of this number, is under way.
    Pending(u64),
    Durable,
    Torn,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    state: State,
    lpn: Lpn,
    version: u64,
    copies: u32,
}

/// A programmed unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    /// Whose data it is: the owner written beside the data (the spare area of a real page).
    pub(crate) lpn: Lpn,
    /// Which host write brought it; the same in every copy. Later writes have higher numbers.
    pub(crate) version: u64,
    /// How often it was moved since the host wrote it.
    pub(crate) copies: u32,
    /// The data; empty for a unit of a map.
    pub(crate) bytes: &'a [u8],
}

/// A clustered block that was programmed since it was erased.
#[derive(Clone, Debug)]
struct Block {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

/// Programmed units by place.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    blocks: Vec<Option<Box<Block>>>,
    units_per_block: u32,
    unit_bytes: usize,
    /// Owners from here on are units of a map, whose bytes are not kept.
    host_units: u32,
    versions: u64,
    is_whole: bool,
}

impl Store {
    /// An erased flash array, or with `is_whole` false, one of which nobody knows what it holds.
    pub(crate) fn new(g: &Geometry, is_whole: bool) -> Self {
        Self {
            blocks: vec![None; g.cblocks() as usize],
            units_per_block: g.units_per_cblock,
            unit_bytes: g.sectors_per_unit as usize * SECTOR_BYTES as usize,
            host_units: g.logical_units,
            versions: 0,
            is_whole,
        }
    }

    /// Whether it knows all that was ever programmed.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Bytes of a unit.
    pub(crate) fn unit_bytes(&self) -> usize {
        self.unit_bytes
    }

    fn split(&self, at: Ppn) -> (usize, usize) {
        let (block, unit) = (at.0 / self.units_per_block, at.0 % self.units_per_block);
        (block as usize, unit as usize)
    }

    /// The block of a place, and which unit of it, to be programmed.
    fn open(&mut self, at: Ppn) -> (&mut Block, usize) {
        let (block, unit) = self.split(at);
        let (units, size) = (self.units_per_block as usize, self.unit_bytes);
        let block = self.blocks[block].get_or_insert_with(|| {
            Box::new(Block {
                entries: vec![Entry::default(); units],
                bytes: vec![0; units * size],
            })
        });
        (block, unit)
    }

    /// A program of the host's is about to be issued, or of a map, without bytes.
    pub(crate) fn program(&mut self, at: Ppn, lpn: Lpn, bytes: &[u8]) {
        self.versions += 1;
        let (version, size) = (self.versions, self.unit_bytes);
        let (block, unit) = self.open(at);
        let entry = &mut block.entries[unit];
        debug_assert_eq!(entry.state, State::Erased, "unit {at:?} is programmed");
        *entry = Entry {
            state: State::Pending(NOT_ISSUED),
            lpn,
            version,
            copies: 0,
        };
        block.bytes[unit * size..][..bytes.len()].copy_from_slice(bytes);
    }

    /// The program of this number is issued for `units` units from `at` on: for those that wait for theirs.
    pub(crate) fn issue(&mut self, at: Ppn, units: u32, number: u64) {
        for at in at.0..at.0 + units {
            let (block, unit) = self.open(Ppn(at));
            let state = &mut block.entries[unit].state;
            if *state == State::Pending(NOT_ISSUED) {
                *state = State::Pending(number);
            }
        }
    }

    /// A copy is issued, as a part of the program of this number.
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, units: u32, number: u64) {
        for i in 0..units {
            let (from, to) = (Ppn(from.0 + i), Ppn(to.0 + i));
            let Some(cell) = self.get(from) else {
                continue;
            };
            let entry = Entry {
                state: State::Pending(number),
                lpn: cell.lpn,
                version: cell.version,
                copies: cell.copies + 1,
            };
            let bytes: Box<[u8]> = cell.bytes.into();
            let size = self.unit_bytes;
            let (block, unit) = self.open(to);
            let state = block.entries[unit].state;
            debug_assert_eq!(state, State::Erased, "unit {to:?} is programmed");
            block.entries[unit] = entry;
            block.bytes[unit * size..][..bytes.len()].copy_from_slice(&bytes);
        }
    }

    /// The program of this number is done, which lies within `units` units from `first` on.
    pub(crate) fn settle(&mut self, first: Ppn, units: u32, number: u64) {
        for at in first.0..first.0 + units {
            let (block, unit) = self.open(Ppn(at));
            let state = &mut block.entries[unit].state;
            if *state == State::Pending(number) {
                *state = State::Durable;
            }
        }
    }

    /// An erase is done.
    pub(crate) fn erase(&mut self, cblock: u32) {
        self.blocks[cblock as usize] = None;
    }

    /// The data at a place.
    pub(crate) fn get(&self, at: Ppn) -> Option<Cell<'_>> {
        let (block, unit) = self.split(at);
        let block = self.blocks.get(block)?.as_ref()?;
        self.cell(block, unit)
    }

    fn cell<'a>(&self, block: &'a Block, unit: usize) -> Option<Cell<'a>> {
        let entry = &block.entries[unit];
        if matches!(entry.state, State::Erased | State::Torn) {
            return None;
        }
        let kept = entry.lpn.0 < self.host_units;
        let size = if kept { self.unit_bytes } else { 0 };
        Some(Cell {
            lpn: entry.lpn,
            version: entry.version,
            copies: entry.copies,
            bytes: &block.bytes[unit * self.unit_bytes..][..size],
        })
    }

    /// Every place that was programmed since its block was erased.
    fn entries(&self) -> impl Iterator<Item = (Ppn, &Block, usize)> {
        let blocks = (0u32..).zip(&self.blocks);
        let blocks = blocks.filter_map(|(n, block)| Some((n, block.as_deref()?)));
        blocks.flat_map(|(n, block)| {
            let first = n * self.units_per_block;
            (0..block.entries.len()).map(move |unit| (Ppn(first + unit as u32), block, unit))
        })
    }

    /// The host's units whose newest version is still being programmed, with their bytes, the oldest first: what a
    /// battery must save.
    pub(crate) fn latest_in_flight(&self) -> Vec<(Lpn, Box<[u8]>)> {
        let mut pending: BTreeMap<Lpn, Cell<'_>> = BTreeMap::new();
        for (_, block, unit) in self.entries() {
            let cell = self.cell(block, unit);
            if let (State::Pending(_), Some(cell)) = (block.entries[unit].state, cell)
                && cell.lpn.0 < self.host_units
            {
                let newest = pending.entry(cell.lpn).or_insert(cell);
                if cell.version > newest.version {
                    *newest = cell;
                }
            }
        }
        if pending.is_empty() {
            return Vec::new();
        }
        for (_, block, unit) in self.entries() {
            let entry = &block.entries[unit];
            let is_newer = |cell: &Cell<'_>| entry.version >= cell.version;
            if entry.state == State::Durable && pending.get(&entry.lpn).is_some_and(is_newer) {
                pending.remove(&entry.lpn);
            }
        }
        let mut lost: Vec<Cell<'_>> = pending.into_values().collect();
        lost.sort_by_key(|cell| cell.version);
        lost.into_iter()
            .map(|cell| (cell.lpn, cell.bytes.into()))
            .collect()
    }

    /// Power is cut: what was not done is torn. Gives all places that are torn, in order.
    pub(crate) fn power_cut(&mut self) -> Vec<Ppn> {
        for block in self.blocks.iter_mut().flatten() {
            for entry in &mut block.entries {
                if matches!(entry.state, State::Pending(_)) {
                    entry.state = State::Torn;
                }
            }
        }
        let is_torn = |block: &Block, unit: usize| block.entries[unit].state == State::Torn;
        self.entries()
            .filter(|&(_, block, unit)| is_torn(block, unit))
            .map(|(at, _, _)| at)
            .collect()
    }

    /// Every unit, in order of place: the scan of a drive that has lost its map.
    pub(crate) fn scan(&self) -> impl Iterator<Item = (Ppn, Cell<'_>)> {
        self.entries()
            .filter_map(|(at, block, unit)| Some((at, self.cell(block, unit)?)))
    }
}

//! The contents of the flash array, for verification: bytes, owner and version of every programmed unit.
//!
//! Exists only for drives that keep data. A cell is readable as soon as its program is issued, but survives a power cut
//! only after that program is done; the power-cut tests rely on this. A cell whose program was interrupted by a power cut
//! is torn: it holds nothing, and cannot be programmed before its block is erased. An interrupted erase counts as not
//! started.

use crate::geometry::Geometry;
use fathom_base::{Lpn, Ppn, SECTOR_BYTES};
use std::collections::BTreeMap;

/// The program of the cell has not been issued.
const NOT_ISSUED: u64 = u64::MAX;

/// State of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Erased,
    /// Its program, with this number, is in progress.
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
    /// The owner of the data, stored beside it (the spare area of a real page).
    pub(crate) lpn: Lpn,
    /// Version: the number of the write that brought the data; the same in every copy. Later writes have higher numbers.
    pub(crate) version: u64,
    /// Number of times it was moved since the host wrote it.
    pub(crate) copies: u32,
    /// The data; empty for a unit of the mapping table.
    pub(crate) bytes: &'a [u8],
}

/// A clustered block with at least one cell programmed since its last erase.
#[derive(Clone, Debug)]
struct Block {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

/// Programmed units, by place.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    blocks: Vec<Option<Box<Block>>>,
    units_per_block: u32,
    unit_bytes: usize,
    /// Owners from this number on are units of the mapping table, whose bytes are not stored.
    host_units: u32,
    versions: u64,
    /// Units that were recorded as constant, with the version of the record. An older cell of such a unit is not valid.
    constant: BTreeMap<Lpn, u64>,
    is_whole: bool,
}

impl Store {
    /// Creates an erased flash array or, if `is_whole` is false, one with unknown earlier contents.
    pub(crate) fn new(g: &Geometry, is_whole: bool) -> Self {
        Self {
            blocks: vec![None; g.cblocks() as usize],
            units_per_block: g.units_per_cblock,
            unit_bytes: g.sectors_per_unit as usize * SECTOR_BYTES as usize,
            host_units: g.logical_units,
            versions: 0,
            constant: BTreeMap::new(),
            is_whole,
        }
    }

    /// Returns true if it has recorded every program since the drive was new.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Size of a unit in bytes.
    pub(crate) fn unit_bytes(&self) -> usize {
        self.unit_bytes
    }

    fn split(&self, at: Ppn) -> (usize, usize) {
        let (block, unit) = (at.0 / self.units_per_block, at.0 % self.units_per_block);
        (block as usize, unit as usize)
    }

    /// Returns the block of a place and the index of the unit in it, for programming.
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

    /// Records a program of the host or of the mapping table (without bytes) that is about to be issued.
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

    /// Records durably that a unit is constant from now on.
    pub(crate) fn record_constant(&mut self, lpn: Lpn) {
        self.versions += 1;
        self.constant.insert(lpn, self.versions);
    }

    /// Forgets the records of units whose newest cell, at the place that `lookup` returns, is newer. Appends the units that
    /// are still constant to `constant`.
    pub(crate) fn keep_newest_constants(
        &mut self,
        lookup: impl Fn(Lpn) -> Ppn,
        constant: &mut Vec<Lpn>,
    ) {
        let mut records = std::mem::take(&mut self.constant);
        records.retain(|&lpn, version| {
            let cell = self.get(lookup(lpn));
            cell.is_none_or(|cell| cell.version < *version)
        });
        constant.extend(records.keys());
        self.constant = records;
    }

    /// Returns true if a unit was recorded as constant after this version of it.
    fn is_outdated(&self, lpn: Lpn, version: u64) -> bool {
        self.constant.get(&lpn).is_some_and(|&v| v > version)
    }

    /// Marks the cells that wait for issue, of `units` units from `at` on, as being programmed by program `number`.
    pub(crate) fn issue(&mut self, at: Ppn, units: u32, number: u64) {
        for at in at.0..at.0 + units {
            let (block, unit) = self.open(Ppn(at));
            let state = &mut block.entries[unit].state;
            if *state == State::Pending(NOT_ISSUED) {
                *state = State::Pending(number);
            }
        }
    }

    /// Records a copy, issued as part of program `number`.
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

    /// Marks the cells of program `number` as durable; they lie within `units` units from `first` on.
    pub(crate) fn settle(&mut self, first: Ppn, units: u32, number: u64) {
        for at in first.0..first.0 + units {
            let (block, unit) = self.open(Ppn(at));
            let state = &mut block.entries[unit].state;
            if *state == State::Pending(number) {
                *state = State::Durable;
            }
        }
    }

    /// Removes the contents of an erased block.
    pub(crate) fn erase(&mut self, cblock: u32) {
        self.blocks[cblock as usize] = None;
    }

    /// Returns the data at a place.
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

    /// Iterates over all cells of the blocks that were programmed since their last erase.
    fn entries(&self) -> impl Iterator<Item = (Ppn, &Block, usize)> {
        let blocks = (0u32..).zip(&self.blocks);
        let blocks = blocks.filter_map(|(n, block)| Some((n, block.as_deref()?)));
        blocks.flat_map(|(n, block)| {
            let first = n * self.units_per_block;
            (0..block.entries.len()).map(move |unit| (Ppn(first + unit as u32), block, unit))
        })
    }

    /// Returns the host's units whose newest version is still being programmed, with their bytes, oldest first. A battery
    /// must save these at a power cut.
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
        let lost = pending.into_values();
        let mut lost: Vec<Cell<'_>> = lost
            .filter(|cell| !self.is_outdated(cell.lpn, cell.version))
            .collect();
        lost.sort_by_key(|cell| cell.version);
        lost.into_iter()
            .map(|cell| (cell.lpn, cell.bytes.into()))
            .collect()
    }

    /// Marks all cells whose programs were in progress as durable.
    pub(crate) fn settle_all(&mut self) {
        for block in self.blocks.iter_mut().flatten() {
            for entry in &mut block.entries {
                if matches!(entry.state, State::Pending(_)) {
                    entry.state = State::Durable;
                }
            }
        }
    }

    /// Marks all cells whose programs were in progress as torn. Returns all torn places, in order.
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

    /// Iterates over all readable units in order of place: the scan of a drive that has lost its map.
    pub(crate) fn scan(&self) -> impl Iterator<Item = (Ppn, Cell<'_>)> {
        self.entries()
            .filter_map(|(at, block, unit)| Some((at, self.cell(block, unit)?)))
    }
}

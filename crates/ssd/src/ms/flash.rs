//! What the flash holds, and where the next page goes.
//!
//! The drive starts full. The maps begin as zeroed memory that is touched page by page: 0 stands for *as at the
//! start*, which is arithmetic ([`Shape::first_place`]). Everything else is flat, by element and slot.

use super::shape::{Costs, Shape};

/// The score of a block that is no candidate for cleaning.
pub(super) const NO_CANDIDATE: i16 = i16::MAX;

/// A block that is being filled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    /// Where.
    pub(super) slot: u32,
    /// The next page.
    pub(super) page: u32,
    /// When it was opened, by rank.
    pub(super) sequence: u32,
}

/// A plane: its open block and its free ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plane {
    /// The block being filled (with copy-back).
    pub(super) open: Open,
    /// Free blocks.
    pub(super) free: u32,
    /// Where the search for a free block begins, as a row of the plane.
    cursor: u32,
}

/// What belongs to an element as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// The block being filled (without copy-back).
    pub(super) open: Open,
    /// Free blocks, as the element counts them (without copy-back).
    pub(super) free: u32,
    /// Where the search for a free slot begins.
    cursor: u32,
    /// The rank of the block opened last.
    sequence: u32,
    /// Planes that must be cleaned.
    pub(super) low_planes: u32,
    /// The plane that is asked first for the next write.
    pub(super) next_plane: u32,
}

/// The state of all the flash.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    /// For each page of an element where it is, plus one; 0: where it was at the start.
    place: Vec<u32>,
    /// For each physical page what it holds, plus one; 0: what it held at the start.
    page: Vec<u32>,
    /// For each slot a bit for each page without valid data.
    stale: Vec<u64>,
    /// Words of `stale` for a slot.
    words: usize,
    /// For each slot its valid pages, or [`NO_CANDIDATE`].
    pub(super) score: Vec<i16>,
    /// For each slot when its block was opened, by rank; 0 while it is free.
    sequence: Vec<u32>,
    /// For each slot how often it has been erased.
    pub(super) erases: Vec<u16>,
    /// For each slot when it was erased last, in ticks; only where cleaning asks.
    pub(super) erased_at: Vec<u64>,
    pub(super) planes: Vec<Plane>,
    pub(super) tally: Vec<Tally>,
}

impl Flash {
    pub(super) fn new(shape: &Shape) -> Self {
        let elements = shape.elements as usize;
        let slots = elements * shape.slots() as usize;
        let words = shape.pages.div_ceil(64) as usize;
        let mut flash = Self {
            place: vec![0; elements * shape.exported as usize],
            page: vec![0; slots * shape.pages as usize],
            stale: vec![0; slots * words],
            words,
            score: vec![NO_CANDIDATE; slots],
            sequence: vec![0; slots],
            erases: vec![0; slots],
            erased_at: vec![0; if shape.wear_aware { slots } else { 0 }],
            planes: vec![Plane::default(); elements * shape.planes as usize],
            tally: vec![Tally::default(); elements],
        };
        for element in 0..shape.elements {
            flash.fill(shape, element);
        }
        flash
    }

    /// An element at the start: full, every block of data sealed but the last, and a block open in each plane.
    fn fill(&mut self, shape: &Shape, element: u32) {
        let full = shape.planes * shape.usable;
        let base = (element * shape.slots()) as usize;
        for slot in 0..shape.slots() {
            if slot % shape.blocks >= shape.usable {
                continue;
            }
            let rank = shape.full_rank(slot);
            self.sequence[base + slot as usize] = rank + 1;
            if rank + 1 < full {
                self.score[base + slot as usize] = shape.data_pages() as i16;
            }
        }
        let tally = &mut self.tally[element as usize];
        tally.sequence = full;
        tally.free = shape.planes * (shape.blocks - shape.usable);
        for plane in 0..shape.planes {
            let state = &mut self.planes[(element * shape.planes + plane) as usize];
            state.free = shape.blocks - shape.usable;
            state.cursor = 0;
        }
        if shape.copy_back {
            for plane in 0..shape.planes {
                self.open_in_plane(shape, element, plane);
            }
        } else {
            self.open_anywhere(shape, element);
            // The reference does not count this one.
            self.tally[element as usize].free += 1;
        }
    }

    /// Where a page of an element is.
    #[inline]
    pub(super) fn place_of(&self, shape: &Shape, element: u32, page: u32) -> u32 {
        let index = element as usize * shape.exported as usize + page as usize;
        match self.place[index] {
            0 => shape.first_place(page),
            place => place - 1,
        }
    }

    /// What a physical page holds, where it is valid.
    #[inline]
    pub(super) fn page_at(&self, shape: &Shape, element: u32, place: u32) -> u32 {
        let all = shape.slots() as usize * shape.pages as usize;
        match self.page[element as usize * all + place as usize] {
            0 => shape.first_page(place),
            page => page - 1,
        }
    }

    /// When the block in a slot was opened, by rank.
    #[inline]
    pub(super) fn sequence_of(&self, shape: &Shape, element: u32, slot: u32) -> u32 {
        self.sequence[(element * shape.slots() + slot) as usize]
    }

    /// Pages that a plane can still take, the summary of its open block counted as one.
    #[inline]
    pub(super) fn room(&self, shape: &Shape, element: u32, plane: u32) -> u32 {
        let plane = &self.planes[(element * shape.planes + plane) as usize];
        plane.free * shape.pages + shape.pages - plane.open.page
    }

    /// The valid pages of a slot's block, 64 at a time.
    #[inline]
    pub(super) fn valid_word(&self, shape: &Shape, element: u32, slot: u32, word: u32) -> u64 {
        let index = (element * shape.slots() + slot) as usize * self.words + word as usize;
        let left = shape.data_pages() - word * 64;
        let mask = if left >= 64 {
            u64::MAX
        } else {
            (1 << left) - 1
        };
        !self.stale[index] & mask
    }

    /// Words in which the data pages of a block lie.
    #[inline]
    pub(super) fn valid_words(&self, shape: &Shape) -> u32 {
        shape.data_pages().div_ceil(64)
    }

    /// Valid pages of a slot's block.
    pub(super) fn valid_pages(&self, shape: &Shape, element: u32, slot: u32) -> u32 {
        (0..self.valid_words(shape))
            .map(|word| self.valid_word(shape, element, slot, word).count_ones())
            .sum()
    }

    /// Takes the old copy of a page out of account.
    #[inline]
    pub(super) fn invalidate(&mut self, shape: &Shape, element: u32, place: u32) {
        let (slot, page) = (place / shape.pages, place % shape.pages);
        let index = (element * shape.slots() + slot) as usize;
        self.stale[index * self.words + (page / 64) as usize] |= 1 << (page % 64);
        let score = &mut self.score[index];
        *score -= i16::from(*score != NO_CANDIDATE);
    }

    /// Writes a page into the open block of a plane, or of the element where `plane` is `None`, and says what the
    /// programs cost, in ticks. `None`: there is no free block left.
    #[inline]
    pub(super) fn append(
        &mut self,
        shape: &Shape,
        costs: &Costs,
        element: u32,
        plane: Option<u32>,
        page: u32,
    ) -> Option<u64> {
        let of_plane = plane.map(|plane| (element * shape.planes + plane) as usize);
        let open = |flash: &Self| match of_plane {
            Some(index) => flash.planes[index].open,
            None => flash.tally[element as usize].open,
        };
        let mut at = open(self);
        if at.page == shape.data_pages() {
            let opened = match plane {
                Some(plane) => self.open_in_plane(shape, element, plane),
                None => self.open_anywhere(shape, element),
            };
            if !opened {
                return None;
            }
            at = open(self);
        }
        let place = at.slot * shape.pages + at.page;
        let slot = (element * shape.slots() + at.slot) as usize;
        self.place[element as usize * shape.exported as usize + page as usize] = place + 1;
        self.page[slot * shape.pages as usize + at.page as usize] = page + 1;
        self.stale[slot * self.words + (at.page / 64) as usize] &= !(1 << (at.page % 64));
        at.page += 1;
        match of_plane {
            Some(index) => self.planes[index].open = at,
            None => self.tally[element as usize].open = at,
        }
        if at.page < shape.data_pages() {
            return Some(costs.program);
        }
        if u32::from(self.erases[slot]) < shape.endurance {
            self.score[slot] = self.valid_pages(shape, element, at.slot) as i16;
        }
        Some(costs.program + costs.summary)
    }

    /// Opens the next free block of a plane; false where there is none.
    fn open_in_plane(&mut self, shape: &Shape, element: u32, plane: u32) -> bool {
        let first = element * shape.slots() + plane * shape.blocks;
        let index = (element * shape.planes + plane) as usize;
        let Some(row) = self.next_free(first, shape.blocks, self.planes[index].cursor) else {
            return false;
        };
        let open = self.take(shape, element, plane * shape.blocks + row);
        let state = &mut self.planes[index];
        state.cursor = (row + 1) % shape.blocks;
        state.open = open;
        true
    }

    /// Opens the next free block of an element; false where there is none.
    fn open_anywhere(&mut self, shape: &Shape, element: u32) -> bool {
        let cursor = self.tally[element as usize].cursor;
        let Some(slot) = self.next_free(element * shape.slots(), shape.slots(), cursor) else {
            return false;
        };
        let open = self.take(shape, element, slot);
        let tally = &mut self.tally[element as usize];
        tally.cursor = (slot + 1) % shape.slots();
        tally.open = open;
        true
    }

    /// The first free one of `n` slots from `first`, searched from `cursor` round.
    fn next_free(&self, first: u32, n: u32, cursor: u32) -> Option<u32> {
        let slots = &self.sequence[first as usize..(first + n) as usize];
        let (before, after) = slots.split_at(cursor as usize);
        let free = |slots: &[u32]| slots.iter().position(|&sequence| sequence == 0);
        let later = free(after).map(|at| at as u32 + cursor);
        later.or_else(|| free(before).map(|at| at as u32))
    }

    /// Opens the free block in a slot.
    fn take(&mut self, shape: &Shape, element: u32, slot: u32) -> Open {
        let index = (element * shape.slots() + slot) as usize;
        let tally = &mut self.tally[element as usize];
        let plane = &mut self.planes[(element * shape.planes + slot / shape.blocks) as usize];
        tally.sequence += 1;
        tally.free -= 1;
        plane.free -= 1;
        tally.low_planes += u32::from(plane.free == shape.low);
        self.sequence[index] = tally.sequence;
        self.stale[index * self.words..][..self.words].fill(u64::MAX);
        Open {
            slot,
            page: 0,
            sequence: tally.sequence,
        }
    }

    /// Takes the block in a slot out of the candidates and of the account, before its pages move.
    pub(super) fn begin_cleaning(&mut self, shape: &Shape, element: u32, slot: u32) {
        self.score[(element * shape.slots() + slot) as usize] = NO_CANDIDATE;
    }

    /// Erases the block in a slot.
    pub(super) fn erase(&mut self, shape: &Shape, element: u32, slot: u32) {
        let index = (element * shape.slots() + slot) as usize;
        let tally = &mut self.tally[element as usize];
        let plane = &mut self.planes[(element * shape.planes + slot / shape.blocks) as usize];
        tally.free += 1;
        plane.free += 1;
        tally.low_planes -= u32::from(plane.free == shape.low + 1);
        self.sequence[index] = 0;
        self.erases[index] = self.erases[index].saturating_add(1);
    }

    /// Bytes of memory that the maps may take when all of them is in use.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.place.len() + self.page.len() + self.sequence.len())
            + 8 * (self.stale.len() + self.erased_at.len())
            + 2 * (self.score.len() + self.erases.len())
    }
}

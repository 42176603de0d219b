//! The contents of the flash, and the position of the next page to write.
//!
//! The drive starts full. The initial place of every page is computed ([`Shape::first_place`]), and a block that was
//! never reopened still holds its initial pages. The maps therefore start as zeroed memory, which occupies no memory
//! until it is written. All tables are flat arrays, indexed by element and slot.

mod change;

use super::shape::Shape;
use prefetch_index::prefetch_index;

/// The score of a block that is not a candidate for cleaning.
pub(super) const NO_CANDIDATE: i16 = i16::MAX;

/// An open block, which is being filled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    /// Its slot.
    pub(super) slot: u32,
    /// Next page to write.
    pub(super) page: u32,
    /// Rank of its opening.
    pub(super) sequence: u32,
}

/// State of a slot; fields that are used together are stored together.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Bit set of the pages without valid data, for the first 64 pages; [`Flash::more_stale`] has the others.
    stale: u64,
    /// Rank of the opening of its block; 0 while the block is free.
    sequence: u32,
}

/// A plane: its open block and its free blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plane {
    /// The open block (with copy-back).
    pub(super) open: Open,
    /// Number of free blocks.
    pub(super) free: u32,
    /// Row of the plane where the search for a free block starts.
    cursor: u32,
}

impl Plane {
    /// Number of pages that can still be written; counts the summary page of the open block as one.
    #[inline]
    pub(super) fn room(&self, shape: &Shape) -> u32 {
        self.free * shape.pages + shape.pages - self.open.page
    }
}

/// State of an element as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// The open block (without copy-back).
    pub(super) open: Open,
    /// Number of free blocks as counted by the element (without copy-back).
    pub(super) free: u32,
    /// Slot where the search for a free block starts.
    cursor: u32,
    /// Rank of the block that was opened last.
    sequence: u32,
    /// Number of planes that must be cleaned.
    pub(super) low_planes: u32,
    /// Plane that is considered first for the next write.
    pub(super) next_plane: u32,
}

/// The state of all flash elements.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    /// Place of each page of an element, valid once the page has moved.
    place: Vec<u32>,
    /// Page held by each physical page, valid once its block was reopened.
    page: Vec<u32>,
    slots: Vec<Slot>,
    /// For each slot, bits of the pages without valid data, beyond the first 64.
    more_stale: Vec<u64>,
    /// Words of `more_stale` per slot.
    more: usize,
    /// Number of valid pages of each slot, or [`NO_CANDIDATE`].
    pub(super) score: Vec<i16>,
    /// Erase count of each slot.
    pub(super) erases: Vec<u16>,
    /// Time of the last erase of each slot, in milliseconds; only for wear-aware cleaning.
    pub(super) erased_at: Vec<f64>,
    pub(super) planes: Vec<Plane>,
    pub(super) tally: Vec<Tally>,
}

impl Flash {
    /// Returns the size in bytes of the tables of a drive that has not been built; see [`Flash::bytes`].
    pub(super) fn bytes_of(shape: &Shape) -> u64 {
        let elements = u64::from(shape.elements);
        let slots = elements * u64::from(shape.slots());
        let pages = elements * u64::from(shape.exported) + slots * u64::from(shape.pages);
        let more = u64::from(shape.pages.div_ceil(64)) - 1 + u64::from(shape.wear_aware);
        4 * pages + slots * (size_of::<Slot>() as u64 + 8 * more + 4)
    }

    pub(super) fn new(shape: &Shape) -> Self {
        let elements = shape.elements as usize;
        let slots = elements * shape.slots() as usize;
        let more = shape.pages.div_ceil(64) as usize - 1;
        let mut flash = Self {
            place: vec![0; elements * shape.exported as usize],
            page: vec![0; slots * shape.pages as usize],
            slots: vec![Slot::default(); slots],
            more_stale: vec![0; slots * more],
            more,
            score: vec![NO_CANDIDATE; slots],
            erases: vec![0; slots],
            erased_at: vec![0.0; if shape.wear_aware { slots } else { 0 }],
            planes: vec![Plane::default(); elements * shape.planes as usize],
            tally: vec![Tally::default(); elements],
        };
        for element in 0..shape.elements {
            flash.fill(shape, element);
        }
        flash
    }

    /// Sets the initial state of an element: full, all data blocks sealed except the last, and a block open in each
    /// plane.
    fn fill(&mut self, shape: &Shape, element: u32) {
        let full = shape.planes * shape.usable;
        let base = (element * shape.slots()) as usize;
        for slot in 0..shape.slots() {
            if slot % shape.blocks >= shape.usable {
                continue;
            }
            let rank = shape.full_rank(slot);
            self.slots[base + slot as usize].sequence = rank + 1;
            if rank + 1 < full {
                self.score[base + slot as usize] = shape.data_pages() as i16;
            }
        }
        let tally = &mut self.tally[element as usize];
        // One rank is reserved for initial blocks that migrate: older than all opened blocks, but no longer at their
        // initial place.
        tally.sequence = full + 1;
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
            // The reference does not count this block.
            self.tally[element as usize].free += 1;
        }
    }

    /// Prefetches the map entry of a page of an element.
    #[inline]
    pub(super) fn fetch_map(&self, shape: &Shape, element: u32, page: u32) {
        let slot = element * shape.slots() + shape.first_place(page) / shape.pages;
        prefetch_index(&self.slots, slot as usize);
        let entry = element as usize * shape.exported as usize + page as usize;
        prefetch_index(&self.place, entry);
    }

    /// Prefetches the state that a write changes at the page's present place. Call it some time after
    /// [`Flash::fetch_map`].
    #[inline]
    pub(super) fn fetch_place(&self, shape: &Shape, element: u32, page: u32) {
        let place = self.place_of(shape, element, page);
        let slot = (element * shape.slots() + place / shape.pages) as usize;
        prefetch_index(&self.slots, slot);
        prefetch_index(&self.score, slot);
    }

    /// Returns the place of a page of an element. A page that never moved needs no map access.
    #[inline]
    pub(super) fn place_of(&self, shape: &Shape, element: u32, page: u32) -> u32 {
        let first = shape.first_place(page);
        let (slot, n) = (first / shape.pages, first % shape.pages);
        let index = (element * shape.slots() + slot) as usize;
        let stale = self.stale(index, n / 64) & (1 << (n % 64)) != 0;
        if shape.is_original(self.slots[index].sequence) && !stale {
            return first;
        }
        self.place[element as usize * shape.exported as usize + page as usize]
    }

    /// Returns the page that a physical page holds, if it is valid.
    #[inline]
    pub(super) fn page_at(&self, shape: &Shape, element: u32, place: u32) -> u32 {
        let slot = element * shape.slots() + place / shape.pages;
        if shape.is_original(self.slots[slot as usize].sequence) {
            return shape.first_page(place);
        }
        self.page[slot as usize * shape.pages as usize + (place % shape.pages) as usize]
    }

    /// Returns the rank of the opening of the block in a slot.
    #[inline]
    pub(super) fn sequence_of(&self, shape: &Shape, element: u32, slot: u32) -> u32 {
        self.slots[(element * shape.slots() + slot) as usize].sequence
    }

    /// Returns one word of bits for 64 pages without valid data. `index` is the slot, numbered over all elements.
    #[inline]
    fn stale(&self, index: usize, word: u32) -> u64 {
        match word {
            0 => self.slots[index].stale,
            _ => self.more_stale[index * self.more + word as usize - 1],
        }
    }

    #[inline]
    fn stale_mut(&mut self, index: usize, word: u32) -> &mut u64 {
        match word {
            0 => &mut self.slots[index].stale,
            _ => &mut self.more_stale[index * self.more + word as usize - 1],
        }
    }

    /// Returns the bits of the valid pages of a slot, 64 pages at a time.
    #[inline]
    pub(super) fn valid_word(&self, shape: &Shape, element: u32, slot: u32, word: u32) -> u64 {
        let index = (element * shape.slots() + slot) as usize;
        let left = shape.data_pages() - word * 64;
        let mask = if left >= 64 {
            u64::MAX
        } else {
            (1 << left) - 1
        };
        !self.stale(index, word) & mask
    }

    /// Returns the number of words that cover the data pages of a block.
    #[inline]
    pub(super) fn valid_words(&self, shape: &Shape) -> u32 {
        shape.data_pages().div_ceil(64)
    }

    /// Returns the number of valid pages of a slot.
    pub(super) fn valid_pages(&self, shape: &Shape, element: u32, slot: u32) -> u32 {
        (0..self.valid_words(shape))
            .map(|word| self.valid_word(shape, element, slot, word).count_ones())
            .sum()
    }

    /// Returns true if there is room for the valid pages of a slot.
    pub(super) fn can_move(&self, shape: &Shape, element: u32, slot: u32) -> bool {
        let (open, free) = if shape.copy_back {
            let plane = &self.planes[(element * shape.planes + slot / shape.blocks) as usize];
            (plane.open, plane.free)
        } else {
            let tally = &self.tally[element as usize];
            (tally.open, tally.free.saturating_sub(1))
        };
        let room = (free + 1) * shape.data_pages() - open.page;
        room >= self.valid_pages(shape, element, slot)
    }

    /// Returns true if the block in a slot is full.
    pub(super) fn is_sealed(&self, shape: &Shape, element: u32, slot: u32) -> bool {
        let plane = &self.planes[(element * shape.planes + slot / shape.blocks) as usize];
        self.sequence_of(shape, element, slot) != 0
            && (plane.open.slot != slot || plane.open.page == shape.data_pages())
    }

    /// Returns the size in bytes of the maps when all of their memory is in use.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.place.len() + self.page.len())
            + size_of::<Slot>() * self.slots.len()
            + 8 * (self.more_stale.len() + self.erased_at.len())
            + 2 * (self.score.len() + self.erases.len())
    }
}

//! What the flash holds, and where the next page goes.
//!
//! The drive starts full. Where everything is at the start is arithmetic ([`Shape::first_place`]), and a block that was
//! never opened again holds what it held then. So the maps begin as zeroed memory, which takes none until it is
//! written to. Everything is flat, by element and slot.

mod change;

use super::shape::Shape;
use prefetch_index::prefetch_index;

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

/// A slot: what is asked of it together lies together.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// A bit for each of its first 64 pages without valid data; [`Flash::more_stale`] has the others.
    stale: u64,
    /// When its block was opened, by rank; 0 while it is free.
    sequence: u32,
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

impl Plane {
    /// Pages that it can still take, the summary of its open block counted as one.
    #[inline]
    pub(super) fn room(&self, shape: &Shape) -> u32 {
        self.free * shape.pages + shape.pages - self.open.page
    }
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
    /// For each page of an element where it is, once it has moved.
    place: Vec<u32>,
    /// For each physical page what it holds, once its block was opened again.
    page: Vec<u32>,
    slots: Vec<Slot>,
    /// For each slot a bit for each page without valid data, beyond the first 64.
    more_stale: Vec<u64>,
    /// Words of `more_stale` for a slot.
    more: usize,
    /// For each slot its valid pages, or [`NO_CANDIDATE`].
    pub(super) score: Vec<i16>,
    /// For each slot how often it has been erased.
    pub(super) erases: Vec<u16>,
    /// For each slot when it was erased last, in milliseconds; only where cleaning asks.
    pub(super) erased_at: Vec<f64>,
    pub(super) planes: Vec<Plane>,
    pub(super) tally: Vec<Tally>,
}

impl Flash {
    /// Bytes of the tables of a drive that is not built yet; see [`Flash::bytes`].
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

    /// An element at the start: full, every block of data sealed but the last, and a block open in each plane.
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
        // One rank is left for originals that migrate: older than all that is opened, but no longer in place.
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
            // The reference does not count this one.
            self.tally[element as usize].free += 1;
        }
    }

    /// Has the memory fetched that says where a page of an element is, so that it is there when it is asked for.
    #[inline]
    pub(super) fn fetch_map(&self, shape: &Shape, element: u32, page: u32) {
        let slot = element * shape.slots() + shape.first_place(page) / shape.pages;
        prefetch_index(&self.slots, slot as usize);
        let entry = element as usize * shape.exported as usize + page as usize;
        prefetch_index(&self.place, entry);
    }

    /// The same of what a write changes where the page is; after [`Flash::fetch_map`] has had its time.
    #[inline]
    pub(super) fn fetch_place(&self, shape: &Shape, element: u32, page: u32) {
        let place = self.place_of(shape, element, page);
        let slot = (element * shape.slots() + place / shape.pages) as usize;
        prefetch_index(&self.slots, slot);
        prefetch_index(&self.score, slot);
    }

    /// Where a page of an element is. One that never moved needs no look at the map.
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

    /// What a physical page holds, where it is valid.
    #[inline]
    pub(super) fn page_at(&self, shape: &Shape, element: u32, place: u32) -> u32 {
        let slot = element * shape.slots() + place / shape.pages;
        if shape.is_original(self.slots[slot as usize].sequence) {
            return shape.first_page(place);
        }
        self.page[slot as usize * shape.pages as usize + (place % shape.pages) as usize]
    }

    /// When the block in a slot was opened, by rank.
    #[inline]
    pub(super) fn sequence_of(&self, shape: &Shape, element: u32, slot: u32) -> u32 {
        self.slots[(element * shape.slots() + slot) as usize].sequence
    }

    /// 64 pages of a slot, by its index over all elements: a bit for each without valid data.
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

    /// The valid pages of a slot's block, 64 at a time.
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

    /// Whether there is room for what is valid in the block of a slot.
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

    /// Whether the block in a slot is full.
    pub(super) fn is_sealed(&self, shape: &Shape, element: u32, slot: u32) -> bool {
        let plane = &self.planes[(element * shape.planes + slot / shape.blocks) as usize];
        self.sequence_of(shape, element, slot) != 0
            && (plane.open.slot != slot || plane.open.page == shape.data_pages())
    }

    /// Bytes of memory that the maps may take when all of them is in use.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.place.len() + self.page.len())
            + size_of::<Slot>() * self.slots.len()
            + 8 * (self.more_stale.len() + self.erased_at.len())
            + 2 * (self.score.len() + self.erases.len())
    }
}

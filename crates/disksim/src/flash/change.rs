//! Changes of the flash contents: writing pages, opening blocks, moving data and erasing.

use super::super::shape::Shape;
use super::{Flash, NO_CANDIDATE, Open, Slot};

impl Flash {
    /// Invalidates the old copy of a page.
    #[inline]
    pub(crate) fn invalidate(&mut self, shape: &Shape, element: u32, place: u32) {
        let (slot, page) = (place / shape.pages, place % shape.pages);
        let index = (element * shape.slots() + slot) as usize;
        *self.stale_mut(index, page / 64) |= 1 << (page % 64);
        let score = &mut self.score[index];
        *score -= i16::from(*score != NO_CANDIDATE);
    }

    /// Writes a page into the open block of a plane, or of the element if `plane` is `None`. Returns whether the block is
    /// now full, or `None` if there is no free block.
    #[inline]
    pub(crate) fn append(
        &mut self,
        shape: &Shape,
        element: u32,
        plane: Option<u32>,
        page: u32,
    ) -> Option<bool> {
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
        self.place[element as usize * shape.exported as usize + page as usize] = place;
        self.page[slot * shape.pages as usize + at.page as usize] = page;
        *self.stale_mut(slot, at.page / 64) &= !(1 << (at.page % 64));
        at.page += 1;
        match of_plane {
            Some(index) => self.planes[index].open = at,
            None => self.tally[element as usize].open = at,
        }
        if at.page < shape.data_pages() {
            return Some(false);
        }
        if u32::from(self.erases[slot]) < shape.endurance {
            self.score[slot] = self.valid_pages(shape, element, at.slot) as i16;
        }
        Some(true)
    }

    /// Opens the next free block of a plane. Returns false if there is none.
    pub(super) fn open_in_plane(&mut self, shape: &Shape, element: u32, plane: u32) -> bool {
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

    /// Opens the next free block of an element. Returns false if there is none.
    pub(super) fn open_anywhere(&mut self, shape: &Shape, element: u32) -> bool {
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

    /// Returns the first free slot among the `n` slots from `first`, searching from `cursor` and wrapping around.
    fn next_free(&self, first: u32, n: u32, cursor: u32) -> Option<u32> {
        let slots = &self.slots[first as usize..(first + n) as usize];
        let (before, after) = slots.split_at(cursor as usize);
        let free = |slots: &[Slot]| slots.iter().position(|slot| slot.sequence == 0);
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
        self.slots[index] = Slot {
            stale: u64::MAX,
            sequence: tally.sequence,
        };
        self.more_stale[index * self.more..][..self.more].fill(u64::MAX);
        Open {
            slot,
            page: 0,
            sequence: tally.sequence,
        }
    }

    /// Removes the block in a slot from the candidates, before its pages are moved.
    pub(crate) fn begin_cleaning(&mut self, shape: &Shape, element: u32, slot: u32) {
        self.score[(element * shape.slots() + slot) as usize] = NO_CANDIDATE;
    }

    /// Erases the block in a slot; the erase ends at `millis`.
    pub(crate) fn erase(&mut self, shape: &Shape, element: u32, slot: u32, millis: f64) {
        let index = (element * shape.slots() + slot) as usize;
        let tally = &mut self.tally[element as usize];
        let plane = &mut self.planes[(element * shape.planes + slot / shape.blocks) as usize];
        tally.free += 1;
        plane.free += 1;
        tally.low_planes -= u32::from(plane.free == shape.low + 1);
        self.slots[index].sequence = 0;
        self.erases[index] = self.erases[index].saturating_add(1);
        if let Some(at) = self.erased_at.get_mut(index) {
            *at = millis;
        }
    }

    /// Shifts stored times after the origin of time has moved by `millis` milliseconds.
    pub(crate) fn begin_anew(&mut self, millis: f64) {
        self.erased_at.iter_mut().for_each(|at| *at -= millis);
    }

    /// Moves all valid pages of a sealed block into the free block of another slot of the same plane, which inherits the
    /// age of the first. Returns the number of pages moved; the first block has no valid pages afterwards.
    pub(crate) fn migrate(&mut self, shape: &Shape, element: u32, from: u32, to: u32) -> u32 {
        let (base, pages) = (element * shape.slots(), shape.pages);
        let (source, target) = ((base + from) as usize, (base + to) as usize);
        let original = shape.is_original(self.slots[source].sequence);
        let sequence = if original {
            shape.planes * shape.usable + 1
        } else {
            self.slots[source].sequence
        };
        let rank = self.tally[element as usize].sequence;
        self.take(shape, element, to);
        self.tally[element as usize].sequence = rank;
        self.slots[target].sequence = sequence;
        let mut moved = 0;
        for n in 0..shape.data_pages() {
            let bit = 1 << (n % 64);
            let word = n / 64;
            if self.stale(source, word) & bit != 0 {
                continue;
            }
            let page = self.page_at(shape, element, from * pages + n);
            self.place[element as usize * shape.exported as usize + page as usize] = to * pages + n;
            self.page[target * pages as usize + n as usize] = page;
            *self.stale_mut(source, word) |= bit;
            *self.stale_mut(target, word) &= !bit;
            moved += 1;
        }
        if u32::from(self.erases[target]) < shape.endurance {
            self.score[target] = moved as i16;
        }
        moved
    }
}

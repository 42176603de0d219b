//! The translation pages that are also in host memory, as a second level of the map cache: least recently used.
//!
//! All of them are clean: a translation page that is written to flash is written to host memory, too. The content is lost
//! with the power, because the host gives its memory anew (NVM Express Base Specification, "Host Memory Buffer").

use crate::bits::BitSet;
use fathom_base::links::{Links, List, NONE};

/// The translation pages in host memory, by number.
#[derive(Clone, Debug)]
pub(super) struct HostMemory {
    /// Capacity and content, in translation pages.
    room: u32,
    len: u32,
    held: BitSet,
    links: Links,
    order: List,
}

impl HostMemory {
    /// Creates room for `room` translation pages with numbers below `bound`.
    pub(super) fn new(room: u64, bound: u32) -> Self {
        let room = room.min(u64::from(bound)) as u32;
        Self {
            room,
            len: 0,
            held: BitSet::new(if room > 0 { bound } else { 0 }),
            links: Links::default(),
            order: List::default(),
        }
    }

    /// Makes a translation page the most recently used one. Returns true if it was there before.
    pub(super) fn keep(&mut self, page: u32) -> bool {
        if self.room == 0 {
            return false;
        }
        if self.held.contains(page) {
            self.links.renew(&mut self.order, page);
            return true;
        }
        if self.len == self.room {
            self.forget(self.order.oldest);
        }
        self.held.insert(page);
        self.links.append(&mut self.order, page);
        self.len += 1;
        false
    }

    /// Removes a translation page.
    pub(super) fn forget(&mut self, page: u32) {
        if self.room > 0 && page != NONE && self.held.contains(page) {
            self.held.remove(page);
            self.links.detach(&mut self.order, page);
            self.len -= 1;
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        while self.order.oldest != NONE {
            self.forget(self.order.oldest);
        }
    }

    /// Returns the size of the tables in bytes.
    pub(super) fn state_bytes(&self) -> usize {
        self.held.state_bytes() + self.len as usize * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_was_used_least_recently_makes_room() {
        let mut memory = HostMemory::new(2, 8);
        assert!(!memory.keep(1) && !memory.keep(2) && memory.keep(1));
        assert!(!memory.keep(3) && memory.keep(1) && !memory.keep(2));
        memory.forget(1);
        assert!(!memory.keep(1) && memory.keep(2));
        memory.clear();
        assert!(!memory.keep(1));
        // Without room nothing is kept.
        let mut none = HostMemory::new(0, 8);
        assert!(!none.keep(1) && !none.keep(1));
    }
}

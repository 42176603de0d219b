//! Whole requests in order: the common part of [`super::fifo`] and [`super::lru`].

use super::groups::Groups;
use super::policy::{How, Leaving, Policy, Shape};
use fathom_base::links::{Links, List, NONE};

/// Host requests in order of age. With `RENEWED`, a page that is written again moves from its request to the one that
/// wrote it last.
#[derive(Clone, Debug)]
pub(crate) struct Requests<const RENEWED: bool> {
    /// Groups of pages, each with its request number.
    groups: Groups<u64>,
    order: Links,
    age: List,
}

impl<const RENEWED: bool> Policy for Requests<RENEWED> {
    fn new(_: &Shape) -> Self {
        Self {
            groups: Groups::default(),
            order: Links::default(),
            age: List::default(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, _: u32, request: u64) {
        let mut newest = self.age.newest;
        if newest == NONE || self.groups.about(newest) != request {
            newest = self.groups.open(request);
            self.order.append(&mut self.age, newest);
        }
        self.groups.join(newest, slot);
    }

    #[inline]
    fn touch(&mut self, slot: u32, page: u32, request: u64) {
        if RENEWED {
            self.remove(slot);
            self.insert(slot, page, request);
        }
    }

    #[inline]
    fn remove(&mut self, slot: u32) {
        let (group, left) = self.groups.leave(slot);
        if left == 0 {
            self.order.detach(&mut self.age, group);
            self.groups.close(group);
        }
    }

    fn choose(&mut self, leaving: &mut Leaving) {
        leaving.how = How::Runs;
        if !self.age.is_empty() {
            leaving.slots.extend(self.groups.members(self.age.oldest));
        }
    }
}

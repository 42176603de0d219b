//! Slots in groups: the pages of a request, of a block, of a stream.

use super::links::{Links, List, NONE};

#[derive(Clone, Copy, Debug)]
struct Group<T> {
    members: List,
    count: u32,
    about: T,
}

/// Groups of slots; a slot is in at most one. `T` is what a policy notes of a group.
#[derive(Clone, Debug)]
pub(super) struct Groups<T> {
    groups: Vec<Group<T>>,
    unused: Vec<u32>,
    /// Slot to group.
    of: Vec<u32>,
    links: Links,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            unused: Vec::new(),
            of: Vec::new(),
            links: Links::default(),
        }
    }
}

impl<T: Copy> Groups<T> {
    /// A new group, empty.
    pub(super) fn open(&mut self, about: T) -> u32 {
        let group = Group {
            members: List::default(),
            count: 0,
            about,
        };
        match self.unused.pop() {
            Some(id) => {
                self.groups[id as usize] = group;
                id
            }
            None => {
                self.groups.push(group);
                (self.groups.len() - 1) as u32
            }
        }
    }

    /// An empty group goes; its number comes back with another.
    pub(super) fn close(&mut self, group: u32) {
        self.unused.push(group);
    }

    /// What is noted of a group.
    #[inline]
    pub(super) fn about(&self, group: u32) -> T {
        self.groups[group as usize].about
    }

    /// What is noted of a group, to change.
    #[inline]
    pub(super) fn about_mut(&mut self, group: u32) -> &mut T {
        &mut self.groups[group as usize].about
    }

    /// A slot that is in no group joins one.
    #[inline]
    pub(super) fn join(&mut self, group: u32, slot: u32) {
        let index = slot as usize;
        if self.of.len() <= index {
            self.of.resize(index + 1, NONE);
        }
        self.of[index] = group;
        let group = &mut self.groups[group as usize];
        group.count += 1;
        self.links.append(&mut group.members, slot);
    }

    /// A slot leaves its group: which it was, and how many are left in it.
    #[inline]
    pub(super) fn leave(&mut self, slot: u32) -> (u32, u32) {
        let id = std::mem::replace(&mut self.of[slot as usize], NONE);
        let group = &mut self.groups[id as usize];
        group.count -= 1;
        self.links.detach(&mut group.members, slot);
        (id, group.count)
    }

    /// The group of a slot.
    #[inline]
    pub(super) fn of(&self, slot: u32) -> u32 {
        self.of[slot as usize]
    }

    /// Slots in a group.
    #[inline]
    pub(super) fn count(&self, group: u32) -> u32 {
        self.groups[group as usize].count
    }

    /// The slots of a group, in the order in which they joined.
    pub(super) fn members(&self, group: u32) -> impl Iterator<Item = u32> + '_ {
        self.links.iter(self.groups[group as usize].members)
    }
}

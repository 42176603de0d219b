//! Groups of slots: the pages of a request, a block or a stream.

use fathom_base::links::{Links, List, NONE};

#[derive(Clone, Copy, Debug)]
struct Group<T> {
    members: List,
    count: u32,
    about: T,
}

/// Groups of slots. A slot is in at most one group. `T` is the data that a policy stores for a group.
#[derive(Clone, Debug)]
pub(super) struct Groups<T> {
    groups: Vec<Group<T>>,
    unused: Vec<u32>,
    /// Group of each slot.
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
    /// Creates an empty group.
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

    /// Removes an empty group. Its number is used again for another group.
    pub(super) fn close(&mut self, group: u32) {
        self.unused.push(group);
    }

    /// Returns the data of a group.
    #[inline]
    pub(super) fn about(&self, group: u32) -> T {
        self.groups[group as usize].about
    }

    /// Returns the data of a group for modification.
    #[inline]
    pub(super) fn about_mut(&mut self, group: u32) -> &mut T {
        &mut self.groups[group as usize].about
    }

    /// Adds a slot, which must be in no group, to a group.
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

    /// Removes a slot from its group. Returns the group and the number of slots left in it.
    #[inline]
    pub(super) fn leave(&mut self, slot: u32) -> (u32, u32) {
        let id = std::mem::replace(&mut self.of[slot as usize], NONE);
        let group = &mut self.groups[id as usize];
        group.count -= 1;
        self.links.detach(&mut group.members, slot);
        (id, group.count)
    }

    /// Returns the group of a slot.
    #[inline]
    pub(super) fn of(&self, slot: u32) -> u32 {
        self.of[slot as usize]
    }

    /// Returns the number of slots in a group.
    #[inline]
    pub(super) fn count(&self, group: u32) -> u32 {
        self.groups[group as usize].count
    }

    /// Iterates over the slots of a group in the order in which they joined.
    pub(super) fn members(&self, group: u32) -> impl Iterator<Item = u32> + '_ {
        self.links.iter(self.groups[group as usize].members)
    }
}

//! Doubly linked lists of small numbers, in flat arrays. All orders in the buffers are built from them.
//!
//! One [`Links`] holds any number of lists, as long as each number is in at most one of them. It does not know the list
//! of a number, so the caller passes it.

/// Marks the absence of a number.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    older: u32,
    newer: u32,
}

/// The two ends of a list. Both are [`NONE`] if it is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) oldest: u32,
    pub(super) newest: u32,
}

impl Default for List {
    fn default() -> Self {
        let (oldest, newest) = (NONE, NONE);
        List { oldest, newest }
    }
}

impl List {
    /// Returns true if the list is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.oldest == NONE
    }
}

/// The neighbours of every number.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(Vec<Link>);

impl Links {
    #[inline]
    fn set(&mut self, id: u32, older: u32, newer: u32) {
        let index = id as usize;
        let link = Link { older, newer };
        match self.0.get_mut(index) {
            Some(place) => *place = link,
            None => {
                let nowhere = Link {
                    older: NONE,
                    newer: NONE,
                };
                self.0.resize(index, nowhere);
                self.0.push(link);
            }
        }
    }

    /// Adds a number that is in no list at the newest end.
    #[inline]
    pub(super) fn append(&mut self, list: &mut List, id: u32) {
        self.set(id, list.newest, NONE);
        match list.newest {
            NONE => list.oldest = id,
            newest => self.0[newest as usize].newer = id,
        }
        list.newest = id;
    }

    /// Adds a number that is in no list at the oldest end.
    pub(super) fn prepend(&mut self, list: &mut List, id: u32) {
        self.set(id, NONE, list.oldest);
        match list.oldest {
            NONE => list.newest = id,
            oldest => self.0[oldest as usize].older = id,
        }
        list.oldest = id;
    }

    /// Removes a number from its list.
    #[inline]
    pub(super) fn detach(&mut self, list: &mut List, id: u32) {
        let Link { older, newer } = self.0[id as usize];
        match older {
            NONE => list.oldest = newer,
            _ => self.0[older as usize].newer = newer,
        }
        match newer {
            NONE => list.newest = older,
            _ => self.0[newer as usize].older = older,
        }
    }

    /// Moves a number to the newest end of its list.
    #[inline]
    pub(super) fn renew(&mut self, list: &mut List, id: u32) {
        if list.newest != id {
            self.detach(list, id);
            self.append(list, id);
        }
    }

    /// Returns the number after `id` towards the newest end, or [`NONE`].
    #[inline]
    pub(super) fn newer(&self, id: u32) -> u32 {
        self.0[id as usize].newer
    }

    /// Iterates from the oldest to the newest.
    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| Some(id).filter(|&id| id != NONE);
        std::iter::successors(some(list.oldest), move |&id| some(self.newer(id)))
    }
}

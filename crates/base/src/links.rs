//! Doubly linked lists of small numbers, in flat arrays: the orders of buffers, caches and queues.
//!
//! One [`Links`] holds any number of lists, as long as each number is in at most one of them. It does not know the list
//! of a number, so the caller passes it.

/// Marks the absence of a number.
pub const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    older: u32,
    newer: u32,
}

/// The two ends of a list. Both are [`NONE`] if it is empty.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The number that was added first.
    pub oldest: u32,
    /// The number that was added last.
    pub newest: u32,
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
    pub fn is_empty(&self) -> bool {
        self.oldest == NONE
    }
}

/// The neighbours of every number.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<Link>);

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
    pub fn append(&mut self, list: &mut List, id: u32) {
        self.set(id, list.newest, NONE);
        match list.newest {
            NONE => list.oldest = id,
            newest => self.0[newest as usize].newer = id,
        }
        list.newest = id;
    }

    /// Adds a number that is in no list at the oldest end.
    pub fn prepend(&mut self, list: &mut List, id: u32) {
        self.insert(list, NONE, id);
    }

    /// Adds a number that is in no list behind `older`, or at the oldest end if that is [`NONE`].
    #[inline]
    pub fn insert(&mut self, list: &mut List, older: u32, id: u32) {
        let before = match older {
            NONE => &mut list.oldest,
            _ => &mut self.0[older as usize].newer,
        };
        let newer = std::mem::replace(before, id);
        match newer {
            NONE => list.newest = id,
            _ => self.0[newer as usize].older = id,
        }
        self.set(id, older, newer);
    }

    /// Removes a number from its list.
    #[inline]
    pub fn detach(&mut self, list: &mut List, id: u32) {
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
    pub fn renew(&mut self, list: &mut List, id: u32) {
        if list.newest != id {
            self.detach(list, id);
            self.append(list, id);
        }
    }

    /// Returns the number after `id` towards the newest end, or [`NONE`].
    #[inline]
    pub fn newer(&self, id: u32) -> u32 {
        self.0[id as usize].newer
    }

    /// Returns the number before `id` towards the oldest end, or [`NONE`].
    #[inline]
    pub fn older(&self, id: u32) -> u32 {
        self.0[id as usize].older
    }

    /// Iterates from the oldest to the newest.
    pub fn iter(&self, list: List) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| Some(id).filter(|&id| id != NONE);
        std::iter::successors(some(list.oldest), move |&id| some(self.newer(id)))
    }
}

//! Pages of requests, and the queues in which they wait for their element.

/// No such thing.
pub(super) const NONE: u32 = u32::MAX;

/// A page of a request, at the element that has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The request.
    pub(super) parent: u32,
    pub(super) element: u32,
    /// The page within the element.
    pub(super) page: u32,
    pub(super) write: bool,
    /// The next in the same queue.
    pub(super) next: u32,
}

/// Parts by number; a number is used again.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// The first of those that are not in use.
    free: u32,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            parts: Vec::new(),
            free: NONE,
        }
    }
}

impl Parts {
    pub(super) fn insert(&mut self, part: Part) -> u32 {
        let index = self.free;
        if index == NONE {
            self.parts.push(part);
            return (self.parts.len() - 1) as u32;
        }
        self.free = self.parts[index as usize].next;
        self.parts[index as usize] = part;
        index
    }

    pub(super) fn get(&self, index: u32) -> Part {
        self.parts[index as usize]
    }

    pub(super) fn remove(&mut self, index: u32) -> Part {
        let part = self.parts[index as usize];
        self.parts[index as usize].next = self.free;
        self.free = index;
        part
    }
}

/// First come, first served; the links are in the parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    first: u32,
    last: u32,
    /// Parts at work, or one for a cleaning.
    pub(super) at_work: u32,
}

impl Default for Station {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            at_work: 0,
        }
    }
}

impl Station {
    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    pub(super) fn push(&mut self, parts: &mut Parts, part: u32) {
        if self.first == NONE {
            self.first = part;
        } else {
            parts.parts[self.last as usize].next = part;
        }
        self.last = part;
    }

    pub(super) fn pop(&mut self, parts: &Parts) -> Option<u32> {
        let part = self.first;
        if part == NONE {
            return None;
        }
        self.first = parts.parts[part as usize].next;
        Some(part)
    }
}

/// What several parallel units do at a time. Kept between batches for its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub(super) reads: Vec<u32>,
    pub(super) writes: Vec<u32>,
    /// Plane and part, in the order in which they came.
    pub(super) placed: Vec<(u32, u32)>,
    /// For each plane the writes put there.
    pub(super) put: Vec<u32>,
}

//! Parts (pages of requests), and the queues in which they wait for their element.

/// No part.
pub(super) const NONE: u32 = u32::MAX;

/// One page of a request, at the element that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The request.
    pub(super) parent: u32,
    pub(super) element: u32,
    /// Page within the element.
    pub(super) page: u32,
    pub(super) write: bool,
    /// Next part in the same queue.
    pub(super) next: u32,
}

/// Parts by index; indices are reused.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// First unused part.
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

/// A first-in, first-out queue; the links are stored in the parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    first: u32,
    last: u32,
    /// Number of parts in progress; 1 during cleaning.
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

/// Parts that several parallel units execute together. Kept between batches for its allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub(super) reads: Vec<u32>,
    pub(super) writes: Vec<u32>,
    /// Plane and part, in order of arrival.
    pub(super) placed: Vec<(u32, u32)>,
    /// Number of writes assigned to each plane.
    pub(super) put: Vec<u32>,
}

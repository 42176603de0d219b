//! Parts (pages of requests), and the queues in which they wait for their element.

use fathom_base::{Links, List};

/// One page of a request, at the element that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The request.
    pub(super) parent: u32,
    pub(super) element: u32,
    /// Page within the element.
    pub(super) page: u32,
    pub(super) write: bool,
}

/// Parts by index; indices are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    unused: Vec<u32>,
    links: Links,
}

impl Parts {
    pub(super) fn insert(&mut self, part: Part) -> u32 {
        let index = self.unused.pop().unwrap_or(self.parts.len() as u32);
        match self.parts.get_mut(index as usize) {
            Some(at) => *at = part,
            None => self.parts.push(part),
        }
        index
    }

    pub(super) fn get(&self, index: u32) -> Part {
        self.parts[index as usize]
    }

    pub(super) fn remove(&mut self, index: u32) -> Part {
        self.unused.push(index);
        self.get(index)
    }
}

/// A first-in, first-out queue of parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Station {
    queue: List,
    /// Number of parts in progress; 1 during cleaning.
    pub(super) at_work: u32,
}

impl Station {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn push(&mut self, parts: &mut Parts, part: u32) {
        parts.links.append(&mut self.queue, part);
    }

    pub(super) fn pop(&mut self, parts: &mut Parts) -> Option<u32> {
        let part = self.queue.oldest;
        if self.is_empty() {
            return None;
        }
        parts.links.detach(&mut self.queue, part);
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

//! Element-level parallel optimization (`epo` Figure 3).
//!
//! There is one queue for every flash element. A page that is found in the buffer is replaced and moves to the head of
//! its queue (step 15). When the buffer is full, one victim leaves from the tail of every queue, all of them together
//! (steps 18 to 21).
//!
//! Step 24 of the figure always adds one block less than there are elements to the free pool. But an empty queue gives
//! no victim, so here the pool grows by the number of evicted pages.

use super::policy::{Elements, How, Leaving, Policy, Shape};
use fathom_base::About;
use fathom_base::{Links, List};

pub(super) const ABOUT: About = About::new("evicts one page from the queue of every flash element at once").text(
    "\
Every flash element has a queue of pages. A rewritten page is replaced and moves to the head of its queue. When room
is needed, one page is evicted from the tail of every queue that is not empty, all at once, so that the elements
work in parallel. Requests of several pages are split. Source: epo, Figure 3; the figure frees a fixed number of
blocks, here as many are free as pages were evicted. The element follows from the page number: a page that the drive
puts elsewhere is in the wrong queue.",
);

/// One queue for every element.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    elements: Elements,
    queues: Vec<List>,
    links: Links,
    /// Queue of each slot.
    of: Vec<u32>,
}

impl Policy for Order {
    fn new(shape: &Shape) -> Self {
        Self {
            elements: shape.elements,
            queues: vec![List::default(); shape.elements.len()],
            links: Links::default(),
            of: Vec::new(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, page: u32, _: u64) {
        let (index, element) = (slot as usize, self.elements.of(page));
        if self.of.len() <= index {
            self.of.resize(index + 1, 0);
        }
        self.of[index] = element;
        self.links.append(&mut self.queues[element as usize], slot);
    }

    #[inline]
    fn touch(&mut self, slot: u32, _: u32, _: u64) {
        let queue = &mut self.queues[self.of[slot as usize] as usize];
        self.links.renew(queue, slot);
    }

    #[inline]
    fn remove(&mut self, slot: u32) {
        let queue = &mut self.queues[self.of[slot as usize] as usize];
        self.links.detach(queue, slot);
    }

    fn choose(&mut self, leaving: &mut Leaving) {
        leaving.how = How::Singly;
        let tails = self.queues.iter().filter(|queue| !queue.is_empty());
        leaving.slots.extend(tails.map(|queue| queue.oldest));
    }
}

//! The interface of an eviction policy of the write buffer.
//!
//! A policy keeps slots in some order and names those that are evicted together. It knows page numbers and the order of
//! writes. It does not know time, data, sectors or the room that is left. All operations cost O(1) for each page that
//! is inserted or removed.

/// An eviction order. A *slot* is a small number that stands for a page while it is in the buffer.
pub(crate) trait Policy {
    /// Creates the policy for an empty buffer.
    fn new(shape: &Shape) -> Self;

    /// Adds a page that is not in the buffer. All pages of one host request have the same number; later requests have
    /// larger numbers.
    fn insert(&mut self, slot: u32, page: u32, request: u64);

    /// Records a rewrite of a page in the buffer.
    fn touch(&mut self, slot: u32, page: u32, request: u64);

    /// Removes a page, whether the policy chose it or not.
    fn remove(&mut self, slot: u32);

    /// Names at least one slot of a buffer that is not empty: the slots to evict together. Removes none of them. It is
    /// called again only after all of them have been removed.
    fn choose(&mut self, leaving: &mut Leaving);
}

/// A set of slots that are evicted together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving {
    pub(crate) slots: Vec<u32>,
    pub(crate) how: How,
}

/// The order and grouping in which chosen slots are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum How {
    /// In order of page number. Neighbouring pages share one write.
    #[default]
    Runs,
    /// In the order named, each page as a write of its own.
    Singly,
    /// As one whole block that starts at page `first`. Pages that are not in the buffer are read and written with it.
    Padded { first: u32 },
}

/// The properties of the drive that a policy may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) elements: Elements,
    /// Pages of a block. A block starts at a multiple of this number.
    pub(crate) block_pages: u32,
}

/// The flash elements, and the element that a page number implies: lane `page mod lanes` of element group
/// `page / stride mod count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) stride: u32,
    pub(crate) count: u32,
    pub(crate) lanes: u32,
}

impl Elements {
    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        (self.count * self.lanes) as usize
    }

    /// Returns the element of a page.
    #[inline]
    pub(crate) fn of(&self, page: u32) -> u32 {
        page / self.stride % self.count * self.lanes + page % self.lanes
    }
}

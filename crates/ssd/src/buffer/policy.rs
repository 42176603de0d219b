//! What a policy is asked, and what it may know.
//!
//! A policy keeps slots in some order and names those that leave together. It knows page numbers and in which
//! order they were written, no time, no bytes, no sectors, and not how much room there is. Whatever it is asked
//! costs O(1) for every page that comes or leaves.

/// The order of a buffer. A *slot* is a small number that stands for a page as long as it is in the buffer.
pub(crate) trait Policy {
    /// The policy of an empty buffer over such a drive.
    fn new(shape: &Shape) -> Self;

    /// A page has come that was not there. Pages of one host request have one number; later requests have
    /// larger ones.
    fn insert(&mut self, slot: u32, page: u32, request: u64);

    /// A page was written again.
    fn touch(&mut self, slot: u32, page: u32, request: u64);

    /// A page has left, chosen or not.
    fn remove(&mut self, slot: u32);

    /// Names at least one slot of a buffer that is not empty: those that leave together. Takes none of them
    /// out. Asked again only after all of them have left.
    fn choose(&mut self, leaving: &mut Leaving);
}

/// What leaves together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving {
    pub(crate) slots: Vec<u32>,
    pub(crate) how: How,
}

/// How it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum How {
    /// In order of page number, neighbours in one write.
    #[default]
    Runs,
    /// In the order named, each page by itself.
    Singly,
    /// As one whole block from this page on: what is not in the buffer is read and written with it.
    Padded { first: u32 },
}

/// What a policy may know of the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) elements: Elements,
    /// Pages of a block: neighbours from a multiple of this on.
    pub(crate) block_pages: u32,
}

/// Where a page lies, as far as its number tells: on lane `page mod lanes` of element group
/// `page / stride mod count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) stride: u32,
    pub(crate) count: u32,
    pub(crate) lanes: u32,
}

impl Elements {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        (self.count * self.lanes) as usize
    }

    /// The element of a page.
    #[inline]
    pub(crate) fn of(&self, page: u32) -> u32 {
        page / self.stride % self.count * self.lanes + page % self.lanes
    }
}

//! Identifiers of the field: a logical page, a physical page.

/// Logical page number: the index of a mapping unit in the host's address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lpn(pub u32);

/// Physical page number: the index of a mapping unit's place in the flash array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppn(pub u32);

impl Lpn {
    /// The page as an index into a flat array.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ppn {
    /// No place at all: what an unmapped logical page points to.
    pub const NONE: Ppn = Ppn(u32::MAX);

    /// The page as an index into a flat array.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is a real place.
    #[inline]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

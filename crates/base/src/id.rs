//! Identifiers: logical page number and physical page number.

/// Logical page number: index of a mapped unit in the host's address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lpn(pub u32);

/// Physical page number: index of a mapped unit's place in the flash array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppn(pub u32);

impl Lpn {
    /// Returns the number as an index into a flat array.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ppn {
    /// No place; the value of an unmapped logical page.
    pub const NONE: Ppn = Ppn(u32::MAX);

    /// Returns the number as an index into a flat array.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns true unless this is [`Ppn::NONE`].
    #[inline]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

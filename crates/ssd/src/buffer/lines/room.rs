//! The room in the write buffer: capacity, used and reserved.

use super::WriteLines;
use super::parts::Piece;

impl WriteLines {
    /// Reserves room. Returns false if there is not enough.
    #[inline]
    pub(crate) fn reserve(&mut self, sectors: u32) -> bool {
        // A piece that is larger than the buffer passes through it while it is empty.
        let fits = self.occupied() + u64::from(sectors) <= self.room.capacity;
        let empty = self.occupied() == 0;
        if fits || empty {
            self.room.reserved += u64::from(sectors);
        }
        fits || empty
    }

    /// Releases room that was reserved for data that does not arrive.
    pub(crate) fn give_back(&mut self, reserved: u32) {
        self.room.reserved -= u64::from(reserved);
    }

    /// Returns the room that is used or reserved, in sectors.
    #[inline]
    pub(crate) fn occupied(&self) -> u64 {
        self.room.used + self.room.reserved
    }

    /// Returns the capacity in sectors.
    #[inline]
    pub(crate) fn capacity(&self) -> u64 {
        self.room.capacity
    }

    /// Releases the room of `sectors` that were programmed.
    #[inline]
    pub(crate) fn release(&mut self, sectors: u32) {
        self.room.used = self.room.used.saturating_sub(u64::from(sectors));
    }

    /// Accounts for a piece that was handed on without a line. Its sectors take room until [`WriteLines::release`].
    #[inline]
    pub(crate) fn pass(&mut self, piece: Piece) {
        self.room.reserved -= u64::from(piece.reserved);
        self.room.used += u64::from(piece.sectors);
    }
}

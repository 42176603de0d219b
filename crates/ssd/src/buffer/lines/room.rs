//! How much room there is, and how much of it is taken or promised.

use super::WriteLines;
use super::parts::Piece;

impl WriteLines {
    /// Sets room aside; false where there is not enough.
    #[inline]
    pub(crate) fn reserve(&mut self, sectors: u32) -> bool {
        // A piece that is larger than the buffer goes through it when it is empty.
        let fits = self.occupied() + u64::from(sectors) <= self.room.capacity;
        let empty = self.occupied() == 0;
        if fits || empty {
            self.room.reserved += u64::from(sectors);
        }
        fits || empty
    }

    /// Gives room back that was set aside for what does not come.
    pub(crate) fn give_back(&mut self, reserved: u32) {
        self.room.reserved -= u64::from(reserved);
    }

    /// Room that is taken or set aside, in sectors.
    #[inline]
    pub(crate) fn occupied(&self) -> u64 {
        self.room.used + self.room.reserved
    }

    /// Capacity in sectors.
    #[inline]
    pub(crate) fn capacity(&self) -> u64 {
        self.room.capacity
    }

    /// Gives room back: `sectors` are programmed.
    #[inline]
    pub(crate) fn release(&mut self, sectors: u32) {
        self.room.used = self.room.used.saturating_sub(u64::from(sectors));
    }

    /// A piece went on without a line; its sectors take room until [`WriteLines::release`].
    #[inline]
    pub(crate) fn pass(&mut self, piece: Piece) {
        self.room.reserved -= u64::from(piece.reserved);
        self.room.used += u64::from(piece.sectors);
    }
}

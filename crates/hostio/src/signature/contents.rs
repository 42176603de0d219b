//! The inspected bytes of a device.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The inspected bytes of a device.
pub(crate) struct Contents {
    pub(super) size: u64,
    /// Pieces as (offset, bytes): the beginning, the end, then pieces between them.
    pub(super) pieces: Vec<(u64, Vec<u8>)>,
}

impl Contents {
    /// Returns `len` bytes from an offset, if all of them were read.
    pub(super) fn at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.pieces.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(from..from.checked_add(len)?)
        })
    }

    /// Returns a hash of the inspected bytes.
    pub(crate) fn stamp(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.pieces.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns true if all inspected bytes are 0x00 or all are 0xff, as on an unused or erased device.
    pub(crate) fn blank(&self) -> bool {
        let all = |byte: u8| {
            let bytes = self.pieces.iter().flat_map(|(_, bytes)| bytes);
            bytes.copied().all(|b| b == byte)
        };
        all(0) || all(0xff)
    }
}

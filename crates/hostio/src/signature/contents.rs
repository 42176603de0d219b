//! The bytes of a device that were looked at.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The bytes of a device that were looked at.
pub(crate) struct Contents {
    pub(super) size: u64,
    /// Offset and bytes; the beginning first, then the end.
    pub(super) pieces: Vec<(u64, Vec<u8>)>,
}

impl Contents {
    /// Bytes from an offset, where all of them were read.
    pub(super) fn at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.pieces.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(from..from.checked_add(len)?)
        })
    }

    /// A number that differs when anything of this was changed.
    pub(crate) fn stamp(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.pieces.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether all that was read is zeros or all of it ones, as an unused or erased device reads.
    pub(crate) fn blank(&self) -> bool {
        let all = |byte: u8| {
            let bytes = self.pieces.iter().flat_map(|(_, bytes)| bytes);
            bytes.copied().all(|b| b == byte)
        };
        all(0) || all(0xff)
    }
}

//! What is on a device, by its magic numbers: at both ends, and in a few places between them.
//!
//! It names what is there; it does not check that it is whole, and it knows nothing of data without a magic number (a
//! database on the raw device, an encrypted disk without a header). Such data is seen as *data of an unknown kind* at
//! either end and in places between them.

mod blkid;
mod contents;
mod deep;
mod known;
mod table;

pub(crate) use blkid::ask as ask_blkid;
pub(crate) use contents::Contents;
pub use known::Signature;

use std::io;
use table::KNOWN;

/// How much of the beginning is looked at, in bytes: as far as the last second header of LUKS2.
const HEAD_BYTES: u64 = (4 << 20) + 4096;
/// How much of the end is looked at, in bytes: two labels of ZFS and every RAID's place.
const TAIL_BYTES: u64 = 2 << 20;

/// Where first partitions begin: the first megabyte that today's tools leave, and the first track of older ones.
const LOST_STARTS: [u64; 2] = [1 << 20, 63 * 512];

impl Contents {
    /// Reads what has to be seen of a device of `size` bytes; `read` gives so many bytes from an offset.
    pub(crate) fn read(
        size: u64,
        mut read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>,
    ) -> io::Result<Self> {
        let (head, tail) = (size.min(HEAD_BYTES), size.min(TAIL_BYTES));
        let mut ranges = vec![(0, head), (size - tail, tail)];
        let between = deep::ranges(size).into_iter().filter(|(at, len)| {
            let end = at.saturating_add(*len);
            end > head && end <= size && *at < size - tail
        });
        ranges.extend(between);
        let pieces = ranges
            .into_iter()
            .map(|(at, len)| Ok((at, read(at, len as usize)?)))
            .collect::<io::Result<_>>()?;
        Ok(Self { size, pieces })
    }

    /// Every known kind of contents, at most one of a name, in the order of the table.
    pub(crate) fn signatures(&self) -> Vec<Signature> {
        let mut found: Vec<Signature> = Vec::new();
        for &(name, place, magic) in KNOWN {
            if found.iter().any(|s| s.name == name) {
                continue;
            }
            let mut offsets = place.offsets(self.size).into_iter();
            let offset = offsets.find(|&o| self.at(o, magic.len()) == Some(magic));
            found.extend(offset.map(|offset| Signature {
                name: name.into(),
                offset: Some(offset),
            }));
        }
        found.extend(deep::signatures(self));
        if found.is_empty() {
            found.extend(self.in_a_lost_partition());
        }
        found
    }

    /// What stands where the first partition of a lost table began. Magic numbers of two bytes count for nothing here.
    fn in_a_lost_partition(&self) -> Option<Signature> {
        let long = KNOWN.iter().filter(|(_, _, magic)| magic.len() > 2);
        long.flat_map(|(name, place, magic)| {
            let places = LOST_STARTS.iter().flat_map(|start| place.from(*start));
            places.map(move |at| (name, at, magic))
        })
        .find(|(_, at, magic)| self.at(*at, magic.len()) == Some(*magic))
        .map(|(name, at, _)| Signature {
            name: format!("{name} (in a lost partition)").into(),
            offset: Some(at),
        })
    }
}

#[cfg(test)]
mod tests;

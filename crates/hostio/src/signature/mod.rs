//! Identifies the contents of a device by magic numbers, at both ends and in a few places between them.
//!
//! It names formats, but does not check their integrity. Data without a magic number (a database on the raw device, an
//! encrypted disk without a header) has no name; at the places read, it counts as *data of an unknown kind*.

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

/// Bytes inspected at the beginning: up to the last possible second header of LUKS2.
const HEAD_BYTES: u64 = (4 << 20) + 4096;
/// Bytes inspected at the end: two labels of ZFS and every RAID's superblock.
const TAIL_BYTES: u64 = 2 << 20;

/// Offsets of first partitions in bytes: after the first megabyte (current tools) and after the first track (older tools).
const LOST_STARTS: [u64; 2] = [1 << 20, 63 * 512];

impl Contents {
    /// Reads the ranges to inspect on a device of `size` bytes. `read` returns the given number of bytes at an offset.
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

    /// Returns all known signatures, at most one per name, in the order of the table.
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

    /// Finds a signature where the first partition of a lost table began. Ignores magic numbers of two bytes.
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

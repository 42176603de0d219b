//! What is on a device, by its magic numbers: at both ends, and in a few places between them.
//!
//! It names what is there; it does not check that it is whole, and it knows nothing of data without a magic number (a
//! database on the raw device, an encrypted disk without a header). Such data is seen as *data of an unknown kind* at
//! either end and in places between them.

mod blkid;
mod deep;
mod table;

pub(crate) use blkid::ask as ask_blkid;

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use table::KNOWN;

/// How much of the beginning is looked at, in bytes: as far as the last second header of LUKS2.
const HEAD_BYTES: u64 = (4 << 20) + 4096;
/// How much of the end is looked at, in bytes: two labels of ZFS and every RAID's place.
const TAIL_BYTES: u64 = 2 << 20;

/// Where first partitions begin: the first megabyte that today's tools leave, and the first track of older ones.
const LOST_STARTS: [u64; 2] = [1 << 20, 63 * 512];

/// A known kind of contents, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it is: `ext2/3/4`, `LUKS`, `GPT`.
    pub name: Cow<'static, str>,
    /// Where its magic number is, in bytes from the start; `None` where another program found it and did not say.
    pub offset: Option<u64>,
}

/// Formats of two bytes of magic: one random device in a few thousand has one of them somewhere.
const SHORT: [&str; 12] = [
    "minix",
    "HFS",
    "HFS+",
    "HFSX",
    "NILFS2",
    "VIA RAID",
    "JMicron RAID",
    "Sun disk label",
    "Mac partition map",
    "FileVault 2",
    "LVM1 physical volume",
    "MBR or boot sector",
];

impl Signature {
    /// Whether it may be there by chance, so that another look at the whole format is wanted.
    pub(crate) fn is_short(&self) -> bool {
        SHORT.contains(&self.name.as_ref())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The bytes of a device that were looked at.
pub(crate) struct Contents {
    size: u64,
    /// Offset and bytes; the beginning first, then the end.
    pieces: Vec<(u64, Vec<u8>)>,
}

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

    /// Bytes from an offset, where all of them were read.
    fn at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.pieces.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(from..from.checked_add(len)?)
        })
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

#[cfg(test)]
mod tests;

//! The entries of one block of a directory: read, entered and removed in place.
//!
//! An entry is an inode (0 if unused), its length to the next entry, the length of the name, a type, and the name; after
//! `struct ext2_dir_entry_2` of `ext2fs/ext2_fs.h`. With check sums, the last 12 bytes are an unused entry that has one.

use crate::crc::checksum;
use crate::disk::BLOCK;
use crate::meta::Block;

/// Bytes of an entry before its name.
const HEADER: usize = 8;
/// Bytes of the entry with the check sum.
const TAIL: usize = 12;
/// The type of that entry, as name length and type (`EXT2_DIR_NAME_LEN_CSUM`).
const TAIL_TYPE: [u8; 2] = [0x00, 0xde];

/// An entry of a block.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: usize,
    len: usize,
    inode: u32,
    name: usize,
}

impl Slot {
    /// Bytes that the entry needs.
    fn needs(&self) -> usize {
        if self.inode == 0 { 0 } else { needs(self.name) }
    }
}

/// Bytes of an entry with a name of `name` bytes.
pub(crate) fn needs(name: usize) -> usize {
    (HEADER + name).next_multiple_of(4)
}

fn u16_at(block: &Block, at: usize) -> usize {
    usize::from(u16::from_le_bytes([block[at], block[at + 1]]))
}

fn slot(block: &Block, at: usize, end: usize) -> Option<Slot> {
    let room = end.checked_sub(at).filter(|&room| room >= HEADER)?;
    let len = u16_at(block, at + 4);
    let name = usize::from(block[at + 6]);
    let inode = u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    let fits = len >= HEADER && len.is_multiple_of(4) && len <= room && HEADER + name <= len;
    fits.then_some(Slot {
        at,
        len,
        inode,
        name,
    })
}

/// The entries; `None` after the last, or before one that is out of bounds.
fn slots(block: &Block, end: usize) -> impl Iterator<Item = Slot> + '_ {
    std::iter::successors(slot(block, 0, end), move |last| {
        slot(block, last.at + last.len, end)
    })
}

/// The end of the entries.
fn end(summed: bool) -> usize {
    if summed { BLOCK - TAIL } else { BLOCK }
}

/// Whether the entries fill the block without a gap, and the check sum is right.
pub(crate) fn is_sound(block: &Block, seed: Option<u32>) -> bool {
    let end = end(seed.is_some());
    let reached = slots(block, end)
        .last()
        .map_or(0, |last| last.at + last.len);
    let sum = seed.is_none_or(|seed| {
        block[BLOCK - 6..BLOCK - 4] == TAIL_TYPE
            && block[BLOCK - 4..] == checksum(seed, &block[..BLOCK - TAIL]).to_le_bytes()
    });
    reached == end && sum
}

/// The names in use with their inodes.
pub(crate) fn names(block: &Block, summed: bool) -> impl Iterator<Item = (&[u8], u32)> {
    let used = slots(block, end(summed)).filter(|slot| slot.inode != 0);
    used.map(|slot| {
        (
            &block[slot.at + HEADER..slot.at + HEADER + slot.name],
            slot.inode,
        )
    })
}

/// The longest entry that can be entered, in bytes.
pub(crate) fn room(block: &Block, summed: bool) -> usize {
    let rooms = slots(block, end(summed)).map(|slot| slot.len - slot.needs());
    rooms.max().unwrap_or(0)
}

/// Enters a name into the first gap that is long enough. Returns how long that was; `None` if there is none.
pub(crate) fn enter(
    block: &mut Block,
    seed: Option<u32>,
    name: &[u8],
    inode: u32,
    kind: u8,
) -> Option<usize> {
    let needed = needs(name.len());
    let slot = slots(block, end(seed.is_some())).find(|slot| slot.len - slot.needs() >= needed)?;
    let used = slot.needs();
    if used > 0 {
        block[slot.at + 4..slot.at + 6].copy_from_slice(&(used as u16).to_le_bytes());
    }
    let at = slot.at + used;
    block[at..at + 4].copy_from_slice(&inode.to_le_bytes());
    block[at + 4..at + 6].copy_from_slice(&((slot.len - used) as u16).to_le_bytes());
    block[at + 6] = name.len() as u8;
    block[at + 7] = kind;
    block[at + HEADER..at + HEADER + name.len()].copy_from_slice(name);
    seal(block, seed);
    Some(slot.len - used)
}

/// Removes a name. Returns how long the gap is that it leaves; `None` if it is not there.
pub(crate) fn remove(block: &mut Block, seed: Option<u32>, name: &[u8]) -> Option<usize> {
    let mut before: Option<Slot> = None;
    let mut found = None;
    for slot in slots(block, end(seed.is_some())) {
        let range = slot.at + HEADER..slot.at + HEADER + slot.name;
        if slot.inode != 0 && block[range] == *name {
            found = Some(slot);
            break;
        }
        before = Some(slot);
    }
    let slot = found?;
    let gap = match before {
        Some(before) => {
            let len = before.len + slot.len;
            block[before.at + 4..before.at + 6].copy_from_slice(&(len as u16).to_le_bytes());
            len - before.needs()
        }
        None => {
            block[slot.at..slot.at + 4].fill(0);
            slot.len
        }
    };
    seal(block, seed);
    Some(gap)
}

fn seal(block: &mut Block, seed: Option<u32>) {
    if let Some(seed) = seed {
        let sum = checksum(seed, &block[..BLOCK - TAIL]);
        block[BLOCK - 4..].copy_from_slice(&sum.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Box<Block> {
        let mut block = Box::new([0; BLOCK]);
        block[4..6].copy_from_slice(&4096_u16.to_le_bytes());
        block
    }

    #[test]
    fn names_are_entered_into_gaps_and_removed() {
        let mut block = empty();
        assert_eq!(room(&block, false), 4096);
        for (name, inode) in [("a", 11), ("bcdef", 12), ("g", 13)] {
            assert!(enter(&mut block, None, name.as_bytes(), inode, 1).is_some());
        }
        // 12, 16 and 12 bytes.
        assert_eq!(room(&block, false), 4096 - 40);
        // The gap has the 16 bytes.
        assert_eq!(remove(&mut block, None, b"bcdef"), Some(16));
        assert_eq!(remove(&mut block, None, b"bcdef"), None);
        assert_eq!(enter(&mut block, None, b"hi", 14, 2), Some(16));
        let all: Vec<_> = names(&block, false).collect();
        assert_eq!(all, [(b"a".as_slice(), 11), (b"hi", 14), (b"g", 13)]);
        let first = remove(&mut block, None, b"a");
        assert_eq!(first, Some(12), "the first becomes unused");
        assert_eq!(names(&block, false).count(), 2);
        assert!(is_sound(&block, None));
    }

    #[test]
    fn a_full_block_refuses_and_a_bad_one_is_not_sound() {
        let mut block = empty();
        let long = [b'x'; 250];
        let mut entered = 0;
        while enter(&mut block, None, &long, 20, 1).is_some() {
            entered += 1;
        }
        // 4096 / 260.
        assert_eq!(entered, 15);
        block[4] = 7;
        assert!(!is_sound(&block, None));
    }
}

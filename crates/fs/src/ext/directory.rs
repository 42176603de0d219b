//! Entries of a directory in its blocks: each entry has 8 bytes and the name, rounded up to 4 (ext2's linear directory).
//!
//! A new entry goes to the first place with enough room, as `ext2_add_link` finds it. Left out: the hash index that ext3
//! and ext4 keep for directories of more than one block.

use crate::block::{BLOCK_BYTES, FileId};

/// An entry with the room up to the next one.
#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: u16,
    /// Bytes that it needs; 0 for a place without an entry at the beginning of a block.
    needs: u16,
    /// Bytes up to the next entry.
    room: u16,
    file: FileId,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// In order of offset.
    entries: Vec<Entry>,
    /// No hole is longer than this.
    longest: u16,
}

/// The entries of a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    blocks: Vec<Block>,
    count: usize,
    /// No block before this one has room for an entry of `none_needs` bytes.
    none_before: usize,
    none_needs: u16,
}

/// Bytes of the entry of a name.
fn needs(name_bytes: usize) -> u16 {
    (8 + name_bytes).next_multiple_of(4) as u16
}

impl Directory {
    /// Makes the first block, with the entries of the directory itself and its parent.
    pub(crate) fn with_block() -> Self {
        let entry = |offset, room| Entry {
            offset,
            needs: 12,
            room,
            file: FileId(0),
        };
        let entries = vec![entry(0, 12), entry(12, BLOCK_BYTES as u16 - 12)];
        let longest = BLOCK_BYTES as u16 - 24;
        Self {
            blocks: vec![Block { entries, longest }],
            count: 0,
            none_before: 0,
            none_needs: 0,
        }
    }

    /// Returns whether it has no entries but its own.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a block without entries.
    pub(crate) fn add_block(&mut self) {
        let room = BLOCK_BYTES as u16;
        let entry = Entry {
            offset: 0,
            needs: 0,
            room,
            file: FileId(0),
        };
        self.blocks.push(Block {
            entries: vec![entry],
            longest: room,
        });
    }

    /// Enters a name. Returns the index of the block; `None` if no block has room.
    pub(crate) fn enter(&mut self, name_bytes: usize, file: FileId) -> Option<u32> {
        let needs = needs(name_bytes);
        let from = if needs >= self.none_needs {
            self.none_before
        } else {
            0
        };
        let mut blocks = self.blocks.iter_mut().enumerate().skip(from);
        let found = blocks.find_map(|(index, block)| {
            (block.longest >= needs && block.enter(needs, file)).then_some(index)
        });
        (self.none_before, self.none_needs) = (found.unwrap_or(self.blocks.len()), needs);
        self.count += usize::from(found.is_some());
        found.map(|index| index as u32)
    }

    /// Removes the entry of a file. Returns the index of its block.
    pub(crate) fn remove(&mut self, near: u32, file: FileId) -> Option<u32> {
        let block = self.blocks.get_mut(near as usize)?;
        let at = block.entries.iter().position(|entry| entry.file == file)?;
        self.count -= 1;
        self.none_before = self.none_before.min(near as usize);
        let entry = block.entries[at];
        let hole = if at == 0 {
            let first = &mut block.entries[0];
            (first.needs, first.file) = (0, FileId(0));
            first.room
        } else {
            block.entries.remove(at);
            let before = &mut block.entries[at - 1];
            before.room += entry.room;
            before.room - before.needs
        };
        block.longest = block.longest.max(hole);
        Some(near)
    }
}

impl Block {
    fn enter(&mut self, needs: u16, file: FileId) -> bool {
        let fits = |entry: &Entry| entry.room - entry.needs >= needs;
        let Some(at) = self.entries.iter().position(fits) else {
            let holes = self.entries.iter().map(|entry| entry.room - entry.needs);
            self.longest = holes.max().unwrap_or(0);
            return false;
        };
        let before = &mut self.entries[at];
        if before.needs == 0 {
            (before.needs, before.file) = (needs, file);
            return true;
        }
        let entry = Entry {
            offset: before.offset + before.needs,
            needs,
            room: before.room - before.needs,
            file,
        };
        before.room = before.needs;
        self.entries.insert(at + 1, entry);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_the_first_hole_that_is_long_enough() {
        let mut directory = Directory::with_block();
        let enter = |directory: &mut Directory, name, id| directory.enter(name, FileId(id));
        // Entries of 264 bytes: 15 fit into 4,072 bytes.
        for id in 1..=15 {
            assert_eq!(enter(&mut directory, 255, id), Some(0), "{id}");
        }
        assert_eq!(enter(&mut directory, 255, 16), None);
        directory.add_block();
        assert_eq!(enter(&mut directory, 255, 16), Some(1));
        assert_eq!(directory.remove(0, FileId(7)), Some(0));
        assert_eq!(enter(&mut directory, 10, 17), Some(0));
        assert_eq!(enter(&mut directory, 255, 18), Some(1));
        assert_eq!(directory.remove(0, FileId(99)), None);
        assert!(!directory.is_empty());
    }
}

//! Items of the tree: their keys, their sizes, and how they are divided and joined.

use crate::block::{BLOCK_BYTES, FileId};

/// Bytes of a leaf for items: a block without its header of 24.
pub(super) const ROOM: u32 = BLOCK_BYTES as u32 - 24;
/// Bytes of the head of an item.
pub(super) const HEAD: u32 = 24;
/// Bytes of stat data, of a pointer to a block, of the head of an entry, and of a save link.
const STAT: u32 = 44;
const POINTER: u32 = 4;
const ENTRY: u32 = 16;
const LINK: u32 = 4;
/// Offset of the first item of a body.
pub(super) const FIRST: u64 = 1;

/// The kind of an item, in order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Stat,
    Pointers,
    Link,
    Entries,
}

/// A key of the tree. Keys are in the order of their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The packing locality.
    pub(super) packing: u32,
    pub(super) object: u32,
    pub(super) offset: u64,
    pub(super) kind: Kind,
}

impl Key {
    /// One number compares faster than four fields. Offsets are below 2^62, but for one behind all.
    fn rank(&self) -> u128 {
        let object = u64::from(self.packing) << 32 | u64::from(self.object);
        let place = self.offset.min(u64::MAX >> 2) << 2 | self.kind as u64;
        u128::from(object) << 64 | u128::from(place)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: u32,
    bytes: u16,
    pub(super) file: FileId,
}

impl Entry {
    pub(super) fn new(place: u32, name_bytes: usize, file: FileId) -> Self {
        Self {
            place,
            // A name is filled up to a multiple of 8.
            bytes: (ENTRY as usize + name_bytes.next_multiple_of(8)) as u16,
            file,
        }
    }

    pub(super) fn bytes(&self) -> u32 {
        u32::from(self.bytes)
    }
}

/// The body of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Stat,
    /// Number of pointers to blocks.
    Pointers(u32),
    Entries(Vec<Entry>),
    Link,
}

/// An item of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) key: Key,
    pub(super) body: Body,
}

impl Item {
    /// Bytes with the head.
    pub(super) fn bytes(&self) -> u32 {
        HEAD + self.part(0, self.units())
    }

    /// Number of units, at whose bounds it can be divided: pointers, entries, or the whole.
    pub(super) fn units(&self) -> usize {
        match &self.body {
            Body::Stat | Body::Link => 1,
            Body::Pointers(count) => *count as usize,
            Body::Entries(entries) => entries.len(),
        }
    }

    /// Bytes of units.
    pub(super) fn part(&self, from: usize, end: usize) -> u32 {
        match &self.body {
            Body::Stat => STAT * (end - from) as u32,
            Body::Link => LINK * (end - from) as u32,
            Body::Pointers(_) => POINTER * (end - from) as u32,
            Body::Entries(entries) => entries[from..end].iter().map(Entry::bytes).sum(),
        }
    }

    /// Whether the item continues one of the same object that may be the last one of the left neighbour.
    pub(super) fn continues(&self) -> bool {
        matches!(self.key.kind, Kind::Pointers | Kind::Entries) && self.key.offset != FIRST
    }

    /// Number of units from `from` on, and at most up to `end`, that fit into `room` bytes (`check_left`). None if none do.
    pub(super) fn fit_from(&self, from: usize, end: usize, room: u32) -> usize {
        let units = match &self.body {
            Body::Stat | Body::Link => 0,
            Body::Pointers(_) => (room / POINTER) as usize,
            Body::Entries(entries) => count(entries[from..end].iter(), room),
        };
        let units = units.min(end - from);
        // `.` and `..` stay together.
        if from == 0 && self.begins_directory() && units < 2 {
            0
        } else {
            units
        }
    }

    /// Number of units up to the end that fit into `room` bytes (`check_right`).
    pub(super) fn fit_behind(&self, room: u32) -> usize {
        let all = self.units();
        let units = match &self.body {
            Body::Stat | Body::Link => 0,
            Body::Pointers(_) => (room / POINTER) as usize,
            Body::Entries(entries) => count(entries.iter().rev(), room),
        };
        match self.begins_directory() {
            true => units.min(all.saturating_sub(2)),
            false => units.min(all),
        }
    }

    fn begins_directory(&self) -> bool {
        self.key.kind == Kind::Entries && self.key.offset == FIRST
    }

    /// Cuts off the units from `at` on.
    pub(super) fn split_off(&mut self, at: usize) -> Item {
        let mut key = self.key;
        let body = match &mut self.body {
            Body::Stat | Body::Link => self.body.clone(),
            Body::Pointers(count) => {
                key.offset += at as u64 * BLOCK_BYTES;
                let rest = *count - at as u32;
                *count = at as u32;
                Body::Pointers(rest)
            }
            Body::Entries(entries) => {
                let rest = entries.split_off(at);
                key.offset = rest.first().map_or(0, |entry| u64::from(entry.place));
                Body::Entries(rest)
            }
        };
        Item { key, body }
    }

    /// Whether an item that continues another one continues this one.
    pub(super) fn continued_by(&self, right: &Item) -> bool {
        let same = |key: Key| (key.packing, key.object, key.kind);
        same(self.key) == same(right.key)
    }

    /// Appends an item of the same object that continues this one.
    pub(super) fn join(&mut self, right: Item) {
        match (&mut self.body, right.body) {
            (Body::Pointers(count), Body::Pointers(more)) => *count += more,
            (Body::Entries(entries), Body::Entries(more)) => entries.extend(more),
            _ => {}
        }
    }
}

/// Number of the first entries that fit into `room` bytes.
fn count<'a>(entries: impl Iterator<Item = &'a Entry>, mut room: u32) -> usize {
    let fits = |entry: &&Entry| {
        let fits = entry.bytes() <= room;
        room = room.saturating_sub(entry.bytes());
        fits
    };
    entries.take_while(fits).count()
}

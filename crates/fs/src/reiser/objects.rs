//! The items of files and directories in the tree: what is inserted, added to, cut and deleted.

use super::hash::place_of;
use super::item::{Body, Entry, FIRST, Item, Key, Kind};
use super::tree::{Index, Tree};
use crate::block::{FileId, METADATA};
use crate::error::FsError;
use crate::layout::Core;

impl Tree {
    /// The leaf with the last item that is not above a key, and the index of that item.
    fn find(&self, key: Key) -> Option<(Index, usize)> {
        let leaf = self.leaf(key);
        let behind = self.items(leaf).partition_point(|item| item.key <= key);
        Some((leaf, behind.checked_sub(1)?))
    }

    /// Inserts an item.
    pub(super) fn insert(&mut self, core: &mut Core, item: Item) -> Result<(), FsError> {
        let (key, packing) = (item.key, item.key.packing);
        let leaf = self.leaf(key);
        self.edit(leaf, |items| {
            let at = items.partition_point(|item| item.key <= key);
            let bytes = i64::from(item.bytes());
            items.insert(at, item);
            bytes
        });
        self.grown(core, leaf, packing)
    }

    /// Deletes an item.
    pub(super) fn remove(&mut self, core: &mut Core, key: Key) {
        if let Some((leaf, at)) = self.find(key)
            && self.items(leaf)[at].key == key
        {
            self.edit(leaf, |items| -i64::from(items.remove(at).bytes()));
            self.shrunk(core, leaf);
        }
    }

    /// Adds pointers to the blocks of a file, behind those that it has.
    pub(super) fn add_pointers(
        &mut self,
        core: &mut Core,
        key: Key,
        count: u32,
    ) -> Result<(), FsError> {
        let same = |item: &Item| item.key.object == key.object && item.key.kind == Kind::Pointers;
        match self.find(key) {
            Some((leaf, at)) if same(&self.items(leaf)[at]) => {
                self.edit(leaf, |items| {
                    let before = items[at].bytes();
                    if let Body::Pointers(all) = &mut items[at].body {
                        *all += count;
                    }
                    i64::from(items[at].bytes() - before)
                });
                self.grown(core, leaf, key.packing)
            }
            _ => {
                let key = Key {
                    offset: FIRST,
                    ..key
                };
                let body = Body::Pointers(count);
                self.insert(core, Item { key, body })
            }
        }
    }

    /// Enters a name into a directory. Returns its place.
    pub(super) fn add_entry(
        &mut self,
        core: &mut Core,
        directory: Key,
        name_bytes: usize,
        id: FileId,
    ) -> Result<u32, FsError> {
        // Names are not known: a file is called by its number.
        let name = format!("{:0name_bytes$}", id.0);
        let mut key = Key {
            offset: u64::from(place_of(name.as_bytes())),
            ..directory
        };
        // Equal hashes are told apart by a number below 128.
        let most = key.offset | 127;
        while self.has_entry(key) && key.offset < most {
            key.offset += 1;
        }
        let place = key.offset as u32;
        let missing = FsError::Missing(id);
        let (leaf, at) = self.find(key).ok_or(missing)?;
        let entry = Entry::new(place, name_bytes, id);
        self.edit(leaf, |items| {
            let Body::Entries(entries) = &mut items[at].body else {
                return 0;
            };
            let before = entries.partition_point(|entry| entry.place <= place);
            entries.insert(before, entry);
            i64::from(entry.bytes())
        });
        self.grown(core, leaf, directory.packing)?;
        Ok(place)
    }

    fn has_entry(&self, key: Key) -> bool {
        let found = self.find(key).map(|(leaf, at)| &self.items(leaf)[at]);
        found.is_some_and(|item| match &item.body {
            Body::Entries(entries) => entries
                .binary_search_by_key(&(key.offset as u32), |entry| entry.place)
                .is_ok(),
            _ => false,
        })
    }

    /// Deletes the entry of a file.
    pub(super) fn remove_entry(&mut self, core: &mut Core, key: Key, id: FileId) {
        let Some((leaf, at)) = self.find(key) else {
            return;
        };
        self.edit(leaf, |items| {
            let item = &mut items[at];
            let before = i64::from(item.bytes());
            let Body::Entries(entries) = &mut item.body else {
                return 0;
            };
            entries.retain(|entry| entry.file != id);
            match entries.first() {
                None => {
                    items.remove(at);
                    return -before;
                }
                Some(first) if item.key.offset != FIRST => {
                    item.key.offset = u64::from(first.place);
                }
                Some(_) => {}
            }
            i64::from(item.bytes()) - before
        });
        self.shrunk(core, leaf);
    }

    /// Inserts the items of a new file: its stat data, and the entries of a directory for itself and its parent.
    pub(super) fn add_items(
        &mut self,
        core: &mut Core,
        key: Key,
        directory: bool,
    ) -> Result<(), FsError> {
        self.insert(
            core,
            Item {
                key,
                body: Body::Stat,
            },
        )?;
        if !directory {
            return Ok(());
        }
        let own = [1, 2].map(|place| Entry::new(place, 2, METADATA));
        let key = Key {
            offset: FIRST,
            kind: Kind::Entries,
            ..key
        };
        let body = Body::Entries(own.to_vec());
        self.insert(core, Item { key, body })
    }

    /// Deletes the items of a file, the last first.
    pub(super) fn remove_items(&mut self, core: &mut Core, stat: Key, directory: bool) {
        let kind = if directory {
            Kind::Entries
        } else {
            Kind::Pointers
        };
        let last = Key {
            offset: u64::MAX,
            kind,
            ..stat
        };
        while let Some((leaf, at)) = self.find(last) {
            let key = self.items(leaf)[at].key;
            if (key.packing, key.object, key.kind) != (stat.packing, stat.object, kind) {
                break;
            }
            self.remove(core, key);
        }
        self.touch_stat(core, stat);
        self.remove(core, stat);
    }

    /// Notes that stat data was changed.
    pub(super) fn touch_stat(&self, core: &mut Core, stat: Key) {
        self.changed(core, self.leaf(stat));
    }
}

//! The operations of ReiserFS: the items that each inserts, changes and deletes, and the nodes that this changes.

use super::balance::MOST_NEW;
use super::format::{ReiserFormat, SUPER, journal, lay_out};
use super::hash::group_of;
use super::ids::Ids;
use super::item::{Body, FIRST, Item, Key, Kind};
use super::store::Store;
use super::tree::Tree;
use crate::alloc::{Want, What};
use crate::block::{BLOCK_BYTES, Extent, FileId, GROUP_BLOCKS, METADATA, ROOT};
use crate::error::FsError;
use crate::journal::Journal;
use crate::layout::{Core, File, Layout};
use crate::space::Space;
use crate::tags::Tags;

/// The packing locality and the object number of the root.
const ROOT_KEY: (u32, u32) = (1, 2);
/// The first number of a directory: the kernel makes one for extended attributes when it mounts a volume first.
const FIRST_OBJECT: u32 = 4;
/// The packing locality of save links, which is the highest.
const LINKS: u32 = u32::MAX;
/// Blocks of a group that are left to nodes: half of the bytes of a block.
const FOR_NODES: u64 = BLOCK_BYTES / 2;
/// A group with no more free blocks than these gets no further packing locality (`block_group_used`).
const PACKED: u64 = GROUP_BLOCKS * 60 / 100;
/// Most pointers that are added at once: with more, a leaf could need more than two new ones.
const MOST_POINTERS: u64 = 512;

/// What ReiserFS keeps of a file.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packing: u32,
    /// The place of its name in its directory.
    place: u32,
    /// Number of entries of a directory, without its own.
    entries: u32,
}

/// A volume of ReiserFS 3.6 that does not pack tails (`notail`).
#[derive(Debug)]
pub(crate) struct ReiserFs {
    journal: Vec<Extent>,
    tree: Tree,
    ids: Ids,
    held: Vec<Held>,
}

impl ReiserFs {
    /// Lays out a volume whose blocks are all free.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub(crate) fn new(format: ReiserFormat, space: &mut Space) -> Result<Self, FsError> {
        let root = lay_out(format, space)?;
        let packing = ROOT_KEY.0;
        let held = Held {
            packing,
            ..Held::default()
        };
        Ok(Self {
            journal: vec![journal(format)],
            tree: Tree::new(root),
            ids: Ids::new(FIRST_OBJECT),
            held: vec![Held::default(), held],
        })
    }

    /// The tree, for tests.
    #[cfg(test)]
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    fn held(&self, id: FileId) -> Held {
        self.held.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn key(&self, id: FileId, file: &File, offset: u64, kind: Kind) -> Key {
        Key {
            packing: self.held(id).packing,
            object: file.number as u32,
            offset,
            kind,
        }
    }

    /// The packing locality of a new file: that of its directory while its group has room (`reiserfs_choose_packing`).
    fn packing(&self, core: &Core, parent: FileId, number: u64) -> u32 {
        let packing = self.held(parent).packing;
        let group = group_of(packing, core.space.groups());
        let free = core.space.free_in(group) + core.space.leaving_in(group);
        match packing == ROOT_KEY.0 || free <= PACKED {
            true => number as u32,
            false => packing,
        }
    }

    /// Gives pages without blocks some, and the tree pointers to them.
    fn extend(
        &mut self,
        core: &mut Core,
        id: FileId,
        file: &mut File,
        page: u32,
        pages: u32,
    ) -> Result<(), FsError> {
        core.want_room(u64::from(pages) + u64::from(pages) / MOST_POINTERS + MOST_NEW)?;
        let packing = self.held(id).packing;
        let group = group_of(packing, core.space.groups());
        let (mut at, end) = (page, page + pages);
        while at < end {
            let want = Want {
                file: id,
                what: What::Data,
                page: at,
                blocks: u64::from(end - at).min(MOST_POINTERS),
                size: file.bytes.div_ceil(BLOCK_BYTES).max(u64::from(end)),
                open: file.open,
                home: group * GROUP_BLOCKS + FOR_NODES,
                after: file.map.before(at),
                extents: false,
                inode: packing,
                parent: file.parent,
                processor: core.processor,
            };
            let taken = core.take(&want)?;
            Store::note_use(core, taken);
            file.map.set(at, taken);
            let key = self.key(
                id,
                file,
                u64::from(at) * BLOCK_BYTES + FIRST,
                Kind::Pointers,
            );
            self.tree.add_pointers(core, key, taken.blocks as u32)?;
            at += taken.blocks as u32;
        }
        Ok(())
    }
}

impl Layout for ReiserFs {
    fn journal(&self) -> &[Extent] {
        &self.journal
    }

    fn new_journal(&self) -> Option<Journal> {
        Some(Journal::new(self.journal.clone(), Tags::Reiser))
    }

    fn make_root(&mut self, core: &mut Core) -> Result<(), FsError> {
        let root = Box::new(File::new(u64::from(ROOT_KEY.1), ROOT, true));
        let stat = self.key(ROOT, &root, 0, Kind::Stat);
        core.put_back(ROOT, root);
        self.tree.add_items(core, stat, true)
    }

    fn create(
        &mut self,
        core: &mut Core,
        parent: FileId,
        name_bytes: usize,
        directory: bool,
    ) -> Result<FileId, FsError> {
        core.want_room(3 * MOST_NEW)?;
        let of = core.file(parent)?;
        let number = of.number;
        let entries = self.key(parent, of, 0, Kind::Entries);
        let object = self
            .ids
            .take()
            .ok_or(FsError::NoInode(u64::from(u32::MAX)))?;
        core.changed.push(SUPER);
        let id = FileId(core.files.len() as u32);
        let file = File::new(u64::from(object), parent, directory);
        let packing = self.packing(core, parent, number);
        self.held.push(Held {
            packing,
            ..Held::default()
        });
        let stat = self.key(id, &file, 0, Kind::Stat);
        core.files.push(Some(Box::new(file)));
        self.tree.add_items(core, stat, directory)?;
        self.held[id.0 as usize].place = self.tree.add_entry(core, entries, name_bytes, id)?;
        self.held[parent.0 as usize].entries += 1;
        self.touch(core, parent);
        Ok(id)
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        id: FileId,
        page: u32,
        pages: u32,
    ) -> Result<(), FsError> {
        let mut file = core.take_out(id)?;
        let mut result = Ok(());
        while let Some((at, hole)) = file.map.next_hole(page, page + pages)
            && result.is_ok()
        {
            result = self.extend(core, id, &mut file, at, hole);
        }
        core.put_back(id, file);
        self.touch(core, id);
        result
    }

    fn most_nodes(&self, blocks: u64) -> u64 {
        // A pointer has 4 bytes, and the first of a file 28; a leaf is at least a third full. Then a split to the root.
        blocks.div_ceil(40) + 4 * MOST_NEW
    }

    fn touch(&mut self, core: &mut Core, id: FileId) {
        if let Ok(file) = core.file(id) {
            let stat = self.key(id, file, 0, Kind::Stat);
            self.tree.touch_stat(core, stat);
        }
    }

    fn commit_seconds(&self) -> u64 {
        // `JOURNAL_MAX_COMMIT_AGE`.
        30
    }

    fn looked_up(&self, core: &Core, id: FileId) -> Vec<u64> {
        let Ok(file) = core.file(id) else {
            return Vec::new();
        };
        let Ok(of) = core.file(file.parent) else {
            return Vec::new();
        };
        let place = u64::from(self.held(id).place);
        let mut way = self
            .tree
            .way(self.key(file.parent, of, place, Kind::Entries));
        way.extend(self.tree.way(self.key(id, file, 0, Kind::Stat)));
        way
    }

    fn inode_block(&self, core: &Core, id: FileId) -> Option<u64> {
        let stat = self.key(id, core.file(id).ok()?, 0, Kind::Stat);
        Some(self.tree.node(self.tree.leaf(stat)).block)
    }

    fn mapped_by(&self, core: &Core, id: FileId, page: u32) -> Option<u64> {
        let offset = u64::from(page) * BLOCK_BYTES + FIRST;
        let key = self.key(id, core.file(id).ok()?, offset, Kind::Pointers);
        Some(self.tree.node(self.tree.leaf(key)).block)
    }

    fn is_empty(&self, id: FileId) -> bool {
        self.held(id).entries == 0
    }

    fn delete(&mut self, core: &mut Core, id: FileId) -> Result<Vec<Extent>, FsError> {
        self.touch(core, id);
        let mut file = core.take_out(id)?;
        let stat = self.key(id, &file, 0, Kind::Stat);
        let of = core.file(file.parent)?;
        let place = u64::from(self.held(id).place);
        let entry = self.key(file.parent, of, place, Kind::Entries);
        self.tree.remove_entry(core, entry, id);
        self.held[file.parent.0 as usize].entries -= 1;
        self.touch(core, file.parent);
        // The file is not lost if the system stops before all its items are deleted.
        let link = Key {
            packing: LINKS,
            offset: 1 + BLOCK_BYTES,
            kind: Kind::Link,
            ..stat
        };
        if core.want_room(MOST_NEW).is_ok() {
            let body = Body::Link;
            self.tree.insert(core, Item { key: link, body })?;
        }
        let extents = file.map.cut(0);
        for &extent in &extents {
            Store::note_use(core, extent);
        }
        self.tree.remove_items(core, stat, file.directory);
        self.tree.remove(core, link);
        self.ids.release(file.number as u32);
        core.changed.push(SUPER);
        Ok(extents)
    }

    fn close(&mut self) {
        self.tree.store.close();
    }

    fn committed(&mut self, core: &mut Core) {
        self.tree.store.committed(core);
    }

    fn metadata(&self, id: FileId) -> Vec<Extent> {
        if id != METADATA {
            return Vec::new();
        }
        let blocks = self.tree.blocks().into_iter().chain(self.tree.store.all());
        blocks.map(|block| Extent::new(block, 1)).collect()
    }
}

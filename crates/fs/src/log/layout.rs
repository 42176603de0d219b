//! The operations of a log-structured format: which pages and nodes become dirty, and where data goes.

use super::contents::Owner;
use super::directory::Entries;
use super::format::{Areas, KEPT, LogFormat};
use super::held::Held;
use super::segments::{Log, Segments};
use super::tree::{Place, first_used_by, last_beside, parent_of, place_of};
use crate::block::{Extent, FileId, ROOT};
use crate::error::FsError;
use crate::journal::Journal;
use crate::layout::{Core, File, Layout};
use crate::space::Space;
use crate::write::{Purpose, join};
use std::collections::BTreeSet;

/// The number of the root's inode; those below belong to the format.
const ROOT_NODE: u32 = 3;

/// A node: where it lies, if it was ever written, and the log for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) block: Option<u64>,
    pub(super) log: Log,
}

/// A volume of a log-structured format.
#[derive(Debug)]
pub(crate) struct LogFs {
    pub(super) areas: Areas,
    pub(super) segments: Segments,
    held: Vec<Option<Box<Held>>>,
    pub(super) nodes: Vec<Node>,
    /// Numbers below those that were ever used that are free again.
    spare_numbers: BTreeSet<u32>,
    pub(super) dirty_nodes: BTreeSet<u32>,
    /// Pages of directories that are to be written.
    pub(super) dirty_entries: BTreeSet<(FileId, u32)>,
    /// Blocks of the node address table that have changed.
    pub(super) addresses: BTreeSet<u64>,
    /// Blocks of the tables whose second copy is valid: addresses, then information.
    pub(super) second: [BTreeSet<u64>; 2],
    /// Blocks that are not valid any more, until the next checkpoint; those of a checkpoint that is being written.
    pub(super) old: Vec<Extent>,
    pub(super) closing: Vec<Extent>,
    /// Whether cleaning is going on, which may use the sections that are kept for it.
    pub(super) cleaning: bool,
}

impl LogFs {
    /// Lays out a volume whose blocks are all free.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub(crate) fn new(format: LogFormat, space: &mut Space) -> Result<Self, FsError> {
        let areas = Areas::lay_out(format, space)?;
        let node = Node {
            block: None,
            log: Log::WarmNode,
        };
        Ok(Self {
            segments: Segments::new(areas),
            areas,
            held: vec![None, None],
            nodes: vec![node; ROOT_NODE as usize],
            spare_numbers: BTreeSet::new(),
            dirty_nodes: BTreeSet::new(),
            dirty_entries: BTreeSet::new(),
            addresses: BTreeSet::new(),
            second: Default::default(),
            old: Vec::new(),
            closing: Vec::new(),
            cleaning: false,
        })
    }

    fn held(&mut self, id: FileId) -> Result<&mut Held, FsError> {
        let held = self.held.get_mut(id.0 as usize).and_then(Option::as_mut);
        held.map(Box::as_mut).ok_or(FsError::Missing(id))
    }

    fn find_held(&self, id: FileId) -> Option<&Held> {
        self.held.get(id.0 as usize)?.as_deref()
    }

    /// Takes the next blocks of a log; cleans before that if few sections are free.
    pub(super) fn place(
        &mut self,
        core: &mut Core,
        log: Log,
        most: u64,
    ) -> Result<Extent, FsError> {
        let few = self.segments.free() <= KEPT + self.due();
        if !self.cleaning && few && self.segments.needs_section(log) {
            self.clean(core)?;
        }
        let taken = self.segments.append(log, most).ok_or(FsError::Full {
            wanted: most,
            free: core.space.free(),
        })?;
        core.space.take(taken);
        Ok(taken)
    }

    /// Sections that the next checkpoint needs for what is dirty.
    pub(super) fn due(&self) -> u64 {
        let dirty = self.dirty_nodes.len() + self.dirty_entries.len();
        dirty as u64 / self.areas.section
    }

    /// Blocks are no longer valid.
    pub(super) fn outdate(&mut self, blocks: Extent) {
        self.segments.disown(blocks);
        self.old.push(blocks);
    }

    /// Writes pages of a file to the head of a log. Their old blocks become invalid.
    pub(super) fn write_pages(
        &mut self,
        core: &mut Core,
        id: FileId,
        page: u32,
        pages: u32,
        log: Log,
    ) -> Result<(), FsError> {
        let (mut at, end) = (page, page + pages);
        while at < end {
            let taken = self.place(core, log, u64::from(end - at))?;
            let file = core.file_mut(id)?;
            for old in file.map.remove(at, taken.blocks as u32) {
                self.outdate(old);
            }
            file.map.set(at, taken);
            let purpose = match log {
                Log::ColdData => Purpose::Moved,
                Log::HotData => Purpose::Data,
                // The caller writes data.
                _ => {
                    self.note_pages(core, id, at, taken)?;
                    at += taken.blocks as u32;
                    continue;
                }
            };
            join(&mut core.writes, purpose, taken);
            if log == Log::HotData {
                core.fresh.extend(taken.start..taken.end());
            }
            self.note_pages(core, id, at, taken)?;
            at += taken.blocks as u32;
        }
        Ok(())
    }

    /// Notes the owners of blocks, and that the nodes that point to them are dirty.
    fn note_pages(
        &mut self,
        core: &mut Core,
        id: FileId,
        page: u32,
        taken: Extent,
    ) -> Result<(), FsError> {
        let inode = core.file(id)?.number as u32;
        let directory = core.file(id)?.directory;
        let end = page + taken.blocks as u32;
        self.segments.own(taken, Owner::Page(id, page));
        let mut at = page;
        while at < end {
            let node = match place_of(at) {
                None => inode,
                Some(place) => self.node_of(id, place, inode, directory)?,
            };
            self.dirty_nodes.insert(node);
            at = last_beside(at) + 1;
        }
        Ok(())
    }

    /// The number of a node of a file. If there is none yet it is made, with what has its number.
    fn node_of(
        &mut self,
        id: FileId,
        place: Place,
        inode: u32,
        directory: bool,
    ) -> Result<u32, FsError> {
        if let Some(&node) = self.held(id)?.nodes.get(&place) {
            return Ok(node);
        }
        let log = match (place, directory) {
            (Place::Pointers(_), true) => Log::HotNode,
            (Place::Pointers(_), false) => Log::WarmNode,
            _ => Log::ColdNode,
        };
        let node = self.new_node(log);
        self.held(id)?.nodes.insert(place, node);
        let above = match parent_of(place) {
            None => inode,
            Some(parent) => self.node_of(id, parent, inode, directory)?,
        };
        self.dirty_nodes.extend([node, above]);
        Ok(node)
    }

    fn new_node(&mut self, log: Log) -> u32 {
        let node = Node { block: None, log };
        match self.spare_numbers.pop_first() {
            Some(number) => {
                self.nodes[number as usize] = node;
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    fn drop_node(&mut self, number: u32) {
        if let Some(block) = self.nodes[number as usize].block.take() {
            self.outdate(Extent::new(block, 1));
        }
        self.dirty_nodes.remove(&number);
        self.change_address(number);
        self.spare_numbers.insert(number);
    }

    fn add(&mut self, inode: u32, name_bytes: usize, entry: u32, directory: bool) {
        self.held.push(Some(Box::new(Held {
            inode,
            entry,
            name_bytes,
            entries: directory.then(Entries::default),
            ..Held::default()
        })));
    }
}

impl Layout for LogFs {
    fn journal(&self) -> &[Extent] {
        &[]
    }

    fn new_journal(&self) -> Option<Journal> {
        None
    }

    fn make_root(&mut self, core: &mut Core) -> Result<(), FsError> {
        let number = self.new_node(Log::HotNode);
        let root = File::new(u64::from(number), ROOT, true);
        core.put_back(ROOT, Box::new(root));
        self.held.pop();
        self.add(number, 0, 0, true);
        Ok(())
    }

    fn create(
        &mut self,
        core: &mut Core,
        parent: FileId,
        name_bytes: usize,
        directory: bool,
    ) -> Result<FileId, FsError> {
        core.want_room(self.most_nodes(2))?;
        let full = FsError::Full { wanted: 1, free: 0 };
        let id = FileId(core.files.len() as u32);
        let entries = self.held(parent)?.entries.as_mut();
        let page = entries.and_then(|entries| entries.enter(name_bytes, id));
        let page = page.ok_or(full)?;
        let log = if directory {
            Log::HotNode
        } else {
            Log::WarmNode
        };
        let number = self.new_node(log);
        core.files.push(Some(Box::new(File::new(
            u64::from(number),
            parent,
            directory,
        ))));
        self.add(number, name_bytes, page, directory);
        self.dirty_nodes.insert(number);
        self.dirty_entries.insert((parent, page));
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
        core.file(id)?;
        self.write_pages(core, id, page, pages, Log::WarmData)?;
        self.touch(core, id);
        Ok(())
    }

    fn nodes_at(&self, page: u64) -> u64 {
        first_used_by(page as u32)
    }

    fn most_nodes(&self, blocks: u64) -> u64 {
        // What is dirty is written to a new place; the spare sections are never used up.
        let dirty = self.dirty_nodes.len() + self.dirty_entries.len();
        self.kept() + dirty as u64 + blocks / 64 + 64
    }

    fn moves(&self) -> bool {
        true
    }

    fn commit_seconds(&self) -> u64 {
        // `DEF_CP_INTERVAL`.
        60
    }

    fn kept(&self) -> u64 {
        self.areas.spare * self.areas.section
    }

    fn run_ahead(&self) -> u64 {
        self.segments.ahead(Log::WarmData)
    }

    fn is_clean(&self) -> bool {
        let dirty = self.dirty_nodes.is_empty() && self.dirty_entries.is_empty();
        dirty && self.addresses.is_empty() && self.segments.changed.is_empty()
    }

    fn entry_page(&self, id: FileId) -> Option<u32> {
        Some(self.find_held(id)?.entry)
    }

    fn inode_block(&self, core: &Core, id: FileId) -> Option<u64> {
        let number = core.file(id).ok()?.number;
        self.nodes[number as usize].block
    }

    fn mapped_by(&self, _core: &Core, id: FileId, page: u32) -> Option<u64> {
        let node = self.find_held(id)?.nodes.get(&place_of(page)?)?;
        self.nodes[*node as usize].block
    }

    fn touch(&mut self, core: &mut Core, id: FileId) {
        if let Ok(file) = core.file(id) {
            self.dirty_nodes.insert(file.number as u32);
        }
    }

    fn is_empty(&self, id: FileId) -> bool {
        let entries = self.find_held(id).and_then(|held| held.entries.as_ref());
        entries.is_none_or(Entries::is_empty)
    }

    /// Returns no blocks: those of the file are free after the next checkpoint, as the old blocks of pages are.
    fn delete(&mut self, core: &mut Core, id: FileId) -> Result<Vec<Extent>, FsError> {
        let mut file = core.take_out(id)?;
        let held = std::mem::take(self.held(id)?);
        self.held[id.0 as usize] = None;
        if let Some(entries) = &mut self.held(file.parent)?.entries {
            entries.remove(held.entry, held.name_bytes);
        }
        self.dirty_entries.insert((file.parent, held.entry));
        self.touch(core, file.parent);
        for extent in file.map.cut(0) {
            self.outdate(extent);
        }
        let nodes = held.nodes.into_values().chain([file.number as u32]);
        nodes.for_each(|node| self.drop_node(node));
        self.dirty_entries.retain(|(of, _)| *of != id);
        Ok(Vec::new())
    }

    fn checkpoint(&mut self, core: &mut Core) -> Result<(), FsError> {
        self.write_checkpoint(core)
    }

    fn committed(&mut self, core: &mut Core) {
        self.settle(core);
    }

    fn metadata(&self, id: FileId) -> Vec<Extent> {
        let numbers = self.find_held(id).into_iter().flat_map(|held| {
            let others = held.nodes.values().copied();
            others.chain([held.inode])
        });
        let blocks = numbers.filter_map(|node| self.nodes[node as usize].block);
        blocks.map(|block| Extent::new(block, 1)).collect()
    }
}

//! The operations of ext2, ext3 and ext4: the blocks of metadata that each changes.

use super::directory::Directory;
use super::geometry::{ExtFormat, Geometry, Version};
use super::held::Held;
use super::inodes::Inodes;
use super::nodes::Nodes;
use crate::alloc::{Want, What};
use crate::block::{BLOCK_BYTES, Extent, FileId, GROUP_BLOCKS, ROOT};
use crate::error::FsError;
use crate::journal::Journal;
use crate::layout::{Core, File, Layout};
use crate::space::Space;
use crate::tags::Tags;

/// A volume of ext2, ext3 or ext4.
#[derive(Debug)]
pub(crate) struct Ext {
    geometry: Geometry,
    inodes: Inodes,
    held: Vec<Option<Box<Held>>>,
}

impl Ext {
    /// Lays out a volume whose blocks are all free.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub(crate) fn new(format: ExtFormat, space: &mut Space) -> Result<Self, FsError> {
        let geometry = Geometry::new(format, space)?;
        Ok(Self {
            inodes: Inodes::new(&geometry),
            geometry,
            held: vec![None, None],
        })
    }

    fn held(&mut self, id: FileId) -> Result<&mut Held, FsError> {
        let held = self.held.get_mut(id.0 as usize).and_then(Option::as_mut);
        held.map(Box::as_mut).ok_or(FsError::Missing(id))
    }

    fn find_held(&self, id: FileId) -> Option<&Held> {
        self.held.get(id.0 as usize)?.as_deref()
    }

    fn change_inode(&self, core: &mut Core, inode: u64) {
        core.changed.push(self.geometry.inode_block(inode));
    }

    /// Notes that an inode was taken or freed.
    fn change_inode_use(&self, core: &mut Core, inode: u64) {
        let group = inode / self.geometry.inodes;
        self.change_inode(core, inode);
        core.changed.push(self.geometry.inode_bitmap(group));
        core.changed.push(self.geometry.descriptor(group));
    }

    /// Notes that blocks were taken or freed.
    fn change_bitmaps(&self, core: &mut Core, extent: Extent) {
        for group in extent.start / GROUP_BLOCKS..=(extent.end() - 1) / GROUP_BLOCKS {
            core.changed.push(self.geometry.block_bitmap(group));
            core.changed.push(self.geometry.descriptor(group));
        }
    }

    /// Takes blocks and notes it.
    fn take(&self, core: &mut Core, want: &Want) -> Result<Extent, FsError> {
        let taken = core.take(want)?;
        self.change_bitmaps(core, taken);
        Ok(taken)
    }

    /// Where the format would put a file.
    fn home(&self, file: &File, what: What) -> u64 {
        let group = file.number / self.geometry.inodes;
        let flex = self.geometry.flex();
        let first = group / flex * flex;
        match what {
            What::Data if flex >= 4 => (first + 1).min(self.geometry.groups - 1) * GROUP_BLOCKS,
            _ if flex >= 4 => first * GROUP_BLOCKS,
            _ => group * GROUP_BLOCKS,
        }
    }

    /// Gives pages blocks that have none.
    fn extend(
        &self,
        core: &mut Core,
        file: &mut File,
        nodes: &mut Nodes,
        mut want: Want,
    ) -> Result<(), FsError> {
        want.processor = core.processor;
        let what = want.what;
        let (mut at, end) = (want.page, want.page + want.blocks as u32);
        let (first, pages) = (u64::from(at), want.blocks);
        let missing = match want.extents {
            true => Vec::new(),
            false => nodes.missing_indirect(first, pages),
        };
        core.want_room(pages + missing.len() as u64)?;
        (want.what, want.blocks) = (What::Map, 1);
        for key in missing {
            let block = self.take(core, &want)?.start;
            nodes.insert(key, block);
            core.fresh.push(block);
            core.changed.push(block);
            want.after = Some(block);
        }
        want.what = what;
        while at < end {
            (want.page, want.blocks) = (at, u64::from(end - at));
            let taken = self.take(core, &want)?;
            file.map.set(at, taken);
            if what != What::Data {
                core.fresh.extend(taken.start..taken.end());
            }
            if !want.extents {
                core.changed.extend(nodes.of_page(u64::from(at)));
            }
            at += taken.blocks as u32;
            want.after = Some(taken.end() - 1);
        }
        if want.extents {
            (want.what, want.blocks) = (What::Map, 1);
            for key in nodes.missing_extents(&file.map) {
                let block = self.take(core, &want)?.start;
                nodes.insert(key, block);
                core.fresh.push(block);
            }
            core.changed
                .extend(nodes.of_extent(&file.map, first as u32));
        }
        self.change_inode(core, file.number);
        Ok(())
    }

    /// A request for pages of a file.
    fn want(&self, id: FileId, file: &File, page: u32, pages: u32, what: What) -> Want {
        let size = (file.bytes.div_ceil(BLOCK_BYTES)).max(u64::from(page + pages));
        Want {
            file: id,
            what,
            page,
            blocks: u64::from(pages),
            size,
            open: file.open,
            home: self.home(file, what),
            after: file.map.before(page),
            extents: self.geometry.format.version == Version::Ext4,
            inode: file.number as u32,
            parent: file.parent,
            processor: 0,
        }
    }

    /// Adds a file with what it holds, and makes the first block of a directory.
    fn add(
        &mut self,
        core: &mut Core,
        id: FileId,
        file: &mut File,
        held: &mut Held,
    ) -> Result<(), FsError> {
        if !file.directory {
            return Ok(());
        }
        let want = self.want(id, file, 0, 1, What::Directory);
        self.extend(core, file, &mut held.nodes, want)
    }

    /// Enters a name into a directory, which grows if it has no room.
    fn enter_name(
        &mut self,
        core: &mut Core,
        parent: FileId,
        of: &mut File,
        name_bytes: usize,
        id: FileId,
    ) -> Result<u32, FsError> {
        let full = FsError::Full { wanted: 1, free: 0 };
        let entries = |held: &mut Held| held.entries.take().ok_or(FsError::Missing(parent));
        let mut directory = entries(self.held(parent)?)?;
        let mut entered = directory.enter(name_bytes, id).ok_or(full.clone());
        if entered.is_err() {
            let mut nodes = std::mem::take(&mut self.held(parent)?.nodes);
            let want = self.want(parent, of, of.map.end() as u32, 1, What::Directory);
            let grown = self.extend(core, of, &mut nodes, want);
            self.held(parent)?.nodes = nodes;
            entered = grown.and_then(|()| {
                directory.add_block();
                directory.enter(name_bytes, id).ok_or(full)
            });
        }
        self.held(parent)?.entries = Some(directory);
        let block = entered.as_ref().ok().and_then(|&entry| of.map.find(entry));
        core.changed.extend(block.map(|(block, _)| block));
        entered
    }

    fn enter(
        &mut self,
        core: &mut Core,
        parent: FileId,
        name_bytes: usize,
        id: FileId,
        mut file: Box<File>,
    ) -> Result<(), FsError> {
        let mut held = Box::new(Held::new(file.directory));
        self.add(core, id, &mut file, &mut held)?;
        let mut of = core.take_out(parent)?;
        let entered = self.enter_name(core, parent, &mut of, name_bytes, id);
        let parent_inode = of.number;
        core.put_back(parent, of);
        match entered {
            Ok(entry) => held.entry = entry,
            Err(error) => {
                core.release(&file.map.cut(0));
                return Err(error);
            }
        }
        self.change_inode(core, parent_inode);
        self.change_inode_use(core, file.number);
        core.files.push(Some(file));
        self.held.push(Some(held));
        Ok(())
    }
}

impl Layout for Ext {
    fn journal(&self) -> &[Extent] {
        &self.geometry.journal
    }

    fn new_journal(&self) -> Option<Journal> {
        let tags = match self.geometry.format.version {
            Version::Ext2 => return None,
            Version::Ext3 => Tags::Short,
            Version::Ext4 => Tags::Long,
        };
        Some(Journal::new(self.geometry.journal.clone(), tags))
    }

    fn make_root(&mut self, core: &mut Core) -> Result<(), FsError> {
        // The root has an inode of those that the format keeps for itself.
        let mut root = Box::new(File::new(1, ROOT, true));
        let mut held = Box::new(Held::new(true));
        self.add(core, ROOT, &mut root, &mut held)?;
        core.put_back(ROOT, root);
        self.held[ROOT.0 as usize] = Some(held);
        Ok(())
    }

    fn create(
        &mut self,
        core: &mut Core,
        parent: FileId,
        name_bytes: usize,
        directory: bool,
    ) -> Result<FileId, FsError> {
        let group = core.file(parent)?.number / self.geometry.inodes;
        let inode = match directory {
            false => self.inodes.take_file(group, &self.geometry, &core.space),
            true => {
                let top = parent == ROOT;
                self.inodes
                    .take_directory(group, top, &self.geometry, &core.space)
            }
        };
        let inode = inode.ok_or(FsError::NoInode(self.inodes.all()))?;
        let id = FileId(core.files.len() as u32);
        let file = Box::new(File::new(inode, parent, directory));
        let made = self.enter(core, parent, name_bytes, id, file);
        if made.is_err() {
            self.inodes.release(inode, directory);
        }
        made.map(|()| id)
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        id: FileId,
        page: u32,
        pages: u32,
    ) -> Result<(), FsError> {
        let mut file = core.take_out(id)?;
        let mut nodes = std::mem::take(&mut self.held(id)?.nodes);
        let mut result = Ok(());
        while let Some((at, hole)) = file.map.next_hole(page, page + pages)
            && result.is_ok()
        {
            let want = self.want(id, &file, at, hole, What::Data);
            result = self.extend(core, &mut file, &mut nodes, want);
        }
        self.change_inode(core, file.number);
        core.put_back(id, file);
        self.held(id)?.nodes = nodes;
        result
    }

    fn nodes_at(&self, page: u64) -> u64 {
        match self.geometry.format.version {
            Version::Ext4 => 0,
            _ => Nodes::first_used_by(page),
        }
    }

    fn most_nodes(&self, blocks: u64) -> u64 {
        // A block of extents for 340 pieces; a block for a new directory, two for its parent.
        blocks.div_ceil(340) + 4
    }

    fn touch(&mut self, core: &mut Core, id: FileId) {
        if let Ok(file) = core.file(id) {
            let inode = file.number;
            self.change_inode(core, inode);
        }
    }

    fn entry_page(&self, id: FileId) -> Option<u32> {
        Some(self.find_held(id)?.entry)
    }

    fn inode_block(&self, core: &Core, id: FileId) -> Option<u64> {
        let file = core.file(id).ok()?;
        Some(self.geometry.inode_block(file.number))
    }

    fn mapped_by(&self, core: &Core, id: FileId, page: u32) -> Option<u64> {
        let nodes = &self.find_held(id)?.nodes;
        match self.geometry.format.version {
            Version::Ext4 => nodes.of_extent(&core.file(id).ok()?.map, page),
            _ => nodes.of_page(u64::from(page)),
        }
    }

    fn is_empty(&self, id: FileId) -> bool {
        let entries = self.find_held(id).and_then(|held| held.entries.as_ref());
        entries.is_none_or(Directory::is_empty)
    }

    fn delete(&mut self, core: &mut Core, id: FileId) -> Result<Vec<Extent>, FsError> {
        let mut file = core.take_out(id)?;
        let held = std::mem::take(self.held(id)?);
        self.held[id.0 as usize] = None;
        if let Ok(of) = self.held(file.parent) {
            let entries = of.entries.as_mut();
            let removed = entries.and_then(|of| of.remove(held.entry, id));
            let parent = core.file(file.parent)?;
            let block = removed.and_then(|entry| parent.map.find(entry));
            let inode = parent.number;
            core.changed.extend(block.map(|(block, _)| block));
            self.change_inode(core, inode);
        }
        let mut extents = file.map.cut(0);
        if file.directory {
            let blocks = extents.iter().flat_map(|extent| extent.start..extent.end());
            core.revoked.extend(blocks);
        }
        for node in held.nodes.all() {
            core.revoked.push(node);
            extents.push(Extent::new(node, 1));
        }
        for &extent in &extents {
            self.change_bitmaps(core, extent);
        }
        self.inodes.release(file.number, file.directory);
        self.change_inode_use(core, file.number);
        // The list of orphans begins in the super block.
        core.changed.push(0);
        Ok(extents)
    }

    fn metadata(&self, id: FileId) -> Vec<Extent> {
        let nodes = self
            .find_held(id)
            .into_iter()
            .flat_map(|held| held.nodes.all());
        nodes.map(|node| Extent::new(node, 1)).collect()
    }
}

//! What an operation reads of the metadata, and whether there is room for it.

use crate::block::FileId;
use crate::error::FsError;
use crate::ext::Version;
use crate::volume::Volume;

impl Volume {
    /// The blocks of metadata that a look-up of a file by its name reads: its entry and its inode.
    pub fn looked_up(&self, id: FileId) -> Vec<u64> {
        let Ok(file) = self.file(id) else {
            return Vec::new();
        };
        let parent = self.file(file.parent).ok();
        let entry = parent.and_then(|parent| parent.map.find(file.entry));
        let inode = self.geometry.inode_block(file.inode);
        let blocks = entry.map(|(block, _)| block).into_iter();
        blocks.chain([inode]).collect()
    }

    /// The block with the inode of a file; `None` if the file does not exist.
    pub fn inode_block(&self, id: FileId) -> Option<u64> {
        let file = self.file(id).ok()?;
        Some(self.geometry.inode_block(file.inode))
    }

    /// Notes that the inode of a file changes: the time of its last access, for instance.
    pub fn touch(&mut self, id: FileId) {
        if let Some(block) = self.inode_block(id) {
            self.changed.push(block);
        }
    }

    /// The block of metadata that tells where a page of a file lies; `None` if the inode does.
    pub fn mapped_by(&self, id: FileId, page: u32) -> Option<u64> {
        let file = self.file(id).ok()?;
        match self.geometry.format.version {
            Version::Ext4 => file.nodes.of_extent(&file.map, page),
            _ => file.nodes.of_page(u64::from(page)),
        }
    }

    /// The blocks of metadata that map a file, besides its inode.
    pub fn map_blocks(&self, id: FileId) -> impl Iterator<Item = u64> + '_ {
        let file = self.file(id).ok();
        file.into_iter().flat_map(|file| file.nodes.all())
    }

    /// Returns whether the file system has room for `pages` pages and for what maps them: a block for 340 extents at
    /// worst, and one of a directory.
    ///
    /// # Errors
    /// [`FsError::Full`].
    pub fn want_room(&self, pages: u64) -> Result<(), FsError> {
        let wanted = pages + pages.div_ceil(340) + 4;
        let free = self.space.free() + self.allocator.set_aside();
        match wanted <= free {
            true => Ok(()),
            false => Err(FsError::Full { wanted, free }),
        }
    }
}

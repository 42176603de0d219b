//! What an operation reads of the metadata, and whether there is room for it.

use crate::block::FileId;
use crate::error::FsError;
use crate::volume::Volume;

impl Volume {
    /// The blocks of metadata that a look-up of a file by its name reads: its entry and its inode, and the way to them.
    pub fn looked_up(&self, id: FileId) -> Vec<u64> {
        self.layout.looked_up(&self.core, id)
    }

    /// The block with the inode of a file; `None` if the file does not exist, or its inode was never written.
    pub fn inode_block(&self, id: FileId) -> Option<u64> {
        self.layout.inode_block(&self.core, id)
    }

    /// Notes that the inode of a file changes: the time of its last access, for instance.
    pub fn touch(&mut self, id: FileId) {
        self.layout.touch(&mut self.core, id);
    }

    /// The block of metadata that tells where a page of a file lies; `None` if the inode does.
    pub fn mapped_by(&self, id: FileId, page: u32) -> Option<u64> {
        self.layout.mapped_by(&self.core, id, page)
    }

    /// The blocks of metadata that belong to a file, besides its inode: those that map it.
    pub fn map_blocks(&self, id: FileId) -> impl Iterator<Item = u64> + use<> {
        let blocks = self.layout.metadata(id).into_iter();
        blocks.flat_map(|extent| extent.start..extent.end())
    }

    /// Returns whether the file system has room for `blocks` blocks, and for what maps them.
    ///
    /// # Errors
    /// [`FsError::Full`].
    pub fn want_room(&self, blocks: u64) -> Result<(), FsError> {
        let more = self.layout.most_nodes(blocks);
        self.core.want_room(blocks + more)
    }
}

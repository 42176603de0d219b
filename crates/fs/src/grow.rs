//! How a file gets its blocks: the request to the allocator, and the blocks of metadata that map the file.

use crate::alloc::{Want, What};
use crate::block::{BLOCK_BYTES, Extent, FileId, GROUP_BLOCKS};
use crate::error::FsError;
use crate::ext::Version;
use crate::volume::{File, Volume};

impl Volume {
    /// Where the format would put a file.
    fn home(&self, file: &File, what: What) -> u64 {
        let group = file.inode / self.geometry.inodes;
        let flex = self.geometry.flex();
        let first = group / flex * flex;
        match what {
            What::Data if flex >= 4 => (first + 1).min(self.geometry.groups - 1) * GROUP_BLOCKS,
            _ if flex >= 4 => first * GROUP_BLOCKS,
            _ => group * GROUP_BLOCKS,
        }
    }

    /// Gives pages blocks that have none.
    pub(crate) fn extend(
        &mut self,
        id: FileId,
        file: &mut File,
        page: u32,
        pages: u32,
        what: What,
    ) -> Result<(), FsError> {
        let extents = self.geometry.format.version == Version::Ext4;
        let (mut at, end) = (page, page + pages);
        let missing = match extents {
            true => Vec::new(),
            false => file
                .nodes
                .missing_indirect(u64::from(page), u64::from(pages)),
        };
        let wanted = u64::from(pages) + missing.len() as u64;
        let free = self.space.free() + self.allocator.set_aside();
        if wanted > free {
            return Err(FsError::Full { wanted, free });
        }
        let size = (file.bytes.div_ceil(BLOCK_BYTES)).max(u64::from(end));
        let mut want = Want {
            file: id,
            what: What::Map,
            page,
            blocks: 1,
            size,
            open: file.open,
            home: self.home(file, what),
            after: file.map.before(page),
            extents,
            inode: file.inode as u32,
            processor: self.processor,
        };
        for key in missing {
            let block = self.take(&want)?.start;
            file.nodes.insert(key, block);
            self.fresh.push(block);
            self.changed.push(block);
            want.after = Some(block);
        }
        want.what = what;
        while at < end {
            (want.page, want.blocks) = (at, u64::from(end - at));
            let taken = self.take(&want)?;
            file.map.set(at, taken);
            if what != What::Data {
                self.fresh.extend(taken.start..taken.end());
            }
            if !extents {
                self.changed.extend(file.nodes.of_page(u64::from(at)));
            }
            at += taken.blocks as u32;
            want.after = Some(taken.end() - 1);
        }
        if extents {
            want.what = What::Map;
            want.blocks = 1;
            for key in file.nodes.missing_extents(&file.map) {
                let block = self.take(&want)?.start;
                file.nodes.insert(key, block);
                self.fresh.push(block);
            }
            self.changed.extend(file.nodes.of_extent(&file.map, page));
        }
        self.change_inode(file.inode);
        Ok(())
    }

    fn take(&mut self, want: &Want) -> Result<Extent, FsError> {
        let taken = self.allocator.allocate(&mut self.space, want);
        let taken = taken.ok_or(FsError::Full {
            wanted: want.blocks,
            free: self.space.free(),
        })?;
        self.change_bitmaps(taken);
        Ok(taken)
    }

    /// Gives the pages of a range that have no block one. Changes the inode in any case.
    ///
    /// # Errors
    /// The file does not exist; not enough blocks are free, and then none is taken.
    pub fn allocate(&mut self, id: FileId, page: u32, pages: u32) -> Result<(), FsError> {
        let mut file = self.take_out(id)?;
        let end = page + pages;
        let mut at = page;
        let mut result = Ok(());
        while at < end && result.is_ok() {
            if let Some((_, run)) = file.map.find(at) {
                at = at.saturating_add(run.min(u64::from(end - at)) as u32);
                continue;
            }
            let hole = file.map.hole(at, end - at);
            result = self.extend(id, &mut file, at, hole, What::Data);
            at += hole;
        }
        self.change_inode(file.inode);
        self.files[id.0 as usize] = Some(file);
        result
    }
}

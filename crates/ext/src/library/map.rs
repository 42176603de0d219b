//! The blocks of a file: which page has which, and how new ones are entered.
#![allow(unsafe_code, reason = "calls of a C library")]

use super::Library;
use crate::error::ExtError;
use crate::ffi::{self, ExtentHandle, Filsys, RawExtent, RawInode};
use crate::inode::DIRECT;
use fathom_fs::Extent;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Blocks of the longest extent.
const LONGEST: u64 = 32_768;

/// The blocks of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owned {
    pub(crate) data: Vec<u64>,
    /// Those that map it.
    pub(crate) map: Vec<u64>,
}

unsafe extern "C" fn collect(
    _fs: *mut Filsys,
    block: *mut u64,
    page: i64,
    _parent: u64,
    _offset: c_int,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `blocks_of` passes one of these, and the library a place with the block.
    let (owned, block) = unsafe { (&mut *data.cast::<Owned>(), *block) };
    match page {
        0.. => owned.data.push(block),
        _ => owned.map.push(block),
    }
    0
}

impl Library {
    /// The block of a page; `None` for a hole.
    pub(crate) fn block_of(
        &mut self,
        number: u32,
        inode: &mut RawInode,
        page: u64,
    ) -> Result<Option<u64>, ExtError> {
        if let Some(block) = inode.direct(page) {
            return Ok((block != 0).then_some(block));
        }
        let (mut flags, mut block) = (0, 0);
        // SAFETY: the file system is open, and the places for the results live.
        let code = unsafe {
            let (fs, buffer) = (self.fs.as_ptr(), ptr::null_mut());
            ffi::ext2fs_bmap2(fs, number, inode, buffer, 0, page, &mut flags, &mut block)
        };
        self.check(code, "find a block")?;
        Ok((block != 0).then_some(block))
    }

    /// Enters blocks for pages from `page` on, which are a hole. Counts them and those that map them.
    pub(crate) fn enter_blocks(
        &mut self,
        number: u32,
        inode: &mut RawInode,
        page: u64,
        blocks: Extent,
    ) -> Result<(), ExtError> {
        for block in blocks.start..blocks.end() {
            // SAFETY: the file system is open; the allocator gives blocks of the volume.
            unsafe { ffi::ext2fs_block_alloc_stats2(self.fs.as_ptr(), block, 1) };
        }
        // SAFETY: as above.
        let code = unsafe { ffi::ext2fs_iblk_add_blocks(self.fs.as_ptr(), inode, blocks.blocks) };
        self.check(code, "count blocks")?;
        match inode.has_extents() {
            true if inode.push_extent(page, blocks.start, blocks.blocks) => Ok(()),
            true => self.enter_extent(number, inode, page, blocks),
            false => (0..blocks.blocks).try_for_each(|index| {
                self.enter_block(number, inode, page + index, blocks.start + index)
            }),
        }
    }

    fn enter_block(
        &mut self,
        number: u32,
        inode: &mut RawInode,
        page: u64,
        block: u64,
    ) -> Result<(), ExtError> {
        if page < DIRECT && !inode.has_extents() {
            inode.set_direct(page, block);
            return Ok(());
        }
        let (mut flags, mut block) = (0, block);
        // SAFETY: as above.
        let code = unsafe {
            let (fs, buffer) = (self.fs.as_ptr(), ptr::null_mut());
            let how = ffi::BMAP_ALLOC_AND_SET;
            ffi::ext2fs_bmap2(fs, number, inode, buffer, how, page, &mut flags, &mut block)
        };
        self.check(code, "enter a block")
    }

    fn enter_extent(
        &mut self,
        number: u32,
        inode: &mut RawInode,
        page: u64,
        blocks: Extent,
    ) -> Result<(), ExtError> {
        let mut handle: *mut ExtentHandle = ptr::null_mut();
        // SAFETY: the file system is open; the inode outlives the handle.
        let code =
            unsafe { ffi::ext2fs_extent_open2(self.fs.as_ptr(), number, inode, &mut handle) };
        self.check(code, "open the extents")?;
        let mut done = 0;
        let mut result = Ok(());
        while done < blocks.blocks && result.is_ok() {
            let left = Extent::new(blocks.start + done, blocks.blocks - done);
            match self.enter_run(handle, page + done, left) {
                Ok(entered) => done += entered,
                Err(error) => result = Err(error),
            }
        }
        // SAFETY: the handle was opened above and is not used again.
        unsafe { ffi::ext2fs_extent_free(handle) };
        result
    }

    /// Enters the first block, then makes its extent longer. Returns the number of blocks entered.
    fn enter_run(
        &mut self,
        handle: *mut ExtentHandle,
        page: u64,
        blocks: Extent,
    ) -> Result<u64, ExtError> {
        let mut extent = RawExtent::default();
        // SAFETY: the handle is open, and the place for the result lives.
        let code = unsafe {
            match ffi::ext2fs_extent_set_bmap(handle, page, blocks.start, 0) {
                0 if blocks.blocks == 1 => return Ok(1),
                0 => match ffi::ext2fs_extent_goto(handle, page) {
                    0 => ffi::ext2fs_extent_get(handle, 0, &mut extent),
                    code => code,
                },
                code => code,
            }
        };
        self.check(code, "enter an extent")?;
        let more = (LONGEST - u64::from(extent.len).min(LONGEST)).min(blocks.blocks - 1);
        let last = extent.page + u64::from(extent.len) == page + 1;
        if !last || more == 0 {
            return Ok(1);
        }
        extent.len += more as u32;
        // SAFETY: as above.
        let code = unsafe { ffi::ext2fs_extent_replace(handle, 0, &mut extent) };
        self.check(code, "make an extent longer")?;
        Ok(1 + more)
    }

    /// All blocks of a file.
    pub(crate) fn blocks_of(&mut self, number: u32, inode: &RawInode) -> Result<Owned, ExtError> {
        if let Some(data) = inode.unmapped_blocks() {
            let map = Vec::new();
            return Ok(Owned { data, map });
        }
        let mut owned = Owned::default();
        // SAFETY: the file system is open; the function expects what is passed to it, which lives.
        let code = unsafe {
            let data: *mut Owned = &mut owned;
            let (fs, buffer) = (self.fs.as_ptr(), ptr::null_mut());
            let flags = ffi::BLOCKS_READ_ONLY;
            ffi::ext2fs_block_iterate3(fs, number, flags, buffer, collect, data.cast())
        };
        self.check(code, "walk the blocks of a file")?;
        Ok(owned)
    }

    /// Marks a block as free, and counts.
    pub(crate) fn free_block(&mut self, block: u64) {
        // SAFETY: the file system is open; the library checks the number.
        unsafe { ffi::ext2fs_block_alloc_stats2(self.fs.as_ptr(), block, -1) };
    }
}

//! The parts of a new file system that the library makes.
#![allow(unsafe_code, reason = "calls of a C library")]

use super::Library;
use crate::error::ExtError;
use crate::ffi;
use std::ptr;

impl Library {
    /// Places bitmaps and inode tables.
    pub(crate) fn make_tables(&mut self) -> Result<(), ExtError> {
        // SAFETY: the file system is open.
        let code = unsafe { ffi::ext2fs_allocate_tables(self.fs.as_ptr()) };
        self.check(code, "place the inode tables")
    }

    /// Makes the inodes of bad blocks and of the descriptors' growth.
    pub(crate) fn make_reserved_files(&mut self) -> Result<(), ExtError> {
        let fs = self.fs.as_ptr();
        // SAFETY: the file system is open; a list that is null is an empty one.
        let codes = unsafe {
            [
                ffi::ext2fs_update_bb_inode(fs, ptr::null_mut()),
                ffi::ext2fs_create_resize_inode(fs),
            ]
        };
        codes
            .into_iter()
            .try_for_each(|code| self.check(code, "make the reserved files"))
    }

    /// Makes the journal, with the size that the library chooses.
    pub(crate) fn make_journal(&mut self) -> Result<(), ExtError> {
        let blocks = self.superblock().blocks();
        // SAFETY: the file system is open.
        let code = unsafe {
            let size = ffi::ext2fs_default_journal_size(blocks).unsigned_abs();
            ffi::ext2fs_add_journal_inode(self.fs.as_ptr(), size, 0)
        };
        self.check(code, "make the journal")
    }
}

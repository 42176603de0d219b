//! Inodes: read and written in the cache of metadata, past the library's own copies, which it is told to forget.
#![allow(unsafe_code, reason = "calls of a C library")]

use super::{Library, disk_error};
use crate::channel::Shared;
use crate::crc::checksum;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi::{self, RawInode};
use crate::inode::sb;
use std::ffi::c_int;
use std::ptr;

impl Library {
    /// The place of an inode, in bytes from the beginning.
    fn place_of(&mut self, number: u32) -> Result<u64, ExtError> {
        let corrupt = || ExtError::Corrupt {
            what: format!("an entry names inode {number}"),
        };
        let per_group = self.inodes_per_group();
        let index = number.checked_sub(1).ok_or_else(corrupt)?;
        let group = index / per_group;
        if group >= self.groups() {
            return Err(corrupt());
        }
        let table = self.inode_table(group);
        Ok(table * BLOCK as u64 + u64::from(index % per_group) * self.inode_bytes() as u64)
    }

    /// What check sums of an inode and of its blocks begin with; `None` if there are none.
    pub(crate) fn checksum_seed(&self, number: u32, inode: &RawInode) -> Option<u32> {
        let superblock = self.superblock();
        if superblock.u32(sb::RO_COMPAT) & sb::METADATA_CSUM == 0 {
            return None;
        }
        let seed = match superblock.u32(sb::INCOMPAT) & sb::CSUM_SEED {
            0 => checksum(u32::MAX, &superblock.0[sb::UUID..sb::UUID + 16]),
            _ => superblock.u32(sb::CHECKSUM_SEED),
        };
        let seed = checksum(seed, &number.to_le_bytes());
        Some(checksum(seed, &inode.generation().to_le_bytes()))
    }

    pub(crate) fn read_inode(&mut self, number: u32) -> Result<RawInode, ExtError> {
        let place = self.place_of(number)?;
        let bytes = self.inode_bytes();
        let mut inode = RawInode::zeroed();
        let mut shared = self.shared.borrow_mut();
        let Shared { disk, meta, .. } = &mut *shared;
        let read = meta.read(disk.as_mut(), place, &mut inode.0[..bytes]);
        drop(shared);
        read.map_err(|source| disk_error("read an inode", source))?;
        match self.checksum_seed(number, &inode) {
            Some(seed) if !inode.is_sealed(seed, bytes) => Err(ExtError::Corrupt {
                what: format!("the check sum of inode {number} is wrong"),
            }),
            _ => Ok(inode),
        }
    }

    pub(crate) fn write_inode(
        &mut self,
        number: u32,
        inode: &mut RawInode,
    ) -> Result<(), ExtError> {
        let place = self.place_of(number)?;
        let bytes = self.inode_bytes();
        if let Some(seed) = self.checksum_seed(number, inode) {
            inode.seal(seed, bytes);
        }
        let mut shared = self.shared.borrow_mut();
        let Shared { disk, meta, .. } = &mut *shared;
        let written = meta.write(disk.as_mut(), place, &inode.0[..bytes]);
        drop(shared);
        // SAFETY: the file system is open. The library must read this inode, and those beside it, again.
        let code = unsafe { ffi::ext2fs_flush_icache(self.fs.as_ptr()) };
        self.check(code, "forget inodes")?;
        written.map_err(|source| disk_error("write an inode", source))
    }

    fn inode_bytes(&self) -> usize {
        usize::from(self.superblock().u16(sb::INODE_BYTES).min(256))
    }

    /// The first free inode from a group on.
    pub(crate) fn new_inode(&mut self, group: u32, mode: u16) -> Result<u32, ExtError> {
        let mut number = 0;
        // An inode of the group stands for a directory in it.
        let near = group * self.inodes_per_group() + 1;
        // SAFETY: the file system is open, its bitmaps are read, and the place for the result lives.
        let code = unsafe {
            let map = ptr::null_mut();
            ffi::ext2fs_new_inode(self.fs.as_ptr(), near, c_int::from(mode), map, &mut number)
        };
        self.check(code, "find a free inode")?;
        self.note_bitmap_of(number);
        Ok(number)
    }

    /// Has the bitmap of blocks written with an inode that is the first of its group: it says which are its metadata.
    fn note_bitmap_of(&mut self, number: u32) {
        let group = (number - 1) / self.inodes_per_group();
        if self.unwritten.remove(&group)
            && let Some(allocation) = &mut self.shared.borrow_mut().allocation
        {
            allocation.changed.insert(group);
        }
    }

    /// Counts one inode less that has a block of extended attributes. Returns whether it was the last.
    pub(crate) fn leave_attributes(&mut self, number: u32, block: u64) -> Result<bool, ExtError> {
        let mut count = 0;
        // SAFETY: the file system is open, the library uses a buffer of its own, and the place for the result lives.
        let code = unsafe {
            let (fs, buffer) = (self.fs.as_ptr(), ptr::null_mut());
            ffi::ext2fs_adjust_ea_refcount3(fs, block, buffer, -1, &mut count, number)
        };
        self.check(code, "leave a block of extended attributes")?;
        Ok(count == 0)
    }

    /// Marks an inode as in use or free, and counts.
    pub(crate) fn count_inode(&mut self, number: u32, in_use: bool, directory: bool) {
        let change = if in_use { 1 } else { -1 };
        // SAFETY: the file system is open, its bitmaps are read; the library checks the number.
        unsafe {
            let fs = self.fs.as_ptr();
            ffi::ext2fs_inode_alloc_stats2(fs, number, change, c_int::from(directory));
        }
    }
}

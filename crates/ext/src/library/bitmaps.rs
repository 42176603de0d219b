//! The bitmaps of blocks and inodes: read whole, written for the groups that changed.
#![allow(unsafe_code, reason = "calls of a C library")]

use super::{Library, disk_error};
use crate::allocation::GROUP_BLOCKS;
use crate::channel::Shared;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi;
use std::ffi::c_int;

impl Library {
    /// Reads all bitmaps. Returns those of the blocks of all groups, one after the other.
    ///
    /// # Errors
    /// Those of the library, and of the disk.
    pub(crate) fn bitmaps(&mut self) -> Result<Vec<u8>, ExtError> {
        // SAFETY: the file system is open.
        let code = unsafe { ffi::ext2fs_read_bitmaps(self.fs.as_ptr()) };
        self.check(code, "read the bitmaps")?;
        let mut all = Vec::with_capacity(self.groups() as usize * BLOCK);
        for group in 0..self.groups() {
            all.extend_from_slice(&self.block_bitmap(group)?);
        }
        Ok(all)
    }

    fn block_bitmap(&mut self, group: u32) -> Result<Vec<u8>, ExtError> {
        let start = u64::from(group) * GROUP_BLOCKS;
        let bits = GROUP_BLOCKS.min(self.superblock().blocks().saturating_sub(start));
        let mut bitmap = vec![0; BLOCK];
        let map = self.fields().block_map;
        // SAFETY: the map is that of the open file system, and the buffer has room for the bits of a group.
        let code = unsafe {
            ffi::ext2fs_get_block_bitmap_range2(
                map,
                start,
                bits as usize,
                bitmap.as_mut_ptr().cast(),
            )
        };
        self.check(code, "read a bitmap")?;
        fill(&mut bitmap, bits as usize);
        Ok(bitmap)
    }

    fn inode_bitmap(&mut self, group: u32) -> Result<Vec<u8>, ExtError> {
        let bits = self.inodes_per_group() as usize;
        let start = u64::from(group) * bits as u64 + 1;
        let mut bitmap = vec![0; BLOCK];
        let map = self.fields().inode_map;
        // SAFETY: as above; a group has at most as many inodes as a block has bits.
        let code = unsafe {
            let bits = bits.min(8 * BLOCK);
            ffi::ext2fs_get_inode_bitmap_range2(map, start, bits, bitmap.as_mut_ptr().cast())
        };
        self.check(code, "read a bitmap")?;
        fill(&mut bitmap, bits);
        Ok(bitmap)
    }

    /// Writes the bitmaps of changed groups, then the descriptors and the super block, into the cache of metadata.
    ///
    /// # Errors
    /// Those of the library, and of the disk.
    pub(crate) fn flush(&mut self, blocks: &[u32], inodes: &[u32]) -> Result<(), ExtError> {
        for &group in blocks {
            let mut bitmap = self.block_bitmap(group)?;
            let fs = self.fs.as_ptr();
            // SAFETY: the file system is open, and the buffer has the size that is given.
            let place = unsafe {
                let bytes = bitmap.as_mut_ptr().cast();
                ffi::ext2fs_block_bitmap_csum_set(fs, group, bytes, BLOCK as c_int);
                ffi::ext2fs_group_desc_csum_set(fs, group);
                ffi::ext2fs_block_bitmap_loc(fs, group)
            };
            self.write_meta(place, &bitmap)?;
        }
        let bytes = self.inodes_per_group() as usize / 8;
        for &group in inodes {
            let mut bitmap = self.inode_bitmap(group)?;
            let fs = self.fs.as_ptr();
            // SAFETY: as above.
            let place = unsafe {
                let start = bitmap.as_mut_ptr().cast();
                ffi::ext2fs_inode_bitmap_csum_set(fs, group, start, bytes as c_int);
                ffi::ext2fs_group_desc_csum_set(fs, group);
                ffi::ext2fs_inode_bitmap_loc(fs, group)
            };
            self.write_meta(place, &bitmap)?;
        }
        // The library would write the bitmaps of all groups.
        self.fields().flags &= !ffi::FLAG_BITMAPS_DIRTY;
        // SAFETY: the file system is open.
        let code = unsafe { ffi::ext2fs_flush2(self.fs.as_ptr(), ffi::FLUSH_NO_SYNC) };
        self.check(code, "write the descriptors")
    }

    fn write_meta(&mut self, block: u64, data: &[u8]) -> Result<(), ExtError> {
        let mut shared = self.shared.borrow_mut();
        let Shared { disk, meta, .. } = &mut *shared;
        let written = meta.write(disk.as_mut(), block * BLOCK as u64, data);
        drop(shared);
        written.map_err(|source| disk_error("write metadata", source))
    }
}

/// Sets the bits of a bitmap behind the first `bits`.
fn fill(bitmap: &mut [u8], bits: usize) {
    for (index, byte) in bitmap.iter_mut().enumerate().skip(bits / 8) {
        *byte = match index * 8 {
            first if first >= bits => 0xff,
            first => *byte | (0xff << (bits - first)),
        };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_bits_behind_the_last_are_set() {
        let mut bitmap = [0; 4];
        super::fill(&mut bitmap, 11);
        assert_eq!(bitmap, [0, 0xf8, 0xff, 0xff]);
    }
}

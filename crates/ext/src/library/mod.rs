//! libext2fs behind safe functions: an open file system, its super block, bitmaps and inodes.
//!
//! [`map`] has what maps files to blocks, [`names`] the directories. Nothing here decides what happens when.
#![allow(unsafe_code, reason = "calls of a C library")]

mod format;
mod map;
mod names;

use crate::allocation::{Allocation, GROUP_BLOCKS};
use crate::channel::{MANAGER, Shared, install, opening};
use crate::crc::checksum;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi::{self, Code, Filsys, RawInode, SuperBlock};
use crate::inode::sb;
use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// An open file system.
pub(crate) struct Library {
    /// Declared before what it points to, and freed first.
    fs: NonNull<Filsys>,
    shared: Rc<RefCell<Shared>>,
    now: i64,
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the file system is open, and nothing uses it after this.
        unsafe { ffi::ext2fs_free(self.fs.as_ptr()) };
    }
}

impl Library {
    /// Opens the file system. `now` is the time of all changes, in seconds since 1970.
    ///
    /// # Errors
    /// Those of the library, and of the disk.
    pub(crate) fn open(
        shared: Rc<RefCell<Shared>>,
        now: i64,
        write: bool,
    ) -> Result<Self, ExtError> {
        let flags = ffi::FLAG_64BITS | if write { ffi::FLAG_RW } else { 0 };
        let mut fs = ptr::null_mut();
        // SAFETY: the strings end with zero, and the place for the result lives; the manager is ours.
        let code = opening(&shared, || unsafe {
            ffi::ext2fs_open2(
                c"image".as_ptr(),
                ptr::null(),
                flags,
                0,
                0,
                &MANAGER,
                &mut fs,
            )
        });
        let mut library = Self::begin(code, fs, shared, now, "open the file system")?;
        library.check_descriptors()?;
        Ok(library)
    }

    /// Begins a new file system with the fields of a super block.
    ///
    /// # Errors
    /// Those of the library.
    pub(crate) fn initialize(
        shared: Rc<RefCell<Shared>>,
        now: i64,
        mut fields: SuperBlock,
    ) -> Result<Self, ExtError> {
        let mut fs = ptr::null_mut();
        let flags = ffi::FLAG_64BITS;
        // SAFETY: as above; the super block is one.
        let code = opening(&shared, || unsafe {
            ffi::ext2fs_initialize(c"image".as_ptr(), flags, &mut fields, &MANAGER, &mut fs)
        });
        Self::begin(code, fs, shared, now, "begin a file system")
    }

    fn begin(
        code: Code,
        fs: *mut Filsys,
        shared: Rc<RefCell<Shared>>,
        now: i64,
        what: &'static str,
    ) -> Result<Self, ExtError> {
        check(&shared, code, what)?;
        let fs = NonNull::new(fs).ok_or(ExtError::Library {
            what,
            message: "no file system".into(),
        })?;
        let mut library = Self { fs, shared, now };
        library.fields().now = now;
        Ok(library)
    }

    /// Checks that the descriptors of groups name places in the volume, and their check sums.
    fn check_descriptors(&mut self) -> Result<(), ExtError> {
        let fs = self.fs.as_ptr();
        // SAFETY: the file system is open and has the groups.
        let wrong = (0..self.groups())
            .find(|&group| unsafe { ffi::ext2fs_group_desc_csum_verify(fs, group) } == 0);
        // SAFETY: as above.
        let code = unsafe { ffi::ext2fs_check_desc(fs) };
        match (wrong, code) {
            (None, 0) => Ok(()),
            (Some(group), _) => Err(ExtError::Corrupt {
                what: format!("the check sum of the descriptor of group {group} is wrong"),
            }),
            (None, _) => Err(ExtError::Corrupt {
                what: "the descriptors of groups name places that overlap or do not exist".into(),
            }),
        }
    }

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

    /// Lets the allocator choose all blocks from now on.
    pub(crate) fn allocate_by(&mut self, allocation: Allocation) {
        self.shared.borrow_mut().allocation = Some(allocation);
        let fields = self.fields();
        fields.flags |= ffi::FLAG_MASTER_SB_ONLY;
        let fs: *mut Filsys = fields;
        // SAFETY: the file system is open and freed before `shared`, of which it holds a count.
        unsafe { install(fs, &self.shared) };
    }

    pub(crate) fn shared(&self) -> &RefCell<Shared> {
        &self.shared
    }

    fn fields(&mut self) -> &mut Filsys {
        // SAFETY: the pointer is that of an open file system, and no call of the library is in progress.
        unsafe { self.fs.as_mut() }
    }

    /// Time of all changes.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// The super block in memory.
    pub(crate) fn superblock(&self) -> &SuperBlock {
        // SAFETY: the library has allocated it with the file system.
        unsafe { &*self.fs.as_ref().superblock }
    }

    /// Changes the super block in memory; the next flush writes it.
    pub(crate) fn change_superblock(&mut self, change: impl FnOnce(&mut SuperBlock)) {
        let superblock = self.fields().superblock;
        // SAFETY: as above, and no one else has a reference to it.
        unsafe {
            change(&mut *superblock);
            ffi::ext2fs_mark_super_dirty(self.fs.as_ptr());
        }
    }

    /// Makes the seed of the check sums follow the identity in the super block.
    pub(crate) fn seed_checksums(&mut self) {
        // SAFETY: the file system is open.
        unsafe { ffi::ext2fs_init_csum_seed(self.fs.as_ptr()) };
    }

    pub(crate) fn groups(&self) -> u32 {
        // SAFETY: the pointer is that of an open file system.
        unsafe { self.fs.as_ref().group_desc_count }
    }

    pub(crate) fn inodes_per_group(&self) -> u32 {
        self.superblock().u32(sb::GROUP_INODES)
    }

    /// Number of free inodes and of directories of a group.
    pub(crate) fn inodes_of(&mut self, group: u32) -> [u32; 2] {
        let fs = self.fs.as_ptr();
        let group = group.min(self.groups() - 1);
        // SAFETY: the file system is open and has the group.
        unsafe {
            [
                ffi::ext2fs_bg_free_inodes_count(fs, group),
                ffi::ext2fs_bg_used_dirs_count(fs, group),
            ]
        }
    }

    /// The first block of the inode table of a group.
    pub(crate) fn inode_table(&mut self, group: u32) -> u64 {
        // SAFETY: the file system is open; an unknown group is 0 there.
        unsafe { ffi::ext2fs_inode_table_loc(self.fs.as_ptr(), group) }
    }

    /// Notes that all inodes of a group are zero on the disk.
    pub(crate) fn note_zeroed(&mut self, group: u32) {
        // SAFETY: the file system is open and has the group.
        unsafe {
            ffi::ext2fs_bg_flags_set(self.fs.as_ptr(), group, ffi::GROUP_INODES_ZEROED);
            ffi::ext2fs_group_desc_csum_set(self.fs.as_ptr(), group);
        }
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

    /// Ends a file system that was begun with [`Library::initialize`]: writes everything.
    ///
    /// # Errors
    /// Those of the library, and of the disk.
    pub(crate) fn finish(self) -> Result<(), ExtError> {
        // SAFETY: the file system is open. A failed close frees nothing, and this value frees it then; after a close
        // that succeeded there is nothing to free.
        let code = unsafe { ffi::ext2fs_close2(self.fs.as_ptr(), ffi::FLUSH_NO_SYNC) };
        let checked = self.check(code, "write the file system");
        if code == 0 {
            let shared = Rc::clone(&self.shared);
            // The count of `shared` that the forgotten value held is given back.
            let this = std::mem::ManuallyDrop::new(self);
            // SAFETY: the field is not used again, because the value is never dropped.
            drop(unsafe { ptr::read(&this.shared) });
            drop(shared);
        }
        checked
    }

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
        Ok(number)
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

    fn check(&self, code: Code, what: &'static str) -> Result<(), ExtError> {
        check(&self.shared, code, what)
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

/// An error of the disk under an image.
pub(crate) fn disk_error(what: &'static str, source: std::io::Error) -> ExtError {
    ExtError::io(std::path::Path::new("image"), what, source)
}

fn check(shared: &RefCell<Shared>, code: Code, what: &'static str) -> Result<(), ExtError> {
    if code == 0 {
        return Ok(());
    }
    let mut shared = shared.borrow_mut();
    if let Some(source) = shared.failure.take() {
        return Err(disk_error(what, source));
    }
    let free = shared
        .allocation
        .as_ref()
        .map_or(0, |allocation| allocation.space.free());
    Err(match code {
        ffi::BLOCK_ALLOC_FAIL => ExtError::Full { wanted: 1, free },
        ffi::INODE_ALLOC_FAIL => ExtError::NoInode,
        _ => {
            // SAFETY: the library answers with a constant or static text that ends with zero.
            let text = unsafe { CStr::from_ptr(ffi::error_message(code)) };
            ExtError::Library {
                what,
                message: text.to_string_lossy().into_owned(),
            }
        }
    })
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

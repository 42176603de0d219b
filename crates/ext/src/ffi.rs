//! The part of libext2fs 1.47 that this crate uses, declared by hand after `ext2fs/ext2fs.h` and `ext2fs/ext2_io.h`.
//!
//! Structures that the library allocates are declared up to the last field that is used; a test compares their offsets
//! with the header of the machine. It declares only: what is safe to call when is the business of its users.
#![allow(unsafe_code, reason = "declarations of a C library")]

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_ulonglong, c_void};

/// An error code of the library; 0 is success, small ones are those of the operating system.
pub(crate) type Code = c_long;

/// `EXT2_ET_MAGIC_IO_CHANNEL`.
pub(crate) const MAGIC_IO_CHANNEL: Code = 2_133_571_333;
/// `EXT2_ET_MAGIC_IO_MANAGER`.
pub(crate) const MAGIC_IO_MANAGER: Code = 2_133_571_335;
/// `EXT2_ET_SHORT_READ`.
pub(crate) const SHORT_READ: Code = 2_133_571_364;
/// `EXT2_ET_SHORT_WRITE`.
pub(crate) const SHORT_WRITE: Code = 2_133_571_365;
/// `EXT2_ET_DIR_NO_SPACE`.
pub(crate) const DIR_NO_SPACE: Code = 2_133_571_366;
/// `EXT2_ET_BLOCK_ALLOC_FAIL`.
pub(crate) const BLOCK_ALLOC_FAIL: Code = 2_133_571_400;
/// `EXT2_ET_INODE_ALLOC_FAIL`.
pub(crate) const INODE_ALLOC_FAIL: Code = 2_133_571_401;

/// `EXT2_FLAG_RW`.
pub(crate) const FLAG_RW: c_int = 0x01;
/// `EXT2_FLAG_IB_DIRTY` and `EXT2_FLAG_BB_DIRTY`: a flush writes all bitmaps.
pub(crate) const FLAG_BITMAPS_DIRTY: c_int = 0x10 | 0x20;
/// `EXT2_FLAG_MASTER_SB_ONLY`.
pub(crate) const FLAG_MASTER_SB_ONLY: c_int = 0x200;
/// `EXT2_FLAG_64BITS`.
pub(crate) const FLAG_64BITS: c_int = 0x20000;
/// `EXT2_FLAG_FLUSH_NO_SYNC`, for `ext2fs_flush2`.
pub(crate) const FLUSH_NO_SYNC: c_int = 1;
/// `BMAP_ALLOC | BMAP_SET`, for `ext2fs_bmap2`.
pub(crate) const BMAP_ALLOC_AND_SET: c_int = 0x1 | 0x2;
/// `BLOCK_FLAG_READ_ONLY`, for `ext2fs_block_iterate3`.
pub(crate) const BLOCKS_READ_ONLY: c_int = 0x8;
/// `EXT2_BG_BLOCK_UNINIT`, of a group's flags.
pub(crate) const GROUP_BLOCKS_UNWRITTEN: u16 = 0x2;
/// `EXT2_BG_INODE_ZEROED`, of a group's flags.
pub(crate) const GROUP_INODES_ZEROED: u16 = 0x4;

/// `struct ext2_super_block`, as bytes of the disk's order.
#[repr(C, align(8))]
#[derive(Clone, Debug)]
pub(crate) struct SuperBlock(pub(crate) [u8; 1024]);

/// `struct ext2_inode_large`, padded to the size of an inode on the disk.
#[repr(C, align(8))]
#[derive(Clone, Debug)]
pub(crate) struct RawInode(pub(crate) [u8; 256]);

/// `struct ext2fs_extent`.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub(crate) struct RawExtent {
    pub(crate) block: u64,
    pub(crate) page: u64,
    pub(crate) len: u32,
    pub(crate) flags: u32,
}

/// `struct blk_alloc_ctx`.
#[repr(C)]
pub(crate) struct AllocContext {
    pub(crate) inode: u32,
    pub(crate) data: *mut c_void,
    pub(crate) page: u64,
    pub(crate) flags: c_int,
}

/// `struct ext2_dir_entry`.
#[repr(C)]
pub(crate) struct DirEntry {
    pub(crate) inode: u32,
    pub(crate) rec_len: u16,
    /// Length of the name in the lower byte, type of the file in the upper one.
    pub(crate) name_len: u16,
    pub(crate) name: [u8; 255],
}

/// An extent handle, `struct ext2_extent_handle`.
pub(crate) enum ExtentHandle {}

pub(crate) type GetBlock =
    unsafe extern "C" fn(*mut Filsys, u64, *mut u64, *mut AllocContext) -> Code;
pub(crate) type BlockStats = unsafe extern "C" fn(*mut Filsys, u64, c_int);

/// `struct struct_ext2_filsys`, up to the hooks of allocation.
#[repr(C)]
pub(crate) struct Filsys {
    pub(crate) magic: Code,
    pub(crate) io: *mut Channel,
    pub(crate) flags: c_int,
    pub(crate) device_name: *mut c_char,
    pub(crate) superblock: *mut SuperBlock,
    pub(crate) blocksize: c_uint,
    pub(crate) fragsize: c_int,
    pub(crate) group_desc_count: u32,
    pub(crate) desc_blocks: c_ulong,
    pub(crate) group_desc: *mut c_void,
    pub(crate) inode_blocks_per_group: c_uint,
    pub(crate) inode_map: *mut c_void,
    pub(crate) block_map: *mut c_void,
    pub(crate) hooks: [*mut c_void; 5],
    pub(crate) badblocks: *mut c_void,
    pub(crate) dblist: *mut c_void,
    pub(crate) stride: u32,
    pub(crate) orig_super: *mut c_void,
    pub(crate) image_header: *mut c_void,
    pub(crate) umask: u32,
    pub(crate) now: i64,
    pub(crate) cluster_ratio_bits: c_int,
    pub(crate) default_bitmap_type: u16,
    pub(crate) pad: u16,
    pub(crate) reserved: [u32; 5],
    pub(crate) priv_data: *mut c_void,
    pub(crate) icache: *mut c_void,
    pub(crate) image_io: *mut c_void,
    pub(crate) get_alloc_block: *mut c_void,
    pub(crate) get_alloc_block2: Option<GetBlock>,
    pub(crate) block_alloc_stats: Option<BlockStats>,
}

/// `struct struct_io_channel`.
#[repr(C)]
pub(crate) struct Channel {
    pub(crate) magic: Code,
    pub(crate) manager: *const Manager,
    pub(crate) name: *const c_char,
    pub(crate) block_size: c_int,
    pub(crate) read_error: *const c_void,
    pub(crate) write_error: *const c_void,
    pub(crate) refcount: c_int,
    pub(crate) flags: c_int,
    pub(crate) reserved: [c_long; 14],
    pub(crate) private_data: *const c_void,
    pub(crate) app_data: *mut c_void,
    pub(crate) align: c_int,
}

type ReadBlocks = unsafe extern "C" fn(*mut Channel, c_ulonglong, c_int, *mut c_void) -> Code;
type WriteBlocks = unsafe extern "C" fn(*mut Channel, c_ulonglong, c_int, *const c_void) -> Code;
type ReadShort = unsafe extern "C" fn(*mut Channel, c_ulong, c_int, *mut c_void) -> Code;
type WriteShort = unsafe extern "C" fn(*mut Channel, c_ulong, c_int, *const c_void) -> Code;
type Range = unsafe extern "C" fn(*mut Channel, c_ulonglong, c_ulonglong) -> Code;

/// `struct struct_io_manager`.
#[repr(C)]
pub(crate) struct Manager {
    pub(crate) magic: Code,
    pub(crate) name: *const c_char,
    pub(crate) open: unsafe extern "C" fn(*const c_char, c_int, *mut *mut Channel) -> Code,
    pub(crate) close: unsafe extern "C" fn(*mut Channel) -> Code,
    pub(crate) set_blksize: unsafe extern "C" fn(*mut Channel, c_int) -> Code,
    pub(crate) read_blk: ReadShort,
    pub(crate) write_blk: WriteShort,
    pub(crate) flush: unsafe extern "C" fn(*mut Channel) -> Code,
    pub(crate) write_byte: *const c_void,
    pub(crate) set_option: *const c_void,
    pub(crate) get_stats: *const c_void,
    pub(crate) read_blk64: Option<ReadBlocks>,
    pub(crate) write_blk64: Option<WriteBlocks>,
    pub(crate) discard: *const c_void,
    pub(crate) cache_readahead: *const c_void,
    pub(crate) zeroout: Option<Range>,
    pub(crate) reserved: [c_long; 14],
}

// SAFETY: a manager is a table of functions and constants that nothing changes.
unsafe impl Sync for Manager {}

pub(crate) type EachBlock =
    unsafe extern "C" fn(*mut Filsys, *mut u64, i64, u64, c_int, *mut c_void) -> c_int;
pub(crate) type EachEntry = unsafe extern "C" fn(
    u32,
    c_int,
    *mut DirEntry,
    c_int,
    c_int,
    *mut c_char,
    *mut c_void,
) -> c_int;

#[link(name = "ext2fs")]
unsafe extern "C" {
    pub(crate) fn ext2fs_open2(
        name: *const c_char,
        options: *const c_char,
        flags: c_int,
        superblock: c_int,
        block_size: c_uint,
        manager: *const Manager,
        fs: *mut *mut Filsys,
    ) -> Code;
    pub(crate) fn ext2fs_initialize(
        name: *const c_char,
        flags: c_int,
        param: *mut SuperBlock,
        manager: *const Manager,
        fs: *mut *mut Filsys,
    ) -> Code;
    pub(crate) fn ext2fs_free(fs: *mut Filsys);
    pub(crate) fn ext2fs_flush2(fs: *mut Filsys, flags: c_int) -> Code;
    pub(crate) fn ext2fs_close2(fs: *mut Filsys, flags: c_int) -> Code;
    pub(crate) fn ext2fs_init_csum_seed(fs: *mut Filsys);
    pub(crate) fn ext2fs_mark_super_dirty(fs: *mut Filsys);

    pub(crate) fn ext2fs_check_desc(fs: *mut Filsys) -> Code;
    pub(crate) fn ext2fs_group_desc_csum_verify(fs: *mut Filsys, group: u32) -> c_int;
    pub(crate) fn ext2fs_read_bitmaps(fs: *mut Filsys) -> Code;
    pub(crate) fn ext2fs_get_block_bitmap_range2(
        map: *mut c_void,
        start: u64,
        bits: usize,
        out: *mut c_void,
    ) -> Code;
    pub(crate) fn ext2fs_get_inode_bitmap_range2(
        map: *mut c_void,
        start: u64,
        bits: usize,
        out: *mut c_void,
    ) -> Code;
    pub(crate) fn ext2fs_block_bitmap_csum_set(
        fs: *mut Filsys,
        group: u32,
        bitmap: *mut c_char,
        size: c_int,
    ) -> Code;
    pub(crate) fn ext2fs_inode_bitmap_csum_set(
        fs: *mut Filsys,
        group: u32,
        bitmap: *mut c_char,
        size: c_int,
    ) -> Code;
    pub(crate) fn ext2fs_group_desc_csum_set(fs: *mut Filsys, group: u32);
    pub(crate) fn ext2fs_bg_flags_set(fs: *mut Filsys, group: u32, flags: u16);
    pub(crate) fn ext2fs_bg_flags_test(fs: *mut Filsys, group: u32, flag: u16) -> c_int;
    pub(crate) fn ext2fs_block_bitmap_loc(fs: *mut Filsys, group: u32) -> u64;
    pub(crate) fn ext2fs_inode_bitmap_loc(fs: *mut Filsys, group: u32) -> u64;
    pub(crate) fn ext2fs_inode_table_loc(fs: *mut Filsys, group: u32) -> u64;
    pub(crate) fn ext2fs_bg_free_inodes_count(fs: *mut Filsys, group: u32) -> u32;
    pub(crate) fn ext2fs_bg_used_dirs_count(fs: *mut Filsys, group: u32) -> u32;
    pub(crate) fn ext2fs_block_alloc_stats2(fs: *mut Filsys, block: u64, inuse: c_int);
    pub(crate) fn ext2fs_inode_alloc_stats2(
        fs: *mut Filsys,
        inode: u32,
        inuse: c_int,
        directory: c_int,
    );

    pub(crate) fn ext2fs_new_inode(
        fs: *mut Filsys,
        directory: u32,
        mode: c_int,
        map: *mut c_void,
        inode: *mut u32,
    ) -> Code;
    pub(crate) fn ext2fs_adjust_ea_refcount3(
        fs: *mut Filsys,
        block: u64,
        buffer: *mut c_char,
        adjust: c_int,
        count: *mut u32,
        number: u32,
    ) -> Code;
    pub(crate) fn ext2fs_flush_icache(fs: *mut Filsys) -> Code;
    pub(crate) fn ext2fs_iblk_add_blocks(
        fs: *mut Filsys,
        inode: *mut RawInode,
        blocks: u64,
    ) -> Code;

    pub(crate) fn ext2fs_bmap2(
        fs: *mut Filsys,
        number: u32,
        inode: *mut RawInode,
        buffer: *mut c_char,
        flags: c_int,
        page: u64,
        returned: *mut c_int,
        block: *mut u64,
    ) -> Code;
    pub(crate) fn ext2fs_block_iterate3(
        fs: *mut Filsys,
        number: u32,
        flags: c_int,
        buffer: *mut c_char,
        each: EachBlock,
        data: *mut c_void,
    ) -> Code;
    pub(crate) fn ext2fs_extent_open2(
        fs: *mut Filsys,
        number: u32,
        inode: *mut RawInode,
        handle: *mut *mut ExtentHandle,
    ) -> Code;
    pub(crate) fn ext2fs_extent_free(handle: *mut ExtentHandle);
    pub(crate) fn ext2fs_extent_goto(handle: *mut ExtentHandle, page: u64) -> Code;
    pub(crate) fn ext2fs_extent_get(
        handle: *mut ExtentHandle,
        flags: c_int,
        extent: *mut RawExtent,
    ) -> Code;
    pub(crate) fn ext2fs_extent_replace(
        handle: *mut ExtentHandle,
        flags: c_int,
        extent: *mut RawExtent,
    ) -> Code;
    pub(crate) fn ext2fs_extent_set_bmap(
        handle: *mut ExtentHandle,
        page: u64,
        block: u64,
        flags: c_int,
    ) -> Code;

    pub(crate) fn ext2fs_dir_iterate2(
        fs: *mut Filsys,
        directory: u32,
        flags: c_int,
        buffer: *mut c_char,
        each: EachEntry,
        data: *mut c_void,
    ) -> Code;
    pub(crate) fn ext2fs_link(
        fs: *mut Filsys,
        directory: u32,
        name: *const c_char,
        inode: u32,
        kind: c_int,
    ) -> Code;
    pub(crate) fn ext2fs_unlink(
        fs: *mut Filsys,
        directory: u32,
        name: *const c_char,
        inode: u32,
        flags: c_int,
    ) -> Code;
    pub(crate) fn ext2fs_expand_dir(fs: *mut Filsys, directory: u32) -> Code;
    pub(crate) fn ext2fs_mkdir(
        fs: *mut Filsys,
        parent: u32,
        inode: u32,
        name: *const c_char,
    ) -> Code;
    pub(crate) fn ext2fs_symlink(
        fs: *mut Filsys,
        parent: u32,
        inode: u32,
        name: *const c_char,
        target: *const c_char,
    ) -> Code;

    pub(crate) fn ext2fs_allocate_tables(fs: *mut Filsys) -> Code;
    pub(crate) fn ext2fs_update_bb_inode(fs: *mut Filsys, list: *mut c_void) -> Code;
    pub(crate) fn ext2fs_create_resize_inode(fs: *mut Filsys) -> Code;
    pub(crate) fn ext2fs_add_journal_inode(fs: *mut Filsys, blocks: u32, flags: c_int) -> Code;
    pub(crate) fn ext2fs_default_journal_size(blocks: u64) -> c_int;
}

#[link(name = "com_err")]
unsafe extern "C" {
    pub(crate) fn error_message(code: Code) -> *const c_char;
}

#[cfg(test)]
mod tests;

//! Formats an image as `mke2fs` 1.47 does for Linux: sizes, features and reserved files.
//!
//! After the steps of `misc/mke2fs.c` and the settings of its `mke2fs.conf`. Inode tables are zeroed at once; `mke2fs`
//! leaves those of ext4 to the kernel.

use crate::allocation::GROUP_BLOCKS;
use crate::channel::Shared;
use crate::disk::{BLOCK, Disk};
use crate::error::ExtError;
use crate::ffi::SuperBlock;
use crate::host;
use crate::inode::sb;
use crate::library::{Library, disk_error};
use fathom_fs::BLOCK_BYTES;
use fathom_fs::ext::Version;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

const ROOT: u32 = 2;
/// The first inode that files can have.
const FIRST_INODE: u32 = 11;
/// `mke2fs` makes `lost+found` so long.
const LOST_AND_FOUND_BLOCKS: usize = 4;
/// Blocks of 4 KiB with 32 bits.
const MOST_BLOCKS: u64 = 1 << 32;

/// How an image is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The member of the family.
    pub version: Version,
    /// The identity of the file system, the UUID.
    pub identity: [u8; 16],
    /// The time, in seconds since 1970.
    pub now: i64,
}

/// Formats a file or block device. A file that is not there is made; `bytes` is its size, or that of the device that is
/// used. `destroy` names a file or device that is there and may be overwritten.
///
/// # Errors
/// [`ExtError::Occupied`], [`ExtError::Size`], [`ExtError::InUse`], [`ExtError::Host`], [`ExtError::Io`].
pub fn format(
    path: &Path,
    bytes: Option<u64>,
    destroy: Option<&str>,
    format: &Format,
) -> Result<(), ExtError> {
    if let Some(bytes) = bytes {
        check_size(bytes / BLOCK_BYTES)?;
    }
    let disk = host::open_to_format(path, bytes, destroy)?;
    format_disk(Box::new(disk), format)
}

/// Formats a [`Disk`].
///
/// # Errors
/// [`ExtError::Size`], [`ExtError::Io`], [`ExtError::Library`].
pub fn format_disk(disk: Box<dyn Disk>, format: &Format) -> Result<(), ExtError> {
    check_size(disk.blocks())?;
    let blocks = disk.blocks();
    let shared = Rc::new(RefCell::new(Shared::new(disk, true)));
    let begun = Library::initialize(Rc::clone(&shared), format.now, fields(format, blocks));
    let mut library = begun.map_err(|_| too_small(blocks))?;
    identify(&mut library, format);
    library.make_tables()?;
    zero_tables(&mut library, &shared, format)?;
    library.make_directory(ROOT, ROOT, None)?;
    library.make_directory(ROOT, 0, Some(b"lost+found"))?;
    let found = library
        .entries(ROOT)?
        .first()
        .map_or(0, |entry| entry.inode);
    for _ in 1..LOST_AND_FOUND_BLOCKS {
        library.expand(found)?;
    }
    for inode in ROOT + 1..FIRST_INODE {
        library.count_inode(inode, true, false);
    }
    library.count_inode(1, true, false);
    library.make_reserved_files()?;
    if format.version != Version::Ext2 {
        library.make_journal()?;
    }
    library.finish()?;
    let flushed = shared.borrow_mut().disk.flush();
    flushed.map_err(|source| disk_error("flush it", source))
}

fn too_small(blocks: u64) -> ExtError {
    ExtError::Size {
        bytes: blocks * BLOCK_BYTES,
        large: false,
    }
}

fn check_size(blocks: u64) -> Result<(), ExtError> {
    match blocks {
        0..2048 => Err(too_small(blocks)),
        MOST_BLOCKS.. => Err(ExtError::Size {
            bytes: blocks * BLOCK_BYTES,
            large: true,
        }),
        _ => Ok(()),
    }
}

/// The fields that the library begins with.
fn fields(format: &Format, blocks: u64) -> SuperBlock {
    let mut fields = SuperBlock::zeroed();
    // `inode_ratio` of mke2fs.conf: the types default, big (from 4 TiB) and huge (from 16 TiB).
    let ratio = if blocks >= 1 << 30 { 32_768 } else { 16_384 };
    fields.set_u32(sb::REVISION, 1);
    fields.set_u32(sb::LOG_BLOCK, 2);
    fields.set_u32(sb::LOG_CLUSTER, 2);
    fields.set_u32(sb::FIRST_BLOCK, 0);
    fields.set_u32(sb::GROUP_BLOCKS, GROUP_BLOCKS as u32);
    fields.set_blocks(blocks);
    fields.set_u32(
        sb::INODES,
        (blocks * BLOCK_BYTES / ratio).min(u64::from(u32::MAX)) as u32,
    );
    fields.set_u16(sb::INODE_BYTES, 256);
    let reserved = blocks / 20;
    fields.set_u32(sb::RESERVED, reserved as u32);
    fields.set_u32(sb::RESERVED_HIGH, (reserved >> 32) as u32);
    fields.set_u16(sb::ERRORS, 1);
    let mut incompat = sb::FILETYPE;
    let mut ro_compat = sb::SPARSE_SUPER | sb::LARGE_FILE;
    if format.version == Version::Ext4 {
        incompat |= sb::EXTENTS | sb::WIDE | sb::FLEX_BG;
        ro_compat |= sb::HUGE_FILE | sb::DIR_NLINK | sb::EXTRA_ISIZE | sb::METADATA_CSUM;
        fields.set_u8(sb::LOG_FLEX, 4);
        fields.set_u8(sb::CHECKSUM_TYPE, 1);
        fields.set_u16(sb::DESCRIPTOR_BYTES, 64);
    }
    fields.set_u32(sb::COMPAT, sb::RESIZE_INODE | sb::DIR_INDEX | sb::EXT_ATTR);
    fields.set_u32(sb::INCOMPAT, incompat);
    fields.set_u32(sb::RO_COMPAT, ro_compat);
    fields
}

/// Sets what only the finished super block has.
fn identify(library: &mut Library, format: &Format) {
    library.change_superblock(|superblock| {
        superblock.set_bytes(sb::UUID, &format.identity);
        // Half MD4, with the identity reversed as its seed.
        let mut seed = format.identity;
        seed.reverse();
        superblock.set_bytes(sb::HASH_SEED, &seed);
        superblock.set_u8(sb::HASH_VERSION, 1);
        // Characters are signed on x86.
        superblock.set_u32(sb::FLAGS, 1);
        // user_xattr, acl.
        superblock.set_u32(sb::MOUNT_OPTIONS, 0x4 | 0x8);
        superblock.set_u16(sb::MAX_MOUNTS, u16::MAX);
        superblock.set_u32(sb::CHECK_INTERVAL, 0);
        if format.version == Version::Ext4 {
            superblock.set_u8(sb::CHECKSUM_TYPE, 1);
        }
    });
    library.seed_checksums();
}

fn zero_tables(
    library: &mut Library,
    shared: &Rc<RefCell<Shared>>,
    format: &Format,
) -> Result<(), ExtError> {
    let inode_bytes = u64::from(library.superblock().u16(sb::INODE_BYTES));
    let bytes = u64::from(library.inodes_per_group()) * inode_bytes;
    let failed = |source| disk_error("zero the inode tables", source);
    for group in 0..library.groups() {
        let table = library.inode_table(group);
        let blocks = bytes.div_ceil(BLOCK as u64);
        shared
            .borrow_mut()
            .disk
            .zero(table, blocks)
            .map_err(failed)?;
        if format.version == Version::Ext4 {
            library.note_zeroed(group);
        }
    }
    // The first sectors belong to a boot loader, or to a signature of something else.
    shared.borrow_mut().disk.zero(0, 1).map_err(failed)
}

//! The places of files on a drive: a simplified allocator of a file system.
//!
//! The rules follow ext3 in outline, with 4-KiB blocks. The drive's range is divided into groups of 128 MiB. Each group
//! begins with its block bitmap, its inode bitmap and its inode table. A file goes into the group of its directory,
//! first fit after the last block of the file (for a new file, from the beginning of the group). It is split if there
//! is no room in one piece, and continues in the next groups if a group has no blocks or no inodes left (ext3 tries
//! other groups first). Directories are spread evenly over the groups, as ext3 spreads top-level ones. A directory is a
//! file whose blocks hold a fixed number of entries each. The journal is a file of the size that `mke2fs` chooses.
//!
//! Left out: indirect blocks, reservation windows, super blocks and their copies. Inodes are shared if all are in use,
//! directories do not shrink, and no data is stored. Blocks of a deleted file become free only with
//! [`Volume::release`]: ext3 does not reuse them before the deletion is committed.

mod fill;
mod space;
mod volume;

pub use crate::block::{BLOCK_BYTES, Extent};
pub use crate::block::{FileId, METADATA, PageKey};
pub use fill::Sizes;
pub use space::{Full, Space};
pub use volume::{Deleted, LEAST_BYTES, Touched, Volume};

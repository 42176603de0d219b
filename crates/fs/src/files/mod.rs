//! Where files lie on a drive: a stand-in for a file system's allocator.
//!
//! The rules are few, and are ext3's in outline (4-KiB blocks). The drive's range is cut into groups of 128 MiB. Each
//! begins with its block bitmap, its inode bitmap and its inode table. A file goes to the group of its directory, first
//! fit behind the file's last block (a new file: from the beginning of the group), in pieces where there is no room in
//! one, and to the next groups where a group has no blocks or no inodes left (ext3 tries others first). Directories are spread evenly over the groups, as ext3 spreads
//! those at the top. A directory is a file whose blocks hold so many entries each. The journal is a file of the size
//! that `mke2fs` gives it.
//!
//! What it is not: there are no indirect blocks, no reservation windows, no super blocks and their copies, inodes are
//! shared where all are taken, directories do not shrink, and nothing is stored. Blocks of a deleted file come back only when
//! [`Volume::release`] is told so: ext3 gives them to nobody before the deletion is committed.

mod fill;
mod space;
mod volume;

pub use fill::Sizes;
pub use space::{BLOCK_BYTES, Extent, Full, Space};
pub use volume::{Deleted, FileId, LEAST_BYTES, METADATA, PageKey, Touched, Volume};

//! ext2, ext3 and ext4: what an operation changes on the volume.
//!
//! Modelled: block groups with copies of the super block, flexible groups, bitmaps, descriptors, inode tables, directories
//! with entries in blocks, indirect blocks or extents, and the journal's place. No block has contents: an operation says
//! which blocks it changes. Left out: the hash index of directories, inline data, extended attributes, quotas, and the
//! merging of extent blocks that have become nearly empty.

mod directory;
mod geometry;
mod held;
mod inodes;
mod layout;
mod nodes;

pub use geometry::{ExtFormat, Version};
pub(crate) use layout::Ext;

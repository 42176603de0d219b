//! ReiserFS 3.6: what an operation changes on the volume.
//!
//! All metadata but bitmaps and the super block is in one balanced tree of nodes of 4 KiB: stat data, directory entries and
//! pointers to the blocks of files are items, in order of packing locality (a directory, or one above it) and object
//! number. Modelled: keys, sizes of items, the balancing that decides which nodes change and when new ones are allocated,
//! object numbers, save links, and the journal's place. Tails are never packed into the tree (mount option `notail`).
//! After `fs/reiserfs` of Linux 6.1.
//!
//! Left out: extended attributes, quotas, hard links, and the reading of nodes. Names are not known: the place of an entry
//! in its directory is that of the file's number.

mod balance;
mod format;
mod hash;
mod ids;
mod inner;
mod item;
mod layout;
mod objects;
mod plan;
mod store;
#[cfg(test)]
mod tests;
mod tree;

pub use format::ReiserFormat;
pub(crate) use layout::ReiserFs;

//! A log-structured file system in the manner of F2FS: what an operation changes on the volume.
//!
//! Data and nodes are never overwritten: a page that is written again goes to the head of one of six logs, and its old block
//! becomes invalid. A section, which is a number of segments of 2 MiB, is cleaned when few are free: its valid blocks are
//! moved, and it is free after the next checkpoint. A node is an inode with 923 pointers, a block of 1,018 pointers, or a
//! block of 1,018 numbers of nodes; the node address table says where each lies, so that a node that moves changes no
//! other node. A sync writes data, directory entries, nodes, the tables, and a checkpoint.
//!
//! With sections as long as the drive's logical blocks, every logical block is written in order and as a whole. Modelled
//! after the description of the format in Linux (`Documentation/filesystems/f2fs.rst`) and `fs/f2fs`, from memory.
//!
//! Left out: inline data and entries, extended attributes, journals of the tables in the checkpoint, writing into holes of
//! used segments (slack space recycling), and roll-forward recovery of `fsync`. The format places blocks itself: the
//! allocator of the volume is not asked.

mod checkpoint;
mod clean;
mod directory;
mod format;
mod held;
mod layout;
mod segments;
mod tree;

pub use format::LogFormat;
pub(crate) use format::SEGMENT_BYTES;
pub(crate) use layout::LogFs;

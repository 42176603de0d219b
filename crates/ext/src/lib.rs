//! Real images of ext2, ext3 and ext4: libext2fs is the format, the allocators are those of `fathom_fs`, and the page cache
//! and the writer of the journal are this crate's.
//!
//! [`format()`] and [`format_disk`] make an image; [`Image`] is an open one, on a file, a block device or any [`Disk`],
//! with [`Settings`] and an [`allocator`] of [`ALLOCATORS`] or one of the caller's ([`MakeAllocator`]). Its operations, from
//! [`Image::make_directory`] to [`Image::remove_directory`], change memory; [`Image::sync`] writes, and says what
//! ([`Written`]); [`Image::free_blocks`] tells how much room is left. [`Image::run`] performs a stream of
//! `fathom_fs::Operation` ([`operations`]), whose files have the contents of [`fill`], and returns a [`Summary`]. [`Image::import`] copies a directory of the host into an image, [`Image::export`] out of it
//! ([`Copied`]).
//!
//! The crate is empty without its feature `libext2fs`. With it, it contains `unsafe`: `ffi` declares the library,
//! `channel` has the functions that the library calls, `library` wraps what is called. Nothing else does.
//!
//! Left out: hard links are copied as files, extended attributes and holes are not copied, directories are linear, and a
//! journal is replayed by e2fsck only.

#![cfg_attr(
    not(feature = "libext2fs"),
    allow(rustdoc::broken_intra_doc_links, reason = "the crate is empty")
)]
#![cfg(feature = "libext2fs")]

mod allocation;
mod channel;
mod clean;
mod contents;
mod crc;
mod directories;
mod directory;
mod disk;
mod entries;
mod error;
mod ffi;
mod files;
mod format;
mod host;
mod image;
mod inode;
mod jbd2;
mod judge;
mod library;
mod log;
mod meta;
mod names;
mod pages;
mod stream;
mod sync;
mod tree;
mod written;

pub use allocation::{ALLOCATORS, MakeAllocator, allocator};
pub use contents::fill;
pub use disk::Disk;
pub use error::ExtError;
pub use fathom_fs::ext::Version;
pub use format::{Format, format, format_disk};
pub use image::{Image, Settings};
pub use stream::{Summary, operations};
pub use tree::Copied;
pub use written::Written;

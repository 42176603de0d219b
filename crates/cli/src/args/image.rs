//! Arguments of the commands on real images of ext2, ext3 and ext4.

use clap::{Args, ValueEnum};
use fathom_base::Bytes;
use std::path::PathBuf;

const IMAGES: &str = "Options for file operations on an image";

/// A member of the family. Its values have no help of their own: with one, the whole help of `run` would be twice as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fs {
    Ext2,
    Ext3,
    Ext4,
}

#[derive(Debug, Args)]
pub(crate) struct MkfsArgs {
    /// The file system: ext2 (no journal), ext3 (indirect blocks and a journal), ext4 (extents, check sums and a journal)
    #[arg(long, value_enum)]
    pub(crate) fs: Fs,
    /// Checked only: a new image has no files, and each command that writes some names its allocator
    #[arg(long, value_name = "ALLOCATOR")]
    pub(crate) alloc: Option<String>,
    /// The size of the image; needed for a new file, at most that of a device
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Allow the contents of the file or device with this name to be destroyed
    #[arg(long, value_name = "NAME")]
    pub(crate) destroy: Option<String>,
    /// A file, which is made if it is not there, or a block device
    pub(crate) image: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file system that the image must have
    #[arg(long, value_enum)]
    pub(crate) fs: Option<Fs>,
    /// The allocator of all new blocks, one of `fathom list allocators`
    #[arg(long, value_name = "ALLOCATOR")]
    pub(crate) alloc: String,
    /// The logical block of the allocators that have one, such as greedy-space
    #[arg(long, value_name = "BYTES", default_value = "4MiB")]
    pub(crate) logical_block: Bytes,
    /// The image, or a block device with one
    pub(crate) image: PathBuf,
    /// The directory whose contents are copied into the root of the image
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The image, or a block device with one
    pub(crate) image: PathBuf,
    /// The directory that everything is copied to; made if it is not there
    pub(crate) directory: PathBuf,
}

/// What makes `fathom run` perform file operations on an image.
#[derive(Debug, Args)]
#[command(next_help_heading = IMAGES)]
pub(crate) struct OnImageArgs {
    /// The file system that the image of --on must have: ext2, ext3 or ext4
    #[arg(long, value_enum, hide_possible_values = true, requires = "alloc")]
    pub(crate) fs: Option<Fs>,
    /// Perform the file operations of WORKLOAD, a file of them or Postmark, on the image of --on, with blocks from this
    /// allocator, one of `fathom list allocators`
    #[arg(long, value_name = "ALLOCATOR", requires = "on", conflicts_with_all = OTHERS)]
    pub(crate) alloc: Option<String>,
    /// The logical block of the allocators that have one, and of the figures
    #[arg(long, value_name = "BYTES", default_value = "4MiB", requires = "alloc")]
    pub(crate) logical_block: Bytes,
}

/// Options of `fathom run` that an image has no use for.
const OTHERS: [&str; 21] = [
    "size",
    "out",
    "json",
    "arrival",
    "ab",
    "sched",
    "split",
    "profile",
    "depth",
    "ftl",
    "buffer",
    "set",
    "precondition",
    "destroy",
    "yes",
    "step",
    "reshape",
    "format",
    "reorder",
    "lenient",
    "accesses",
];

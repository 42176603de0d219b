//! What an operation on an image fails with.

use fathom_fs::BadOperation;
use fathom_hostio::HostError;
use std::io;
use std::path::PathBuf;

/// Why an operation on an image failed. An image that was refused was not written to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtError {
    /// The safety lock refused, or the path cannot be inspected.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The path cannot be opened, read or written.
    #[error("{}: cannot {what}: {source}", path.display())]
    Io {
        /// The image, or a file of the host.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The image, or what is copied, cannot be read or written.
    #[error("cannot {what}: {source}")]
    Disk {
        /// What was tried.
        what: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The image is in use by another program.
    #[error("{}: in use ({by}); nothing was written", path.display())]
    InUse {
        /// The image.
        path: PathBuf,
        /// By whom, as far as known.
        by: String,
    },
    /// Something is there that formatting would destroy.
    #[error("{}: formatting destroys what it holds; name it in `--destroy` if that is meant", path.display())]
    Occupied {
        /// The image.
        path: PathBuf,
    },
    /// There is no ext2, ext3 or ext4 file system.
    #[error("no ext2, ext3 or ext4: {0}")]
    Foreign(String),
    /// The file system has damage.
    #[error("the file system is damaged: {what}; check it with `e2fsck -f IMAGE`")]
    Corrupt {
        /// What was found.
        what: String,
    },
    /// The journal has transactions that are not in their places, or the file system was not unmounted.
    #[error("{what}; run `e2fsck -fy IMAGE` first")]
    NeedsReplay {
        /// What was found.
        what: &'static str,
    },
    /// The file system has a property that is not supported.
    #[error("the file system has {what}, which is not supported")]
    Unsupported {
        /// The property.
        what: String,
    },
    /// It is another file system of the family than the one asked for.
    #[error("the image is {found}, not {wanted}")]
    OtherVersion {
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The allocator is not known.
    #[error("no allocator is named `{name}`; there are {}", known.join(", "))]
    UnknownAllocator {
        /// The name.
        name: String,
        /// All names.
        known: &'static [&'static str],
    },
    /// A logical block is no multiple of a block of the file system, or too long.
    #[error(
        "a logical block of {bytes} bytes is no multiple of the block of the file system, {block} bytes, below 4 GiB"
    )]
    LogicalBlock {
        /// Bytes of the logical block.
        bytes: u64,
        /// Bytes of a block.
        block: u64,
    },
    /// The size is too small for the format, or too large.
    #[error("{bytes} bytes are {}", if *large { "more than 16 TiB" } else { "too few for the format" })]
    Size {
        /// The size.
        bytes: u64,
        /// Whether it is too large.
        large: bool,
    },
    /// The journal is too small for a transaction.
    #[error("a transaction needs {needed} blocks of the journal, which has {blocks}")]
    JournalTooSmall {
        /// Blocks of the transaction.
        needed: u64,
        /// Blocks of the log.
        blocks: u64,
    },
    /// More blocks are wanted than are free. The file is as it was, or not there.
    #[error("no space: {wanted} blocks of 4 KiB are wanted and {free} are free")]
    Full {
        /// Number of blocks wanted.
        wanted: u64,
        /// Number of free blocks.
        free: u64,
    },
    /// All inodes are in use.
    #[error("no inode is free")]
    NoInode,
    /// A name is empty, has a byte that names cannot have, or more than 255 bytes.
    #[error("`{0}` is no name: a name has 1 to 255 bytes, without `/` and NUL")]
    Name(String),
    /// The file or directory does not exist.
    #[error("`{0}` does not exist")]
    Missing(String),
    /// The name is taken.
    #[error("`{0}` exists")]
    Exists(String),
    /// An operation on a directory was applied to a file, or the other way round.
    #[error("`{path}` is {}a directory", if *directory { "" } else { "not " })]
    Kind {
        /// The file.
        path: String,
        /// Whether it is a directory.
        directory: bool,
    },
    /// A directory that is to be removed has entries.
    #[error("`{0}` is not empty")]
    NotEmpty(String),
    /// The file would become longer than its format allows.
    #[error("a file of {0} bytes is too long for the file system")]
    TooLong(u64),
    /// A line of an operation stream is no operation.
    #[error("line {line}: {source}")]
    Operation {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: BadOperation,
    },
    /// An operation of a stream failed.
    #[error("operation {number}: {source}")]
    AtOperation {
        /// Its number, from 1: its line in a text.
        number: u64,
        /// What is wrong.
        source: Box<ExtError>,
    },
    /// The library refused.
    #[error("libext2fs: {what}: {message}")]
    Library {
        /// What was tried.
        what: &'static str,
        /// The library's text.
        message: String,
    },
}

impl ExtError {
    /// An error of the operating system at a path.
    pub(crate) fn io(path: &std::path::Path, what: &'static str, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            what,
            source,
        }
    }
}

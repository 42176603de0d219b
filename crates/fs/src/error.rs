//! What an operation on a file system fails with.

use crate::block::FileId;

/// The reason why an operation was refused. The file system is then as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// More blocks are wanted than are free.
    #[error("no space: {wanted} blocks of 4 KiB are wanted and {free} are free")]
    Full {
        /// Number of blocks wanted.
        wanted: u64,
        /// Number of free blocks.
        free: u64,
    },
    /// All inodes are in use.
    #[error("no inode is free: all {0} are in use")]
    NoInode(u64),
    /// The file does not exist.
    #[error("file {} does not exist", .0.0)]
    Missing(FileId),
    /// An operation on a directory was applied to a file, or the other way round.
    #[error("file {} is {}a directory", .file.0, if *.directory { "" } else { "not " })]
    Kind {
        /// The file.
        file: FileId,
        /// Whether it is a directory.
        directory: bool,
    },
    /// A directory that is to be removed contains files.
    #[error("directory {} is not empty", .0.0)]
    NotEmpty(FileId),
    /// The name is empty or too long.
    #[error("a name of {0} bytes; a name has 1 to 255 bytes")]
    NameLength(usize),
    /// The file would become too long.
    #[error("a file of {0} blocks; a file has at most 2^32 - 1 blocks of 4 KiB")]
    TooLong(u64),
    /// The volume is too small for its format.
    #[error("a volume of {blocks} blocks of 4 KiB is too small: the format needs {least}")]
    TooSmall {
        /// Number of blocks of the volume.
        blocks: u64,
        /// Number of blocks that the format needs.
        least: u64,
    },
}

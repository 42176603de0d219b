//! Files that a user, or a file of theirs, names: looked at before they are read. A pipe that nobody writes to hangs the reader, a
//! device gives bytes for ever, and a text of gigabytes is none that somebody wrote.
//!
//! Traces may have any length: they are read as streams, and refused at the first line that is none.

use fathom_base::Bytes;
use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The longest text that is read: drives, workloads, jobs, studies and profiles have some thousand bytes.
pub const BYTES_MAX: Bytes = Bytes::mib(4);

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is no regular file.
    #[error("it is {0} and no regular file")]
    Kind(&'static str),
    /// It is too long.
    #[error("it has {}; at most {} are read", bytes.human(), bytes_max.human())]
    Long {
        /// How long it is.
        bytes: Bytes,
        /// How long it may be.
        bytes_max: Bytes,
    },
}

impl Unfit {
    /// What to do.
    pub fn help(self) -> &'static str {
        match self {
            Self::Kind(_) => "name a regular file; put what a pipe gives into one",
            Self::Long { .. } => "see whether it is the file that is meant",
        }
    }
}

/// Whether a file is a regular one of so many bytes at most; any length where `None`. One that cannot be looked at is left to who
/// reads it.
///
/// # Errors
/// What is wrong with it.
pub fn look(path: &Path, bytes_max: Option<Bytes>) -> Result<(), Unfit> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(());
    };
    if !metadata.is_file() {
        return Err(Unfit::Kind(kind(metadata.file_type())));
    }
    let bytes = Bytes(metadata.len());
    match bytes_max {
        Some(bytes_max) if bytes > bytes_max => Err(Unfit::Long { bytes, bytes_max }),
        _ => Ok(()),
    }
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_char_device() => "a character device",
        kind if kind.is_block_device() => "a block device",
        _ => "a socket",
    }
}

/// Reads a text of at most [`BYTES_MAX`], without the byte order mark that some editors put before it.
///
/// # Errors
/// The system's, or [`Unfit`] as an invalid input.
pub fn read(path: &Path) -> io::Result<String> {
    look(path, Some(BYTES_MAX)).map_err(unfit)?;
    let text = std::fs::read_to_string(path)?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Bytes of a text without a byte order mark of UTF-8 (RFC 3629, section 6).
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// As an error of reading.
pub(crate) fn unfit(why: Unfit) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

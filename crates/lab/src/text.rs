//! Checks and reads the text files that a user names.
//!
//! Each path is checked before it is read: a pipe without a writer would block the reader, a device can give bytes for
//! ever, and a file of gigabytes is not a text that somebody wrote.
//!
//! Traces may have any length. They are read as streams and refused at the first line that is not part of a trace.

use fathom_base::Bytes;
use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The longest text that is read. Drive, workload, job, study and profile files have some thousand bytes.
pub const BYTES_MAX: Bytes = Bytes::mib(4);

/// Reason why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is not a regular file; the field says what it is.
    #[error("it is {0} and no regular file")]
    Kind(&'static str),
    /// It is too long.
    #[error("it has {}; at most {} are read", bytes.human(), bytes_max.human())]
    Long {
        /// Length of the file.
        bytes: Bytes,
        /// Maximum length.
        bytes_max: Bytes,
    },
}

impl Unfit {
    /// Returns advice on how to resolve the error.
    pub fn help(self) -> &'static str {
        match self {
            Self::Kind(_) => "name a regular file; put what a pipe gives into one",
            Self::Long { .. } => "see whether it is the file that is meant",
        }
    }
}

/// Checks that a file is a regular one of at most `bytes_max`; `None` allows any length. A file whose metadata cannot be
/// read passes: the error is left to the reader.
///
/// # Errors
/// [`Unfit`] with the reason.
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

/// Reads a text of at most [`BYTES_MAX`] and removes a leading byte order mark, which some editors write.
///
/// # Errors
/// The error of the system, or [`Unfit`] as [`io::ErrorKind::InvalidInput`].
pub fn read(path: &Path) -> io::Result<String> {
    look(path, Some(BYTES_MAX)).map_err(unfit)?;
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => io::Error::new(error.kind(), "it is no text in UTF-8"),
        _ => error,
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Returns the text without a leading UTF-8 byte order mark (RFC 3629, section 6).
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Wraps the reason into an I/O error.
pub(crate) fn unfit(why: Unfit) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

//! Errors of trace readers: the kind and the place. `help.rs` adds the advice.

use super::compress::Compression;
use std::fmt;
use std::io;

/// A place in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The input as a whole.
    Input,
    /// A line of text, from 1.
    Line(u64),
    /// A record of a binary trace.
    Record {
        /// Its number, from 1.
        number: u64,
        /// Offset of its first byte in the decompressed input.
        offset: u64,
    },
    /// A row of a Parquet file, from 1.
    Row(u64),
}

/// The kinds of trace errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A field is missing.
    #[error("field `{field}` is missing")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A field does not have the form that the format requires.
    #[error("field `{field}` is \"{found}\", not {wanted}")]
    Malformed {
        /// The field.
        field: &'static str,
        /// The text found, shortened and with control characters escaped.
        found: String,
        /// The form required.
        wanted: &'static str,
    },
    /// The format does not know this operation.
    #[error("field `{field}` is \"{found}\", and {wanted} are known")]
    UnknownOp {
        /// The field.
        field: &'static str,
        /// The text found.
        found: String,
        /// The known operations.
        wanted: &'static str,
    },
    /// A number is too large: bytes or nanoseconds that do not fit into 64 bits, or a disk number that does not fit into
    /// 32 bits.
    #[error("field `{field}` is {found}, which is too large")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// The text found.
        found: String,
    },
    /// A read, write or trim of no bytes.
    #[error("a request of length zero")]
    ZeroLength,
    /// A time is earlier than that of the access before it, by more than the reader may reorder.
    #[error("time runs backwards: {by_ns} ns before the access before it")]
    Backwards {
        /// The difference, in nanoseconds.
        by_ns: u64,
        /// Number of accesses that the reader may reorder.
        reorder: u32,
    },
    /// A line is too long.
    #[error("a line of more than {limit} bytes")]
    LongLine {
        /// Maximum length of a line, in bytes.
        limit: usize,
    },
    /// The trace names more files than the reader distinguishes.
    #[error("more than {limit} names of files")]
    TooManyFiles {
        /// Maximum number of files.
        limit: usize,
    },
    /// A binary record does not start with the magic number.
    #[error("a record starts with {found:#010x}, not with the magic number of a trace")]
    BadMagic {
        /// The number found, in the trace's byte order.
        found: u32,
    },
    /// A binary trace ends within a record.
    #[error("the trace ends within a record")]
    CutRecord,
    /// The version of a binary trace is not supported.
    #[error("version {found} of the format")]
    Version {
        /// The version.
        found: u32,
    },
    /// A compressed input ends early.
    #[error("the {compression} stream ends before its end, after {offset} bytes of the file")]
    Truncated {
        /// Its compression.
        compression: Compression,
        /// Size of the compressed input, in bytes.
        offset: u64,
    },
    /// Bytes follow the compressed data.
    #[error(
        "{bytes} bytes after the end of the compressed data, and no other {compression} stream in them"
    )]
    Trailing {
        /// The compression of the data before them.
        compression: Compression,
        /// Their number.
        bytes: u64,
    },
    /// A compressed input is damaged.
    #[error(
        "the {compression} stream is damaged, which shows in the first {offset} bytes of the file"
    )]
    Corrupt {
        /// Its compression.
        compression: Compression,
        /// Bytes of the compressed input read when the damage was found.
        offset: u64,
        /// The decoder's error.
        source: io::Error,
    },
    /// A compressed input needs more memory than the decoder may use.
    #[error(
        "the {compression} stream needs more memory than is given to one: its window is larger than 128 MiB (zstd) or about 256 MiB (xz)"
    )]
    Window {
        /// Its compression.
        compression: Compression,
    },
    /// The input cannot be read.
    #[error("the input cannot be read")]
    Io(#[source] io::Error),
    /// The input is empty.
    #[error("the input is empty")]
    Empty,
    /// The input is an archive, or has an unsupported compression.
    #[error("the input is {what}")]
    Archive {
        /// A description of it.
        what: &'static str,
    },
    /// No format fits.
    #[error("no format fits the first lines{}", tried_text(.tried))]
    Unrecognised {
        /// The names of the formats tried, each with the error of the first line that does not parse.
        tried: Vec<(&'static str, String)>,
    },
    /// More than one format fits.
    #[error("the first lines fit {}", .formats.join(", "))]
    Ambiguous {
        /// The names of the formats that fit.
        formats: Vec<&'static str>,
    },
    /// The input is Parquet, and is not seekable.
    #[error("Parquet is read from its end, and this input cannot be sought")]
    NeedsSeek,
    /// A Parquet file that Fathom did not write, or whose version it does not read.
    #[error("not a trace that Fathom has written: {0}")]
    Foreign(&'static str),
    /// A Parquet file that is damaged or cannot be written.
    #[error("Parquet: {0}")]
    Parquet(String),
    /// The value of an option is invalid.
    #[error("option `{name}` is {found}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: String,
    },
}

/// An error in a trace, with its place.
#[derive(Debug)]
pub struct TraceError {
    /// The kind of the error.
    pub kind: Box<ErrorKind>,
    /// The place of the error.
    pub place: Place,
    /// True if the reader is lenient already.
    pub lenient: bool,
}

impl TraceError {
    pub(super) fn new(kind: ErrorKind, place: Place) -> Self {
        Self {
            kind: Box::new(kind),
            place,
            lenient: false,
        }
    }

    pub(super) fn input(kind: ErrorKind) -> Self {
        Self::new(kind, Place::Input)
    }

    /// Returns true if a lenient reader continues after this error.
    pub fn is_skippable(&self) -> bool {
        self.kind.is_skippable()
    }
}

impl ErrorKind {
    pub(super) fn is_skippable(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::Malformed { .. }
                | Self::UnknownOp { .. }
                | Self::TooLarge { .. }
                | Self::ZeroLength
                | Self::Backwards { .. }
                | Self::LongLine { .. }
                | Self::CutRecord
                | Self::Truncated { .. }
                | Self::Trailing { .. }
        )
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Input => write!(f, "{}", self.kind),
            place => write!(f, "{place}: {}", self.kind),
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.kind)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Input => f.write_str("the input"),
            Place::Line(number) => write!(f, "line {number}"),
            Place::Record { number, offset } => write!(f, "record {number} at byte {offset}"),
            Place::Row(number) => write!(f, "row {number}"),
        }
    }
}

fn tried_text(tried: &[(&str, String)]) -> String {
    tried
        .iter()
        .map(|(format, why)| format!("\n  {format}: {why}"))
        .collect()
}

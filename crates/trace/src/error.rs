//! What can be wrong with a trace: what happened, where it stands, and what to do.

use super::compress::Compression;
use std::fmt;
use std::io;

/// Where in a trace something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The input as a whole.
    Input,
    /// A line of text, from 1.
    Line(u64),
    /// A record of a binary trace.
    Record {
        /// Which one, from 1.
        number: u64,
        /// Where it starts, in bytes from the start of the (decompressed) input.
        offset: u64,
    },
    /// A row of a Parquet file, from 1.
    Row(u64),
}

/// What is wrong with a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A field is not there.
    #[error("field `{field}` is missing")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A field is not what it should be.
    #[error("field `{field}` is \"{found}\", not {wanted}")]
    Malformed {
        /// The field.
        field: &'static str,
        /// What stood there, shortened and with control characters escaped.
        found: String,
        /// What should stand there.
        wanted: &'static str,
    },
    /// An operation that the format does not know.
    #[error("field `{field}` is \"{found}\", and {wanted} are known")]
    UnknownOp {
        /// The field.
        field: &'static str,
        /// What stood there.
        found: String,
        /// The operations that are known.
        wanted: &'static str,
    },
    /// A number that no drive and no clock has: in bytes or nanoseconds it does not fit into 64 bits, or a disk's
    /// number not into 32.
    #[error("field `{field}` is {found}, which is too large")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// What stood there.
        found: String,
    },
    /// A read, write or trim of no bytes.
    #[error("a request of length zero")]
    ZeroLength,
    /// A time before that of the access before it, by more than the reader may set right.
    #[error("time runs backwards: {by_ns} ns before the access before it")]
    Backwards {
        /// By how much, in nanoseconds.
        by_ns: u64,
        /// How many accesses the reader may set right.
        reorder: u32,
    },
    /// A line without an end.
    #[error("a line of more than {limit} bytes")]
    LongLine {
        /// The longest line that is read.
        limit: usize,
    },
    /// More names of files than are told apart.
    #[error("more than {limit} names of files")]
    TooManyFiles {
        /// How many are told apart.
        limit: usize,
    },
    /// A binary record that is none.
    #[error("a record starts with {found:#010x}, not with the magic number of a trace")]
    BadMagic {
        /// What stood there, as the trace's byte order has it.
        found: u32,
    },
    /// A binary trace that ends within a record.
    #[error("the trace ends within a record")]
    CutRecord,
    /// A binary trace of a version that is not read.
    #[error("version {found} of the format")]
    Version {
        /// The version.
        found: u32,
    },
    /// A compressed input that ends early.
    #[error("the {compression} stream ends before its end, after {offset} bytes of the file")]
    Truncated {
        /// How it is compressed.
        compression: Compression,
        /// Bytes of the compressed input that were there.
        offset: u64,
    },
    /// A compressed input that is damaged.
    #[error(
        "the {compression} stream is damaged, which shows in the first {offset} bytes of the file"
    )]
    Corrupt {
        /// How it is compressed.
        compression: Compression,
        /// Bytes of the compressed input that were read when it showed.
        offset: u64,
        /// What the decoder says.
        source: io::Error,
    },
    /// A compressed input that needs more memory than is given to one.
    #[error(
        "the {compression} stream needs more memory than is given to one: its window is larger than 128 MiB (zstd) or about 256 MiB (xz)"
    )]
    Window {
        /// How it is compressed.
        compression: Compression,
    },
    /// The input cannot be read.
    #[error("the input cannot be read")]
    Io(#[source] io::Error),
    /// Nothing is in the input.
    #[error("the input is empty")]
    Empty,
    /// An archive or a compression that is not read.
    #[error("the input is {what}")]
    Archive {
        /// What it is.
        what: &'static str,
    },
    /// No format fits.
    #[error("no format fits the first lines{}", tried_text(.tried))]
    Unrecognised {
        /// The names of the formats that were tried, each with what is wrong with the first line that does not fit.
        tried: Vec<(&'static str, String)>,
    },
    /// More than one format fits.
    #[error("the first lines fit {}", .formats.join(", "))]
    Ambiguous {
        /// The names of those that fit.
        formats: Vec<&'static str>,
    },
    /// Parquet in a stream.
    #[error("Parquet is read from its end, and this input cannot be sought")]
    NeedsSeek,
    /// A Parquet file that this reader did not write.
    #[error("not a trace that Fathom has written: {0}")]
    Foreign(&'static str),
    /// A Parquet file that is damaged or cannot be written.
    #[error("Parquet: {0}")]
    Parquet(String),
    /// An option that makes no sense.
    #[error("option `{name}` is {found}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: String,
    },
}

/// What is wrong with a trace, and where.
#[derive(Debug)]
pub struct TraceError {
    /// What is wrong.
    pub kind: Box<ErrorKind>,
    /// Where it stands.
    pub place: Place,
}

impl TraceError {
    pub(super) fn new(kind: ErrorKind, place: Place) -> Self {
        Self {
            kind: Box::new(kind),
            place,
        }
    }

    pub(super) fn input(kind: ErrorKind) -> Self {
        Self::new(kind, Place::Input)
    }

    /// Whether a lenient reader goes on after it.
    pub fn is_skippable(&self) -> bool {
        self.kind.is_skippable()
    }
}

impl ErrorKind {
    fn is_skippable(&self) -> bool {
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

//! Tables in Parquet with one integrity scheme: traces, the requests of a run, the samples of a record.
//!
//! DuckDB, Polars and pandas read them without Fathom. The metadata hold the version under a key of the layout's own, what
//! the caller adds, and `fathom.groups`: where each row group ends, and its checksum, in hexadecimal.
//!
//! Between the last row group and the footer, where Parquet leaves room, stand 12 bytes: `FATHOMT2`, and the checksum
//! (CRC-32C, little-endian) of everything after them; in traces of the first version `FATHOMTR` and CRC-32. Every byte of the file is under one of the checksums and is checked
//! before the Parquet reader sees it: that reader panics on some damaged files, and reads wrong numbers from others.
//! The checksums find damage and keep nobody out. Files that others have written lack them and are refused.

mod read;
mod write;

pub use parquet::data_type::ByteArray as Text;
pub use parquet::file::reader::ChunkReader;
pub use read::TableReader;
pub use write::TableWriter;

use parquet::errors::ParquetError;
use std::io;

/// What a table looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The key of its version in the metadata, such as `fathom.trace`.
    pub key: &'static str,
    /// Its version, which the metadata must have.
    pub version: u32,
    /// Its columns, as a Parquet message type of required `int32`, `int64` and `binary` fields.
    pub message: &'static str,
    /// Columns of numbers that grow from row to row: their differences are stored.
    pub rising: &'static [&'static str],
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64 bits each.
    Long(Vec<i64>),
    /// 32 bits each.
    Int(Vec<i32>),
    /// Text.
    Text(Vec<Text>),
}

impl Column {
    /// Numbers of 64 bits.
    pub fn longs(values: impl Iterator<Item = u64>) -> Self {
        Self::Long(values.map(|value| value as i64).collect())
    }

    /// Numbers of 32 bits.
    pub fn ints(values: impl Iterator<Item = u32>) -> Self {
        Self::Int(values.map(|value| value as i32).collect())
    }

    /// The names of values of which there are few.
    pub fn names<T: Copy + PartialEq>(
        values: impl Iterator<Item = T>,
        name: impl Fn(T) -> String,
    ) -> Self {
        let mut known: Vec<(T, Text)> = Vec::new();
        let mut text = |value: T| {
            if let Some((_, text)) = known.iter().find(|(known, _)| *known == value) {
                return text.clone();
            }
            let text = Text::from(name(value).into_bytes());
            known.push((value, text.clone()));
            text
        };
        Self::Text(values.map(&mut text).collect())
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Long(values) => values.capacity() * size_of::<i64>(),
            Self::Int(values) => values.capacity() * size_of::<i32>(),
            Self::Text(values) => values.capacity() * size_of::<Text>(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Long(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

/// A table that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no Parquet file, or not one with this layout.
    #[error("{0}")]
    Foreign(&'static str),
    /// It ends too early.
    #[error("its end is missing")]
    Truncated,
    /// It was written by a later Fathom.
    #[error("it has version {found}; this Fathom reads version {known}")]
    Newer {
        /// Its version.
        found: u32,
        /// The one that is known here.
        known: u32,
    },
    /// Its contents are not what was written, or cannot be written.
    #[error("{0}")]
    Damaged(String),
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(source) => Self::Io(*source),
                Err(source) => Self::Damaged(source.to_string()),
            },
            ParquetError::General(what) => Self::Damaged(what),
            other => Self::Damaged(other.to_string()),
        }
    }
}

const MAGIC: &[u8] = b"PAR1";
/// The footer's length and the magic number, at the end of every Parquet file.
const TAIL_BYTES: u64 = 8;
const GUARD: &[u8; 8] = b"FATHOMT2";
/// That of the first version of traces, whose sums are CRC-32: read and no longer written.
const GUARD_1: &[u8; 8] = b"FATHOMTR";
const GUARD_BYTES: usize = GUARD.len() + 4;
const KEY_GROUPS: &str = "fathom.groups";

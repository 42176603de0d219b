//! Parquet tables with checksums: traces, the requests of a run, the samples of a record.
//!
//! DuckDB, Polars and pandas read them without Fathom. The metadata hold the layout's version under a key of the layout,
//! the caller's own keys, and `fathom.groups`: the end of each row group and its checksum, in hexadecimal.
//!
//! Parquet allows bytes between the last row group and the footer. There are 12: `FATHOMT2` and the checksum (CRC-32C,
//! little-endian) of everything after them. In the first version of traces they are `FATHOMTR` and a CRC-32.
//!
//! A checksum covers every byte of the file, and is verified before the Parquet reader sees the bytes: that reader panics on
//! some damaged files, and returns wrong numbers from others. The checksums find damage but do not protect against
//! forgery. Files written by other programs lack them and are refused.

mod read;
mod write;

pub use parquet::data_type::ByteArray as Text;
pub use parquet::file::reader::ChunkReader;
pub use read::TableReader;
pub use write::TableWriter;

use parquet::errors::ParquetError;
use std::io;

/// The layout of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The metadata key of its version, such as `fathom.trace`.
    pub key: &'static str,
    /// Its version, which the file's metadata must contain.
    pub version: u32,
    /// Its columns, as a Parquet message type of required `int32`, `int64` and `binary` fields.
    pub message: &'static str,
    /// Columns of numbers that are stored as differences from row to row: those that increase, and those with few equal
    /// values, for which a dictionary is only made to be given up.
    pub deltas: &'static [&'static str],
    /// Columns without their minimum and maximum in the footer: those of which nobody looks for the rows of a range. To compare
    /// names takes as long as to store them.
    pub without_range: &'static [&'static str],
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64-bit integers.
    Long(Vec<i64>),
    /// 32-bit integers.
    Int(Vec<i32>),
    /// Strings.
    Text(Vec<Text>),
    /// Strings of which few are distinct: the distinct ones, and the index of each row's. Only for writing.
    Name(Vec<Text>, Vec<u32>),
}

impl Column {
    /// Makes a column of 64-bit integers.
    pub fn longs(values: impl Iterator<Item = u64>) -> Self {
        Self::Long(values.map(|value| value as i64).collect())
    }

    /// Makes a column of 32-bit integers.
    pub fn ints(values: impl Iterator<Item = u32>) -> Self {
        Self::Int(values.map(|value| value as i32).collect())
    }

    /// Makes a column of strings: the names of values, of which few are distinct.
    pub fn names<T: Copy + PartialEq>(
        values: impl Iterator<Item = T>,
        name: impl Fn(T) -> String,
    ) -> Self {
        let (mut known, mut names) = (Vec::new(), Vec::new());
        let index = |value: T| {
            let found = known.iter().position(|known| *known == value);
            let index = found.unwrap_or_else(|| {
                known.push(value);
                names.push(Text::from(name(value).into_bytes()));
                known.len() - 1
            });
            index as u32
        };
        let rows = values.map(index).collect();
        Self::Name(names, rows)
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Long(values) => values.capacity() * size_of::<i64>(),
            Self::Int(values) => values.capacity() * size_of::<i32>(),
            Self::Text(values) => values.capacity() * size_of::<Text>(),
            Self::Name(_, rows) => rows.capacity() * size_of::<u32>(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Long(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Name(_, rows) => rows.len(),
        }
    }
}

/// An error in reading or writing a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The operating system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not Parquet, or does not have this layout.
    #[error("{0}")]
    Foreign(&'static str),
    /// The file is truncated.
    #[error("its end is missing")]
    Truncated,
    /// A later version of Fathom wrote the file.
    #[error("it has version {found}; this Fathom reads version {known}")]
    Newer {
        /// Its version.
        found: u32,
        /// The version that this Fathom reads.
        known: u32,
    },
    /// The contents are damaged, or cannot be written.
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
/// Size of the footer's length and the magic number, which end every Parquet file, in bytes.
const TAIL_BYTES: u64 = 8;
const GUARD: &[u8; 8] = b"FATHOMT2";
/// The marker of the first version of traces, whose checksums are CRC-32. It is read but no longer written.
const GUARD_1: &[u8; 8] = b"FATHOMTR";
const GUARD_BYTES: usize = GUARD.len() + 4;
const KEY_GROUPS: &str = "fathom.groups";

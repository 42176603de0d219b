//! Fathom's own trace files: Parquet, one row per access, read and written by row groups.
//!
//! Columns: `at_ns` (nanoseconds since the first access), `op` (read, write, flush, trim), `offset` and `len` (bytes),
//! `disk`; DuckDB, Polars and pandas read them without Fathom. The metadata keys are `fathom.trace` (the version of
//! this layout), `fathom.capacity_bytes` (the furthest end of an access) and `fathom.groups` (where each row group
//! ends, and its checksum, in hexadecimal).
//!
//! Between the last row group and the footer, where Parquet leaves room, stand 12 bytes: `FATHOMT2`, and the checksum
//! (CRC-32C, little-endian) of everything after them; in files of the first version `FATHOMTR` and CRC-32, which are read
//! and no longer written. Every byte of the file is under one of the checksums and is checked
//! before the Parquet reader sees it: that reader panics on some damaged files, and reads wrong numbers from others.
//! The checksums find damage and keep nobody out. Files that others have written lack them and are refused.

mod read;
mod write;

pub(crate) use read::Reader;
pub use write::Writer;

use super::super::error::{ErrorKind, TraceError};
use ::parquet::errors::ParquetError;

pub(super) const EXPLAIN: &str = "\
One row an access: `at_ns` (since the first access), `op` (read, write, flush, trim), `offset` and `len` in bytes, `disk`.
Fathom writes and reads it: it is smaller and faster than text, nothing is left to be told, and its checksums find
damage. Only files that Fathom has written are read, and only from a file, not from a pipe.";

const SCHEMA: &str = "message access {
    required int64 at_ns (INTEGER(64, false));
    required binary op (STRING);
    required int64 offset (INTEGER(64, false));
    required int64 len (INTEGER(64, false));
    required int32 disk (INTEGER(32, false));
}";

const MAGIC: &[u8] = b"PAR1";
/// The footer's length and the magic number, at the end of every Parquet file.
const TAIL_BYTES: u64 = 8;
const GUARD: &[u8; 8] = b"FATHOMT2";
const GUARD_1: &[u8; 8] = b"FATHOMTR";
const GUARD_BYTES: usize = GUARD.len() + 4;

const KEY_VERSION: &str = "fathom.trace";
const VERSION: &str = "2";
const VERSION_1: &str = "1";
const KEY_CAPACITY: &str = "fathom.capacity_bytes";
const KEY_GROUPS: &str = "fathom.groups";

fn wrong(error: ParquetError) -> TraceError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => TraceError::input(ErrorKind::Io(*source)),
            Err(source) => TraceError::input(ErrorKind::Parquet(source.to_string())),
        },
        other => TraceError::input(ErrorKind::Parquet(other.to_string())),
    }
}

fn damaged(what: &str) -> TraceError {
    TraceError::input(ErrorKind::Parquet(what.into()))
}

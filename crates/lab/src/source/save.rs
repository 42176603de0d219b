//! Writing a workload out as a trace: what steps and a write buffer have made of it, for another run or another tool.
//!
//! Streams, whatever the length. A file is there whole or not at all.

use super::SourceError;
use crate::store::{StagedFile, Staging, StoreError, TRACE_FILE};
use fathom_base::SECTOR_BYTES;
use fathom_block::Access;
use fathom_block::Op;
use fathom_trace::{ErrorKind, ParquetWriter, TraceError};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedAs {
    /// Fathom's own Parquet: everything, with checksums.
    Parquet,
    /// DiskSim's ASCII format, which other simulators read: reads and writes of whole sectors.
    Disksim,
}

impl SavedAs {
    /// Told from the file's ending: `.parquet`, or `.trace` for DiskSim's.
    pub fn of(path: &Path) -> Option<SavedAs> {
        match path.extension()?.to_str()? {
            "parquet" => Some(SavedAs::Parquet),
            "trace" => Some(SavedAs::Disksim),
            _ => None,
        }
    }
}

/// A workload that cannot be written out.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// What comes in is wrong.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Fathom's own format does not take an access.
    #[error(transparent)]
    Trace(TraceError),
    /// The format does not have such an access.
    #[error("access {number} of the workload: a {what} cannot be said in DiskSim's format")]
    Format {
        /// From 1.
        number: u64,
        /// What it is.
        what: String,
    },
    /// The user wants no more.
    #[error("interrupted")]
    Interrupted,
}

/// A trace while it grows.
enum Sink {
    Parquet(Box<ParquetWriter<BufWriter<StagedFile>>>),
    Disksim(BufWriter<StagedFile>),
}

impl Sink {
    fn new(file: StagedFile, saved_as: SavedAs) -> Result<Self, TraceError> {
        let file = BufWriter::new(file);
        Ok(match saved_as {
            SavedAs::Parquet => Sink::Parquet(Box::new(ParquetWriter::new(file)?)),
            SavedAs::Disksim => Sink::Disksim(file),
        })
    }

    fn write(&mut self, number: u64, access: &Access) -> Result<(), SinkError> {
        match self {
            Sink::Parquet(writer) => Ok(writer.write(access)?),
            Sink::Disksim(file) => {
                let line = disksim(access).ok_or_else(|| SaveError::Format {
                    number,
                    what: format!("{} of {} B at {}", access.op, access.len, access.offset),
                })?;
                Ok(file.write_all(line.as_bytes())?)
            }
        }
    }

    fn finish(self) -> Result<StagedFile, SinkError> {
        let file = match self {
            Sink::Parquet(writer) => writer.finish()?,
            Sink::Disksim(file) => file,
        };
        Ok(file.into_inner().map_err(io::IntoInnerError::into_error)?)
    }
}

/// An error that does not know yet which file it is about.
#[derive(Debug, thiserror::Error)]
enum SinkError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl SinkError {
    fn of(self, path: &Path) -> SaveError {
        match self {
            Self::Save(error) => error,
            Self::Io(source) => StoreError::io("write", path, source).into(),
            Self::Trace(TraceError { kind, place }) => match *kind {
                ErrorKind::Io(source) => StoreError::io("write", path, source).into(),
                kind => SaveError::Trace(TraceError {
                    kind: Box::new(kind),
                    place,
                }),
            },
        }
    }
}

/// Writes every access to `path`, and says how many there were.
///
/// # Errors
/// [`SaveError`]; `path` is then as it was.
pub fn save(
    accesses: impl Iterator<Item = Result<Access, SourceError>>,
    path: &Path,
    saved_as: SavedAs,
    stop: fn() -> bool,
) -> Result<u64, SaveError> {
    let above = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    if !above.is_dir() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        return Err(StoreError::io("create a file in", above, source).into());
    }
    let mut set = Staging::new(above)?;
    let file = set.begin(TRACE_FILE)?;
    let mut sink = Sink::new(file, saved_as).map_err(|e| SinkError::from(e).of(path))?;
    let mut number = 0;
    for access in accesses {
        let access = access?;
        number += 1;
        if stop() {
            return Err(SaveError::Interrupted);
        }
        sink.write(number, &access).map_err(|e| e.of(path))?;
    }
    set.end(sink.finish().map_err(|e| e.of(path))?)?;
    set.publish(TRACE_FILE, path)?;
    Ok(number)
}

/// A line of a DiskSim trace: milliseconds, disk, first sector, sectors, 0 for a write and 1 for a read.
fn disksim(access: &Access) -> Option<String> {
    let read = match access.op {
        Op::Read => 1,
        Op::Write => 0,
        Op::Trim | Op::Flush => return None,
    };
    let whole = |bytes: u64| {
        bytes
            .is_multiple_of(SECTOR_BYTES)
            .then_some(bytes / SECTOR_BYTES)
    };
    let (first, sectors) = (whole(access.offset)?, whole(access.len)?);
    let (ms, ns) = (access.at.0 / 1_000_000, access.at.0 % 1_000_000);
    Some(format!(
        "{ms}.{ns:06} {} {first} {sectors} {read}\n",
        access.disk
    ))
}

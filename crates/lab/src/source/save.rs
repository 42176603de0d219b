//! Writes a workload to a trace file, after its steps and write buffer, for another run or another tool.
//!
//! Accesses are streamed, so a workload may have any length. A file appears complete or not at all.

use super::{Accesses, SourceError};
use crate::store::{self, StagedFile, Staging, StoreError, TRACE_FILE};
use fathom_base::SECTOR_BYTES;
use fathom_block::Access;
use fathom_block::Op;
use fathom_trace::{ErrorKind, ParquetWriter, TraceError};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Format of a saved trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedAs {
    /// Fathom's own Parquet format: all fields, with checksums.
    Parquet,
    /// DiskSim's ASCII format, which other simulators read: reads and writes of whole sectors.
    Disksim,
}

impl SavedAs {
    /// Derives the format from the file's suffix: `.parquet`, or `.trace` for DiskSim.
    pub fn of(path: &Path) -> Option<SavedAs> {
        match path.extension()?.to_str()? {
            "parquet" => Some(SavedAs::Parquet),
            "trace" => Some(SavedAs::Disksim),
            _ => None,
        }
    }
}

/// Error of a workload that cannot be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The workload cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Fathom's own format does not accept an access.
    #[error(transparent)]
    Trace(TraceError),
    /// The format has no representation of an access.
    #[error("access {number} of the workload: a {what} cannot be said in DiskSim's format")]
    Format {
        /// Number of the access, counted from 1.
        number: u64,
        /// Description of the access.
        what: String,
    },
    /// The user interrupted the writing.
    #[error("interrupted")]
    Interrupted,
}

/// The writer of a trace.
enum Sink {
    Parquet(Box<ParquetWriter<BufWriter<StagedFile>>>),
    Disksim(BufWriter<StagedFile>),
}

impl Sink {
    fn new(file: StagedFile, saved_as: SavedAs, processes: bool) -> Result<Self, TraceError> {
        let file = BufWriter::new(file);
        Ok(match saved_as {
            SavedAs::Parquet => {
                let writer = ParquetWriter::with_processes(file, processes)?;
                Sink::Parquet(Box::new(writer))
            }
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

/// An error before the path of its file is added.
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
            Self::Trace(error) => match *error.kind {
                ErrorKind::Io(source) => StoreError::io("write", path, source).into(),
                kind => SaveError::Trace(TraceError {
                    kind: Box::new(kind),
                    ..error
                }),
            },
        }
    }
}

/// Writes every access of a trace or a generator to `path`, and returns their number. The file has processes if the source
/// has them.
///
/// # Errors
/// As for [`save`].
pub fn save_stream(
    accesses: &mut Accesses,
    path: &Path,
    saved_as: SavedAs,
    stop: fn() -> bool,
) -> Result<u64, SaveError> {
    let first = accesses.next();
    let processes = accesses.has_processes();
    let all = first.into_iter().chain(accesses);
    save(all, path, saved_as, processes, stop)
}

/// Writes every access to `path`, and returns their number. With `processes`, each with its process, if the format can.
///
/// # Errors
/// [`SaveError`]; `path` is left as it was.
pub fn save(
    accesses: impl Iterator<Item = Result<Access, SourceError>>,
    path: &Path,
    saved_as: SavedAs,
    processes: bool,
    stop: fn() -> bool,
) -> Result<u64, SaveError> {
    let place = store::single(path)?;
    let mut set = Staging::beside(&place)?;
    let file = set.begin(TRACE_FILE)?;
    let mut sink = Sink::new(file, saved_as, processes).map_err(|e| SinkError::from(e).of(path))?;
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
    set.publish(TRACE_FILE, &place)?;
    Ok(number)
}

/// Formats a line of a DiskSim trace: milliseconds, disk, first sector, number of sectors, 0 for a write or 1 for a read.
/// Returns `None` for an access that the format cannot represent.
fn disksim(access: &Access) -> Option<String> {
    let read = match access.op {
        Op::Read => 1,
        Op::Write => 0,
        Op::Trim | Op::Flush | Op::Append | Op::Zone(_) => return None,
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

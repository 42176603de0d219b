//! Writing a workload out as a trace: what steps and a write buffer have made of it, for another run or another tool.
//!
//! Streams, whatever the length. A file is there whole or not at all.

use super::SourceError;
use crate::store::whole::temp_in;
use fathom_base::SECTOR_BYTES;
use fathom_block::Op;
use fathom_workload::Access;
use fathom_workload::trace::{ParquetWriter, TraceError};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

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
    #[error("cannot write {}: {detail}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        detail: String,
    },
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

enum Sink {
    Parquet(Box<ParquetWriter<BufWriter<File>>>),
    Disksim(BufWriter<File>),
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
    let failed = |detail: String| SaveError::Write {
        path: path.to_owned(),
        detail,
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let temp = temp_in(dir.unwrap_or(Path::new("."))).map_err(|e| failed(e.to_string()))?;
    let file = BufWriter::new(temp.reopen().map_err(|e| failed(e.to_string()))?);
    let mut sink = match saved_as {
        SavedAs::Parquet => {
            let writer = ParquetWriter::new(file).map_err(|e| failed(e.to_string()))?;
            Sink::Parquet(Box::new(writer))
        }
        SavedAs::Disksim => Sink::Disksim(file),
    };
    let mut number = 0;
    for access in accesses {
        let access = access?;
        number += 1;
        if stop() {
            return Err(SaveError::Interrupted);
        }
        match &mut sink {
            Sink::Parquet(writer) => writer.write(&access).map_err(|e| failed(e.to_string()))?,
            Sink::Disksim(file) => {
                let line = disksim(&access).ok_or_else(|| SaveError::Format {
                    number,
                    what: format!("{} of {} B at {}", access.op, access.len, access.offset),
                })?;
                file.write_all(line.as_bytes())
                    .map_err(|e| failed(e.to_string()))?;
            }
        }
    }
    finish(sink)
        .and_then(|file| file.sync_all().map_err(|e| e.to_string()))
        .map_err(failed)?;
    temp.persist(path)
        .map_err(|e| failed(e.error.to_string()))?;
    Ok(number)
}

fn finish(sink: Sink) -> Result<File, String> {
    let file = match sink {
        Sink::Parquet(writer) => writer.finish().map_err(|e: TraceError| e.to_string())?,
        Sink::Disksim(file) => file,
    };
    file.into_inner().map_err(|e| e.error().to_string())
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

//! The twin of a run, kept beside the run: made once, and made again if the record or the fit has changed.

use super::error::TwinError;
use super::file::text;
use super::make::{Twin, twin};
use crate::store::{self, Staging, TWIN_FILE};
use fathom_probe::run::solve;
use std::path::{Path, PathBuf};

/// The version of the fit: another one makes a twin again.
const FIT: u32 = 1;

/// Makes the twin of the run in a directory, or of a record file. Also returns the warnings of the files.
///
/// # Errors
/// Those of [`twin`], and those of reading the run.
pub fn of_run(
    run: &Path,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<(Twin, Vec<String>), TwinError> {
    let loaded = store::load_record(run)?;
    let record = loaded.value;
    if !record.meta.complete {
        return Err(TwinError::Unfinished {
            run: run.to_owned(),
        });
    }
    let made = twin(&record, &solve(&record), interrupted)?;
    Ok((made, loaded.notes))
}

/// Returns the path of the twin of a run, which is made if it is not there, or if the record or the fit has changed since.
/// Also returns true if it was made now.
///
/// # Errors
/// Those of [`of_run`], and those of writing it.
pub fn twin_of(
    run: &Path,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<(PathBuf, bool), TwinError> {
    let path = run.join(TWIN_FILE);
    let mark = mark(run)?;
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    if kept.lines().next() == Some(&mark) {
        return Ok((path, false));
    }
    let (made, _) = of_run(run, interrupted)?;
    let file = format!("{mark}\n{}", text(&made, &run.display().to_string()));
    store::write_whole(run, &[(TWIN_FILE, file.as_bytes())])?;
    Ok((path, true))
}

/// Writes the drive file of a twin, whole or not at all. A file that is there is replaced.
///
/// # Errors
/// [`TwinError::Store`]; the previous file stays.
pub fn save(twin: &Twin, run: &str, path: &Path) -> Result<(), TwinError> {
    let place = store::single(path)?;
    let mut set = Staging::beside(&place)?;
    set.add(TWIN_FILE, text(twin, run).as_bytes())?;
    Ok(set.publish(TWIN_FILE, &place)?)
}

/// Returns the first line of a kept twin: the fit and the checksum of the record.
fn mark(run: &Path) -> Result<String, TwinError> {
    let path = run.join(store::RECORD_FILE);
    let bytes = std::fs::read(&path);
    let bytes = bytes.map_err(|e| TwinError::Store(store::StoreError::io("read", &path, e)))?;
    Ok(format!(
        "# fathom twin: fit {FIT}, record {:08x}",
        crc32c::crc32c(&bytes)
    ))
}

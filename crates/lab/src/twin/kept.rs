//! The twin of a run, kept beside the run: made once, and made again if the record or the fit has changed. One that somebody has
//! edited is neither used as the twin nor replaced.

use super::error::TwinError;
use super::file::text;
use super::make::{Twin, twin};
use crate::store::{self, Staging, StoreError, TWIN_FILE};
use fathom_probe::run::solve;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The version of the fit: another one makes a twin again.
const FIT: u32 = 5;

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
/// [`TwinError::Edited`] if the file is no longer as it was made, those of [`of_run`], and those of writing it.
pub fn twin_of(
    run: &Path,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<(PathBuf, bool), TwinError> {
    let path = run.join(TWIN_FILE);
    let origin = origin(run)?;
    match std::fs::read(&path).map(|kept| state(&kept, &origin)) {
        Ok(State::Current) => return Ok((path, false)),
        Ok(State::Edited) => return Err(TwinError::Edited { path }),
        Ok(State::Old) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::io("read", &path, error).into()),
    }
    let (made, _) = of_run(run, interrupted)?;
    let file = marked(&origin, &text(&made, &run.display().to_string()));
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

/// Returns what a kept twin was made from: the fit and the checksum of the record.
fn origin(run: &Path) -> Result<String, TwinError> {
    let path = run.join(store::RECORD_FILE);
    let bytes = std::fs::read(&path).map_err(|e| StoreError::io("read", &path, e))?;
    let record = crc32c::crc32c(&bytes);
    Ok(format!("{MARK}fit {FIT}, record {record:08x}"))
}

/// How the first line of a kept twin begins, and how the checksum of the other lines follows there.
const MARK: &str = "# fathom twin: ";
const FILE: &str = ", file ";

/// Returns a drive file with the first line of a kept twin.
fn marked(origin: &str, file: &str) -> String {
    format!(
        "{origin}{FILE}{:08x}\n{file}",
        crc32c::crc32c(file.as_bytes())
    )
}

/// What is true of a kept twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is the twin of the record.
    Current,
    /// It is as it was made, from another record or by another fit.
    Old,
    /// Somebody has changed it.
    Edited,
}

fn state(kept: &[u8], origin: &str) -> State {
    let end = kept.iter().position(|byte| *byte == b'\n');
    let (first, file) = kept.split_at(end.unwrap_or(kept.len()));
    let first = str::from_utf8(first).unwrap_or_default();
    let file = file.get(1..).unwrap_or_default();
    let Some((made_from, sum)) = first.split_once(FILE) else {
        // Fits before the third one have no checksum of the file.
        return match first.starts_with(MARK) {
            true => State::Old,
            false => State::Edited,
        };
    };
    match () {
        () if sum != format!("{:08x}", crc32c::crc32c(file)) => State::Edited,
        () if made_from == origin => State::Current,
        () => State::Old,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_twin_that_was_edited_is_noticed() {
        let origin = format!("{MARK}fit 3, record 0000000a");
        let kept = marked(&origin, "capacity = \"1GiB\"\n# end\n");
        let of = |kept: &str| state(kept.as_bytes(), &origin);
        assert_eq!(of(&kept), State::Current);
        assert_eq!(of(&kept.replacen("0000000a", "0000000b", 1)), State::Old);
        assert_eq!(of(&kept.replacen("1GiB", "2GiB", 1)), State::Edited);
        assert_eq!(of(&kept.replacen("# end\n", "", 1)), State::Edited);
        assert_eq!(of("capacity = \"1GiB\"\n"), State::Edited);
        assert_eq!(of(&format!("{MARK}fit 2, record 0000000a\n")), State::Old);
    }
}

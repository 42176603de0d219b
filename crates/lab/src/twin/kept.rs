//! The twin of a run, kept beside the run: made once, and made again if the record or the fit has changed. One that somebody has
//! edited is neither used as the twin nor replaced. Where the directory takes no file, the twin is not kept.

use super::error::TwinError;
use super::file::{QUICK, text};
use super::make::{Twin, twin};
use super::watch::Watcher;
use crate::store::{self, Staging, StoreError, TWIN_FILE};
use fathom_probe::run::solve;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The version of the fit: another one makes a twin again.
const FIT: u32 = 14;

/// Makes the twin of the run in a directory, or of a record file. Also returns the warnings of the files.
///
/// # Errors
/// Those of [`twin`], and those of reading the run.
pub fn of_run(run: &Path, watcher: &dyn Watcher) -> Result<(Twin, Vec<String>), TwinError> {
    let loaded = store::load_record(run)?;
    let record = loaded.value;
    if !record.meta.complete {
        return Err(TwinError::Unfinished {
            run: run.to_owned(),
        });
    }
    let made = twin(&record, &solve(&record), watcher)?;
    let mut notes = loaded.notes;
    if made.quick {
        notes.push(QUICK.to_owned());
    }
    Ok((made, notes))
}

/// The drive file of the twin of a run.
#[derive(Debug)]
pub enum TwinFile {
    /// It is kept there, and was made before.
    Before(PathBuf),
    /// It was made now, and is kept there.
    Now {
        /// The file.
        path: PathBuf,
        /// The search reached its limit of work.
        ended_early: bool,
    },
    /// It was made now and could not be kept.
    Unkept {
        /// Where it would be.
        path: PathBuf,
        /// Its text.
        text: String,
        /// Why it is not there.
        why: StoreError,
        /// The search reached its limit of work.
        ended_early: bool,
    },
}

/// Returns the twin of a run, which is made if it is not there, or if the record or the fit has changed since.
///
/// # Errors
/// [`TwinError::Edited`] if the file is no longer as it was made, and those of [`of_run`].
pub fn twin_of(run: &Path, watcher: &dyn Watcher) -> Result<TwinFile, TwinError> {
    let path = run.join(TWIN_FILE);
    let origin = origin(run)?;
    let read = crate::text::look(&path, Some(crate::text::BYTES_MAX))
        .map_err(crate::text::unfit)
        .and_then(|()| std::fs::read(&path));
    match read.map(|kept| state(&kept, &origin)) {
        Ok(State::Current) => return Ok(TwinFile::Before(path)),
        Ok(State::Edited) => return Err(TwinError::Edited { path }),
        Ok(State::Old) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::io("read", &path, error).into()),
    }
    let (made, _) = of_run(run, watcher)?;
    let ended_early = made.ended_early;
    let text = marked(&origin, &text(&made, &run.display().to_string()));
    Ok(
        match store::write_whole(run, &[(TWIN_FILE, text.as_bytes())]) {
            Ok(()) => TwinFile::Now { path, ended_early },
            Err(why) => TwinFile::Unkept {
                path,
                text,
                why,
                ended_early,
            },
        },
    )
}

/// Writes the drive file of the twin of a run, whole or not at all. A file that is there is replaced. In the place where
/// [`twin_of`] keeps the twin of the run, the file is what that keeps.
///
/// # Errors
/// [`TwinError::Store`]; the previous file stays.
pub fn save(twin: &Twin, run: &Path, path: &Path) -> Result<(), TwinError> {
    let place = store::single(path)?;
    let mut file = text(twin, &run.display().to_string());
    if is_kept(run, &place) {
        file = marked(&origin(run)?, &file);
    }
    let mut set = Staging::beside(&place)?;
    set.add(TWIN_FILE, file.as_bytes())?;
    Ok(set.publish(TWIN_FILE, &place)?)
}

/// Returns true if a place is where the twin of a run's directory is kept.
fn is_kept(run: &Path, place: &Path) -> bool {
    let above = place.parent().filter(|dir| !dir.as_os_str().is_empty());
    let real = |dir: &Path| std::fs::canonicalize(dir).ok();
    let of_run = real(run).filter(|dir| dir.is_dir());
    of_run.is_some()
        && of_run == real(above.unwrap_or(Path::new(".")))
        && place.file_name().is_some_and(|name| name == TWIN_FILE)
}

/// Returns what a kept twin was made from: the fit and the checksum of the record.
fn origin(run: &Path) -> Result<String, TwinError> {
    let path = run.join(store::RECORD_FILE);
    store::regular(&path)?;
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

//! Files that are written whole or not at all.

use super::StoreError;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes files into `dir`, making it where it does not exist: all complete and durable under temporary names first,
/// then each in its place by a rename.
///
/// # Errors
/// [`StoreError::Io`] or [`StoreError::NotADirectory`]. The files that stood there before then still stand, no
/// temporary file stays, and directories made for this are removed.
pub fn write_whole(dir: &Path, files: &[(&str, &[u8])]) -> Result<(), StoreError> {
    let made = make_dir(dir)?;
    write_set(dir, files).inspect_err(|_| undo_dirs(&made))
}

/// Checks that files can be made in `dir`, or that it can be made, and leaves nothing behind.
pub(super) fn check_writable(dir: &Path) -> Result<(), StoreError> {
    let made = make_dir(dir)?;
    let tried = temp_in(dir).map(drop);
    undo_dirs(&made);
    tried
}

fn write_set(dir: &Path, files: &[(&str, &[u8])]) -> Result<(), StoreError> {
    let mut ready = Vec::with_capacity(files.len());
    for (name, bytes) in files {
        let place = dir.join(name);
        if place.is_dir() {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(StoreError::io("write", &place, source));
        }
        let mut temp = temp_in(dir)?;
        temp.write_all(bytes)
            .and_then(|()| temp.as_file().sync_all())
            .map_err(|e| StoreError::io("write", &place, e))?;
        ready.push((temp, place));
    }
    for (temp, place) in ready {
        temp.persist(&place)
            .map_err(|e| StoreError::io("write", &place, e.error))?;
    }
    // The renames are durable once the directory is.
    fs::File::open(dir)
        .and_then(|d| d.sync_all())
        .map_err(|e| StoreError::io("write", dir, e))
}

/// A file in `dir` that goes away unless it is kept.
pub(crate) fn temp_in(dir: &Path) -> Result<NamedTempFile, StoreError> {
    tempfile::Builder::new()
        .prefix(".fathom-")
        // What the process's umask leaves of it, as for any other file.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(dir)
        .map_err(|e| StoreError::io("create a file in", dir, plain(e)))
}

/// The error itself: `tempfile` wraps it together with a path that means nothing to a user.
fn plain(e: io::Error) -> io::Error {
    e.raw_os_error()
        .map_or_else(|| io::Error::from(e.kind()), io::Error::from_raw_os_error)
}

/// Makes `dir` and what is missing above it; gives what was made, innermost first.
///
/// # Errors
/// [`StoreError::NotADirectory`] where a file is in the way, [`StoreError::Io`] where it cannot be made; then nothing
/// that was made stays.
pub fn make_dir(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut missing = Vec::new();
    let mut at = dir;
    while !at.as_os_str().is_empty() && !at.is_dir() {
        if at.symlink_metadata().is_ok() {
            return Err(StoreError::NotADirectory {
                path: at.to_owned(),
            });
        }
        missing.push(at.to_owned());
        match at.parent() {
            Some(parent) => at = parent,
            None => break,
        }
    }
    for (made, path) in missing.iter().rev().enumerate() {
        if let Err(e) = fs::create_dir(path) {
            // Somebody else made it between the look and now: then it is there, and not ours to undo.
            if path.is_dir() {
                return make_dir(dir);
            }
            undo_dirs(&missing[missing.len() - made..]);
            return Err(StoreError::io("create", path, e));
        }
    }
    Ok(missing)
}

fn undo_dirs(made: &[PathBuf]) {
    for path in made {
        // Only an empty directory goes; one that somebody else uses by now stays.
        if fs::remove_dir(path).is_err() {
            return;
        }
    }
}

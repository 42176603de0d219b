//! Files that belong together while they are made: in a directory of this process's own, from which they go to their place
//! as one ([`Staging::commit`], in `commit`).
//!
//! The directory is called `.fathom-` and sixteen letters and digits and `.tmp`. It lies in the directory that the set goes
//! to, or, where that is not there yet, in the nearest one above it: a set that comes to nothing leaves no directory
//! behind. Its process holds a lock on it (flock) as long as it runs. One that nobody holds was left by a process that was
//! killed, and whoever starts next removes it; one that holds anything else than what Fathom writes is left alone.

use super::disk::{self, DRAWN, PREFIX, SUFFIX, remove_tree};
use super::error::StoreError;
use super::names::{NAMES, is_ours};
use super::settle::settle;
use super::sums::Sum;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How often a directory is made again that somebody removed before it was locked.
const TRIES: u32 = 8;

/// The files of a set while they are made. Dropped, they are removed.
#[derive(Debug)]
pub struct Staging {
    /// The directory that the set goes to.
    pub(super) target: PathBuf,
    /// The directory of this process's own.
    pub(super) home: PathBuf,
    /// The directory in it, or itself, where the files are.
    pub(super) leaf: PathBuf,
    /// Held as long as they are ours.
    pub(super) locks: Vec<File>,
    /// The files that are complete.
    pub(super) files: Vec<(&'static str, Sum)>,
}

impl Staging {
    /// Begins a set that goes to a directory, which need not be there yet; nothing appears there before
    /// [`Staging::commit`]. What a killed process has left in that directory is removed.
    ///
    /// # Errors
    /// [`StoreError::NotADirectory`] where a file is in the way, [`StoreError::Io`] where no directory can be made.
    pub fn new(target: &Path) -> Result<Self, StoreError> {
        let (existing, missing) = split(target)?;
        if missing.is_empty() {
            clear(&existing);
        }
        let failed = |e| StoreError::io("create a file in", &existing, e);
        let (home, lock) = make_home(&existing).map_err(failed)?;
        let mut staging = Self {
            target: target.to_owned(),
            leaf: home.clone(),
            home,
            locks: vec![lock],
            files: Vec::new(),
        };
        // What is missing below the first one, which the home becomes.
        for name in missing.iter().skip(1) {
            staging.leaf.push(name);
            disk::make_dir(&staging.leaf).map_err(failed)?;
        }
        if staging.leaf != staging.home {
            let lock = File::open(&staging.leaf).map_err(failed)?;
            // Nobody else knows of it. Where nothing can be locked, nobody removes anything either.
            let _unlocked = lock.try_lock();
            staging.locks.push(lock);
        }
        Ok(staging)
    }

    /// Begins a file of the set, one of those that Fathom keeps.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn begin(&self, name: &'static str) -> Result<StagedFile, StoreError> {
        debug_assert!(NAMES.contains(&name), "{name} is no file that is kept");
        let place = self.target.join(name);
        let file = disk::make_file(&self.leaf.join(name));
        Ok(StagedFile {
            file: file.map_err(|e| StoreError::io("write", &place, e))?,
            sum: Sum::default(),
            name,
            place,
        })
    }

    /// Makes a file complete and durable.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn end(&mut self, file: StagedFile) -> Result<(), StoreError> {
        disk::sync(&file.file).map_err(|e| StoreError::io("write", &file.place, e))?;
        self.files.push((file.name, file.sum));
        Ok(())
    }

    /// Adds a whole file.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn add(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut file = self.begin(name)?;
        let written = file.write_all(bytes);
        written.map_err(|e| StoreError::io("write", &file.place, e))?;
        self.end(file)
    }

    /// Whether the set has a file of that name.
    pub fn has(&self, name: &str) -> bool {
        self.files.iter().any(|(known, _)| *known == name)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        remove_tree(&self.leaf);
        remove_tree(&self.home);
    }
}

/// A file of a set while it is written.
#[derive(Debug)]
pub struct StagedFile {
    file: File,
    sum: Sum,
    name: &'static str,
    place: PathBuf,
}

impl StagedFile {
    /// Where it goes, for people.
    pub fn place(&self) -> &Path {
        &self.place
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = disk::write(&mut self.file, bytes)?;
        self.sum.append(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The part of a path that is a directory, and the names below it that are missing, from the first one on.
pub(super) fn split(target: &Path) -> Result<(PathBuf, Vec<PathBuf>), StoreError> {
    let mut missing = Vec::new();
    let mut at = target;
    while !at.as_os_str().is_empty() && !at.is_dir() {
        // It may have been made since: another process writes there, too.
        if at.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            let path = at.to_owned();
            return Err(StoreError::NotADirectory { path });
        }
        missing.push(at.file_name().unwrap_or_default().into());
        at = at.parent().unwrap_or(Path::new(""));
    }
    missing.reverse();
    let existing = match at.as_os_str().is_empty() {
        true => Path::new("."),
        false => at,
    };
    Ok((existing.to_owned(), missing))
}

/// A directory of this process's own, with the lock on it.
fn make_home(parent: &Path) -> io::Result<(PathBuf, File)> {
    let mut last = io::Error::other("it goes away as often as it is made");
    for _ in 0..TRIES {
        let home = disk::make_temp_dir(parent)?;
        match File::open(&home) {
            Ok(lock) => {
                // Somebody who clears up may have been faster, and removes it. Where nothing can be locked, nobody clears up.
                let removed = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
                if !removed && disk::is_at(&lock, &home) {
                    return Ok((home, lock));
                }
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Removes what processes have left in a directory that are no more, and completes what they had begun to put in place. What
/// cannot be removed stays.
pub(super) fn clear(dir: &Path) {
    settle(dir);
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_home) {
            clear_one(&entry.path());
        }
    }
}

fn clear_one(home: &Path) -> Option<()> {
    home.symlink_metadata().ok().filter(fs::Metadata::is_dir)?;
    let lock = File::open(home).ok()?;
    lock.try_lock().ok()?;
    if disk::is_at(&lock, home) && is_ours(home) {
        remove_tree(home);
    }
    Some(())
}

/// Whether a name is one that [`disk::make_temp_dir`] draws.
fn is_home(name: &str) -> bool {
    let drawn = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    drawn.is_some_and(|drawn| {
        drawn.len() == DRAWN && drawn.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

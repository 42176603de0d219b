//! Staging of a set: its files are made in a directory of this process's own and are then put in place as one
//! ([`Staging::commit`], in `commit`).
//!
//! The directory is named `.fathom-`, sixteen letters and digits, `.tmp`. It is created in the target directory or, if that
//! does not exist, in the nearest existing parent, so that an abandoned set leaves no directory behind. The process holds a
//! lock on it (flock) while it runs. An unlocked one was left by a killed process, and the next process to start removes
//! it, unless it holds anything that Fathom does not write.

use super::disk::{self, DRAWN, PREFIX, SUFFIX, remove_tree};
use super::error::StoreError;
use super::names::{NAMES, is_ours};
use super::settle::settle;
use super::sums::Sum;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of attempts, when another process removes the directory before it is locked.
const TRIES: u32 = 8;

/// The files of a set that is being made. They are removed on drop.
#[derive(Debug)]
pub struct Staging {
    /// Target directory of the set.
    pub(super) target: PathBuf,
    /// The place of the one file of the set, if it has another name than the file.
    single: Option<PathBuf>,
    /// Directory of this process's own.
    pub(super) home: PathBuf,
    /// Directory of the files: `home` or a directory below it.
    pub(super) leaf: PathBuf,
    /// Locks, held as long as the files belong to this process.
    pub(super) locks: Vec<File>,
    /// The completed files.
    pub(super) files: Vec<(&'static str, Sum)>,
}

impl Staging {
    /// Begins a set for a directory, which need not exist. Nothing appears there before [`Staging::commit`]. Leftovers of
    /// killed processes in that directory are removed.
    ///
    /// # Errors
    /// [`StoreError::NotADirectory`] if a file is in the way, [`StoreError::Io`] if no directory can be created.
    pub fn new(target: &Path) -> Result<Self, StoreError> {
        let (existing, missing) = split(target)?;
        if missing.is_empty() {
            clear(&existing);
        }
        let failed = |e| StoreError::io("create a file in", &existing, e);
        let (home, lock) = make_home(&existing).map_err(failed)?;
        let mut staging = Self {
            target: target.to_owned(),
            single: None,
            leaf: home.clone(),
            home,
            locks: vec![lock],
            files: Vec::new(),
        };
        // The missing directories below the first, which `home` becomes.
        for name in missing.iter().skip(1) {
            staging.leaf.push(name);
            disk::make_dir(&staging.leaf).map_err(failed)?;
        }
        if staging.leaf != staging.home {
            let lock = File::open(&staging.leaf).map_err(failed)?;
            // No other process knows this directory. On a file system without locks nobody removes anything either.
            let _unlocked = lock.try_lock();
            staging.locks.push(lock);
        }
        Ok(staging)
    }

    /// Begins a set of one file that is published at a place ([`super::single()`]).
    ///
    /// # Errors
    /// [`StoreError::Io`] if no directory can be created beside it.
    pub(crate) fn beside(place: &Path) -> Result<Self, StoreError> {
        let mut set = Self::new(above(place))?;
        set.single = Some(place.to_owned());
        Ok(set)
    }

    /// Begins a file of the set. The name must be one of Fathom's file names.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn begin(&self, name: &'static str) -> Result<StagedFile, StoreError> {
        debug_assert!(NAMES.contains(&name), "{name} is no file that is kept");
        let place = (self.single.clone()).unwrap_or_else(|| self.target.join(name));
        let file = disk::make_file(&self.leaf.join(name));
        Ok(StagedFile {
            file: file.map_err(|e| StoreError::io("write", &place, e))?,
            sum: Sum::default(),
            name,
            place,
        })
    }

    /// Completes a file and makes it durable.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn end(&mut self, file: StagedFile) -> Result<(), StoreError> {
        disk::sync(&file.file).map_err(|e| StoreError::io("write", &file.place, e))?;
        self.files.push((file.name, file.sum));
        Ok(())
    }

    /// Adds a file with these contents.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn add(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut file = self.begin(name)?;
        let written = file.write_all(bytes);
        written.map_err(|e| StoreError::io("write", &file.place, e))?;
        self.end(file)
    }

    /// Returns true if the set has a file of that name.
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

/// A file of a set that is being written.
#[derive(Debug)]
pub struct StagedFile {
    file: File,
    sum: Sum,
    name: &'static str,
    place: PathBuf,
}

impl StagedFile {
    /// Returns the path that the file will have, for messages.
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

/// Returns the directory of a file.
pub(super) fn above(place: &Path) -> &Path {
    let above = place.parent().filter(|dir| !dir.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

/// Splits a path into the part that is an existing directory and the names of the missing ones below it.
pub(super) fn split(target: &Path) -> Result<(PathBuf, Vec<PathBuf>), StoreError> {
    let mut missing = Vec::new();
    let mut at = target;
    while !at.as_os_str().is_empty() && !at.is_dir() {
        // The directory may have been created meanwhile by another process that writes there.
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

/// Creates a directory of this process's own, and locks it.
fn make_home(parent: &Path) -> io::Result<(PathBuf, File)> {
    let mut last = io::Error::other("it goes away as often as it is made");
    for _ in 0..TRIES {
        let home = disk::make_temp_dir(parent)?;
        match File::open(&home) {
            Ok(lock) => {
                // A process that clears up may have locked it first and will remove it. On a file system without locks
                // nobody clears up.
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

/// Removes what dead processes have left in a directory, and completes commits that they had begun. Anything that cannot be
/// removed stays.
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

/// Returns true if the name is one that [`disk::make_temp_dir`] makes.
fn is_home(name: &str) -> bool {
    let drawn = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    drawn.is_some_and(|drawn| {
        drawn.len() == DRAWN && drawn.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

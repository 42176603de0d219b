//! Puts a set in place as one.
//!
//! If the target directory does not exist, the staging directory is renamed to it: a single rename.
//!
//! If it exists, it may hold other files, be a mount point or be someone's working directory, so it is not exchanged. The
//! files take their places one by one, and the rename of `sums.txt` switches from the old set to the new one:
//!
//! 1. The staging directory is renamed to `.fathom-next`. The name exists only once and its process holds a lock on it, so
//!    that two processes never do this at the same time.
//! 2. `sums.txt` of the whole new set, including files of the old set that stay, is written into it.
//! 3. That `sums.txt` replaces the old one. Before this the old set is valid, afterwards the new one: a reader that finds a
//!    file with another sum looks for it in `.fathom-next` (`kept`).
//! 4. The other files take their places. Those that are no longer part of the set are removed, and so is `.fathom-next`.
//!
//! Files and directories are synced in the same order. A process that ends on the way leaves `.fathom-next`. The next
//! writer completes it, or removes it if step 3 was not reached.

use super::disk;
use super::error::StoreError;
use super::names::SUMS_FILE;
use super::settle::{NEXT, finish, is_taken, wait_for};
use super::staging::{Staging, above, split};
use super::sums::{Sum, Sums};
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// Maximum number of waits for another process.
const TURNS: u32 = 1000;

impl Staging {
    /// Puts the set in place: all of it, or nothing. Files of the previous set stay in it unless they are replaced or named
    /// in `gone`.
    ///
    /// # Errors
    /// [`StoreError::Io`]. The old set is then in place; or the new one, if only the last step failed, which the next
    /// writer repeats.
    pub fn commit(mut self, gone: &[&str]) -> Result<(), StoreError> {
        let target = self.target.clone();
        let failed = move |e| StoreError::io("write", &target, e);
        for _ in 0..TURNS {
            let (existing, missing) = split(&self.target)?;
            let done = match missing.first() {
                Some(first) => self.appear(&existing.join(first), missing.len()),
                None => self.replace(gone)?,
            };
            if done.map_err(&failed)? {
                return Ok(());
            }
        }
        Err(failed(io::Error::from(ErrorKind::ResourceBusy)))
    }

    /// Renames the staging directory to the target, together with its missing parents: `missing` directories in all.
    /// Returns `false` if another process was faster.
    fn appear(&mut self, name: &Path, missing: usize) -> io::Result<bool> {
        let sums = Sums {
            files: self.sums(),
            ..Sums::default()
        };
        self.write_sums(&sums)?;
        let above = self.leaf.ancestors().nth(missing - 1);
        let source = above.unwrap_or(&self.leaf).to_owned();
        let above = name.parent().unwrap_or(Path::new("."));
        match disk::rename(&source, name) {
            Ok(()) => {}
            Err(e) if is_taken(&e) => return Ok(false),
            Err(e) => return Err(e),
        }
        // The directory now belongs to the set and must not be removed.
        self.leaf.clone_from(&self.home);
        disk::sync_dir(above)?;
        Ok(true)
    }

    /// Moves the files to their places. Returns `false` if another process is doing so.
    fn replace(&mut self, gone: &[&str]) -> Result<io::Result<bool>, StoreError> {
        let target = self.target.clone();
        for (name, _) in &self.files {
            let place = target.join(name);
            if place.is_dir() {
                let source = io::Error::from(ErrorKind::IsADirectory);
                return Err(StoreError::io("write", &place, source));
            }
        }
        let next = target.join(NEXT);
        match disk::rename(&self.leaf, &next) {
            Ok(()) => self.leaf.clone_from(&next),
            Err(e) if is_taken(&e) => {
                wait_for(&target, &next);
                return Ok(Ok(false));
            }
            Err(e) => return Ok(Err(e)),
        }
        Ok(self.switch(&target, &next, gone).map(|()| true))
    }

    fn switch(&mut self, target: &Path, next: &Path, gone: &[&str]) -> io::Result<()> {
        // From a damaged `sums.txt` nothing can be kept.
        let mut sums = Sums::read(target).ok().flatten().unwrap_or_default();
        sums.gone.extend(gone.iter().map(|name| (*name).to_owned()));
        let stands = |name: &String| target.join(name).exists();
        sums.files
            .retain(|name, _| !sums.gone.contains(name) && stands(name));
        sums.files.extend(self.sums());
        sums.gone
            .retain(|name| !sums.files.contains_key(name) && stands(name));
        self.write_sums(&sums)?;
        disk::sync_dir(target)?;
        disk::rename(&next.join(SUMS_FILE), &target.join(SUMS_FILE))?;
        // The new set is valid now, and the files in `next` belong to it.
        self.leaf.clone_from(&self.home);
        disk::sync_dir(target)?;
        finish(target, next, &sums)
    }

    fn sums(&self) -> std::collections::BTreeMap<String, Sum> {
        let files = self.files.iter();
        files
            .map(|(name, sum)| ((*name).to_owned(), *sum))
            .collect()
    }

    fn write_sums(&self, sums: &Sums) -> io::Result<()> {
        let mut file = SumsFile(disk::make_file(&self.leaf.join(SUMS_FILE))?);
        file.write_all(sums.to_text().as_bytes())?;
        disk::sync(&file.0)?;
        disk::sync_dir(&self.leaf)
    }

    /// Moves one file of the set to a path of its own, which [`super::single()`] allows.
    ///
    /// # Errors
    /// [`StoreError::Io`]; the previous file stays in place.
    pub(crate) fn publish(self, name: &str, place: &Path) -> Result<(), StoreError> {
        let moved = disk::rename(&self.leaf.join(name), place);
        moved
            .and_then(|()| disk::sync_dir(above(place)))
            .map_err(|e| StoreError::io("write", place, e))
    }
}

struct SumsFile(File);

impl io::Write for SumsFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        disk::write(&mut self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

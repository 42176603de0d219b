//! Putting a set in place, as one.
//!
//! Where the directory is not there yet, the one that the files were made in takes its name: one rename.
//!
//! Where it is, others may lie in it, and it may be a mount point or where somebody works, so that it is not exchanged for
//! another. The files take their places one by one, and the rename of `sums.txt` decides which set it is:
//!
//! 1. The directory that the files were made in becomes `.fathom-next`. Its name is there once, and its process holds a
//!    lock on it: two processes do not do this at the same time.
//! 2. `sums.txt` of the whole new set, with those files of the old one that stay, is written into it.
//! 3. That `sums.txt` takes the place of the old one. Before this the old set stands, and from here on the new one: who reads
//!    a file whose sum is another looks for it in `.fathom-next` (`kept`).
//! 4. The other files take their places, those that are no part of the set any more are removed, and `.fathom-next` with
//!    them.
//!
//! What is durable when follows the same order. A process that ends on the way leaves `.fathom-next`; who writes there next
//! completes it, or removes it where step 3 was not reached.

use super::disk;
use super::error::StoreError;
use super::names::SUMS_FILE;
use super::settle::{NEXT, finish, is_taken, wait_for};
use super::staging::{Staging, split};
use super::sums::{Sum, Sums};
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// How often another process is waited for.
const TURNS: u32 = 1000;

impl Staging {
    /// Puts the set in place: all of it, or nothing. Files of the set that stood there stay in it unless they are replaced or
    /// `gone`.
    ///
    /// # Errors
    /// [`StoreError::Io`]. The old set stands then; or the new one, where the last step alone failed, which the next command
    /// that writes there takes.
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

    /// The directory takes its name, with those above it that are missing: so many in all. `false` where somebody else was
    /// faster.
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
        // From here on it is not ours to remove.
        self.leaf.clone_from(&self.home);
        disk::sync_dir(above)?;
        Ok(true)
    }

    /// The files take their places. `false` where somebody else is doing so.
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
        // Of a damaged one nothing is known that could stay.
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
        // The new set stands, and what is in `next` belongs to it.
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

    /// Gives one file of the set a name of its own, and it alone: a trace, which no set is.
    ///
    /// # Errors
    /// [`StoreError::Io`]; what stood there then still stands.
    pub(crate) fn publish(self, name: &str, place: &Path) -> Result<(), StoreError> {
        let moved = disk::rename(&self.leaf.join(name), place);
        let above = place.parent().filter(|dir| !dir.as_os_str().is_empty());
        moved
            .and_then(|()| disk::sync_dir(above.unwrap_or(Path::new("."))))
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

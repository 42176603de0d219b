//! Settles the contents of `.fathom-next`: files of a set on the way to their places (`commit` describes the steps). They
//! are put in place or removed, by the process that does the commit or by a later one.

use super::disk::{self, remove_tree};
use super::names::{SUMS_FILE, is_ours};
use super::sums::{Sum, Sums};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Directory of the files that are being put in place.
pub(super) const NEXT: &str = ".fathom-next";

/// Does the last step of a commit: moves the files to their places, and removes those that are gone.
pub(super) fn finish(target: &Path, next: &Path, sums: &Sums) -> io::Result<()> {
    for name in &sums.gone {
        match disk::remove_file(&target.join(name)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    for (name, _) in files_in(next) {
        disk::rename(&next.join(&name), &target.join(&name))?;
    }
    match disk::remove_dir(next) {
        // A rename replaces an empty directory, so the next set may be there already, or may have been and gone.
        Err(e) if is_taken(&e) || e.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Returns true if a rename failed because the target is not empty.
pub(super) fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
    )
}

/// Waits until no other process puts anything in place, and completes what was left behind.
pub(super) fn wait_for(target: &Path, next: &Path) {
    let Ok(lock) = File::open(next) else {
        return;
    };
    if lock.lock().is_ok() && is_held(&lock, next) {
        // Damaged sums count as empty: the new set replaces the old one in any case.
        let sums = Sums::read(target).ok().flatten().unwrap_or_default();
        settle_held(target, next, &sums);
    }
}

/// Completes what a dead process has left in `.fathom-next`, or removes it if its set was never valid.
pub(super) fn settle(target: &Path) {
    let next = target.join(NEXT);
    if let Ok(lock) = File::open(&next)
        && lock.try_lock().is_ok()
        && is_held(&lock, &next)
        && let Ok(sums) = Sums::read(target)
    {
        settle_held(target, &next, &sums.unwrap_or_default());
    }
}

/// Returns true if the locked directory still exists under its name and is not empty. No other can replace it then. An
/// empty one, whose files have all moved to their places, is removed, because any other could replace it.
fn is_held(lock: &File, next: &Path) -> bool {
    let has_more = || disk::remove_dir(next).is_err_and(|e| is_taken(&e));
    disk::is_at(lock, next) && has_more() && disk::is_at(lock, next)
}

fn settle_held(target: &Path, next: &Path, sums: &Sums) {
    // Directories that hold anything not written by Fathom are left alone.
    if !is_ours(next) {
        return;
    }
    let stands = |(name, path): &(String, PathBuf)| {
        let found = File::open(path).and_then(|mut file| Sum::of(&mut file));
        found.ok().as_ref() == sums.files.get(name)
    };
    let files = files_in(next);
    // `sums.txt` moves first: as long as it is here, no file of this set has taken its place.
    let reached = !next.join(SUMS_FILE).exists() && files.iter().all(stands);
    if reached {
        let _left_for_the_next = finish(target, next, sums);
    } else {
        remove_tree(next);
    }
}

fn files_in(dir: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter_map(|e| Some((e.file_name().into_string().ok()?, e.path())));
    let mut files: Vec<_> = named.collect();
    files.sort();
    files
}

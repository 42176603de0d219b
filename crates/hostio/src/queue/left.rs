//! Restores what a process that was killed has left.

use super::back::put_back;
use super::drive::DriveQueue;
use super::journal::{Journal, all};
use super::lock::DriveLock;
use super::notes::Notes;
use super::since::Since;
use super::written::{Written, parse};
use crate::error::{HostError, os_error};
use std::io;
use std::path::{Path, PathBuf};

/// What became of a journal.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The values were put back: the attributes that had another value, with their old values.
    Restored(Vec<[String; 2]>),
    /// The drive is gone, and its settings with it.
    Gone,
    /// A living process is changing the drive.
    InUse,
    /// The journal cannot be understood, for this reason. Nothing was put back, and it stays.
    Damaged(String),
    /// It could not be done; the journal stays.
    Failed(HostError),
}

/// A journal that was found.
#[derive(Debug)]
pub struct Left {
    /// Kernel name of the drive.
    pub drive: String,
    /// The journal.
    pub journal: PathBuf,
    /// What became of it.
    pub outcome: Outcome,
    /// Attributes that somebody else has set since; they were left alone.
    pub since: Vec<Since>,
}

/// Restores the old values of every journal in a directory whose process is not alive, and removes the journals.
pub fn restore_left(journals: &Path) -> Vec<Left> {
    all(journals).iter().filter_map(|path| one(path)).collect()
}

/// Restores one journal; `None` if its process has removed it.
fn one(path: &Path) -> Option<Left> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let left = |outcome| Left {
        drive: name.clone(),
        journal: path.to_owned(),
        outcome,
        since: Vec::new(),
    };
    let failed = |action, error| Some(left(Outcome::Failed(os_error(path, action, error))));
    // Opening a FIFO would wait for somebody.
    if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        return Some(left(Outcome::Damaged("it is no file".to_owned())));
    }
    let mut journal = match Journal::lock(path, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return failed("read it", error),
        Ok(None) => return Some(left(Outcome::InUse)),
        Ok(Some(journal)) => journal,
    };
    let written = match journal.read().map(|bytes| parse(&bytes)) {
        Err(error) => return failed("read it", error),
        Ok(Err(why)) => return Some(left(Outcome::Damaged(why))),
        Ok(Ok(written)) => written,
    };
    let restored = restore(&written, path, &mut journal);
    if matches!(restored.outcome, Outcome::Failed(_) | Outcome::InUse) {
        return Some(restored);
    }
    match journal.remove() {
        Err(error) => failed("remove it", error),
        Ok(()) => Some(restored),
    }
}

fn restore(written: &Written, path: &Path, journal: &mut Journal) -> Left {
    let left = |outcome, since| Left {
        drive: written.name.clone(),
        journal: path.to_owned(),
        outcome,
        since,
    };
    let there = DriveQueue::at(&written.dir).filter(|there| is_same(written, there));
    let Some(drive) = there else {
        return left(Outcome::Gone, Vec::new());
    };
    // A trial with its journal elsewhere has values of its own.
    let lock = match DriveLock::take(&drive) {
        Ok(lock) => lock,
        Err(HostError::Unsuitable { .. }) => return left(Outcome::InUse, Vec::new()),
        Err(error) => return left(Outcome::Failed(error), Vec::new()),
    };
    // If this process is killed, too, the next one goes on.
    let mut notes = Notes::new(Some(journal), &written.entries);
    let back = put_back(
        &written.entries,
        &written.own,
        &drive.path_of(""),
        written.writing.as_deref(),
        &mut notes,
    );
    drop(lock);
    let outcome = match back.missed.into_iter().next() {
        None => Outcome::Restored(back.restored),
        Some(missed) => Outcome::Failed(HostError::Os {
            path: drive.path_of(&missed.attribute),
            action: "put it back",
            source: missed.error,
        }),
    };
    left(outcome, back.since)
}

/// Returns true if the drive there is the one of the journal. A loop device counts again when a file is attached, and
/// keeps its attributes, so it is the same one.
fn is_same(written: &Written, there: &DriveQueue) -> bool {
    let numbers = there.name == written.name && there.number == written.number;
    let counted = there.sequence == written.sequence || written.name.starts_with("loop");
    numbers && counted
}

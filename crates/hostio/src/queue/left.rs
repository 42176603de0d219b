//! Restores what a process that was killed has left.

use super::change::put_back;
use super::drive::DriveQueue;
use super::entry::{Entry, SCHEDULER, is_reset_by_scheduler};
use super::journal::{Journal, Written, all};
use crate::error::{HostError, os_error};
use std::path::Path;

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
    /// It could not be done; the journal stays.
    Failed(HostError),
}

/// A journal that was found.
#[derive(Debug)]
pub struct Left {
    /// Kernel name of the drive.
    pub drive: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Attributes that somebody else has changed since, each with its value now and its old value; they were left alone.
    pub changed_since: Vec<[String; 3]>,
}

/// Restores the old values of every journal in a directory whose process is not alive, and removes the journals.
pub fn restore_left(journals: &Path) -> Vec<Left> {
    all(journals).iter().filter_map(|path| one(path)).collect()
}

/// Restores one journal; `None` if nothing was to be restored.
fn one(path: &Path) -> Option<Left> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let left = |outcome| Left {
        drive: name.clone(),
        outcome,
        changed_since: Vec::new(),
    };
    let failed = |action, error| Some(left(Outcome::Failed(os_error(path, action, error))));
    let mut journal = match Journal::lock(path, false) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => return failed("read it", error),
        Ok(None) => return Some(left(Outcome::InUse)),
        Ok(Some(journal)) => journal,
    };
    let written = match journal.read() {
        Err(error) => return failed("read it", error),
        Ok(written) => written,
    };
    let restored = written.map(|written| restore(&written));
    if let Some(Left {
        outcome: Outcome::Failed(_),
        ..
    }) = &restored
    {
        return restored;
    }
    match journal.remove() {
        Err(error) => failed("remove it", error),
        Ok(()) => restored,
    }
}

fn restore(written: &Written) -> Left {
    let left = |outcome, changed_since| Left {
        drive: written.name.clone(),
        outcome,
        changed_since,
    };
    let there = DriveQueue::at(&written.dir).filter(|there| is_same(written, there));
    let Some(drive) = there else {
        return left(Outcome::Gone, Vec::new());
    };
    let queue = drive.path_of("");
    let foreign = |entry: &&Entry| is_foreign(entry, &written.entries, &queue);
    let changed_since: Vec<&Entry> = written.entries.iter().filter(foreign).collect();
    let scheduler = changed_since
        .iter()
        .any(|entry| entry.attribute == SCHEDULER);
    let ours = written.entries.iter().filter(|entry| {
        let reset = scheduler && is_reset_by_scheduler(&entry.attribute);
        !reset && !foreign(entry)
    });
    let ours: Vec<Entry> = ours.cloned().collect();
    let differs = |entry: &&Entry| entry.now(&queue).as_ref() != Some(&entry.old);
    let back = ours.iter().filter(differs);
    let back = back.map(|entry| [&entry.attribute, &entry.old].map(String::clone));
    let back: Vec<[String; 2]> = back.collect();
    let said = |entry: &&Entry| {
        let now = entry.now(&queue).unwrap_or_default();
        [entry.attribute.clone(), now, entry.old.clone()]
    };
    let changed_since = changed_since.iter().map(said).collect();
    // A scheduler that is put back resets others, so all of them are looked at.
    match put_back(&ours, &queue) {
        Err(error) => left(Outcome::Failed(error), changed_since),
        Ok(()) => left(Outcome::Restored(back), changed_since),
    }
}

/// Returns true if an attribute has a value that this change cannot have given it. A scheduler that was switched resets
/// others to values of its own.
fn is_foreign(entry: &Entry, all: &[Entry], queue: &Path) -> bool {
    let now = entry.now(queue);
    let ours = [Some(&entry.old), entry.new.as_ref(), entry.seen.as_ref()];
    let noted = entry.attribute == SCHEDULER || entry.seen.is_some();
    let switched = all.iter().any(|one| one.attribute == SCHEDULER);
    let reset = switched && is_reset_by_scheduler(&entry.attribute);
    noted
        && !reset
        && !ours
            .into_iter()
            .flatten()
            .any(|ours| now.as_ref() == Some(ours))
}

/// Returns true if the drive there is the one of the journal. A loop device counts again when a file is attached, and
/// keeps its settings.
fn is_same(written: &Written, there: &DriveQueue) -> bool {
    let numbers = there.name == written.name && there.number == written.number;
    let counted = there.sequence == written.sequence || written.name.starts_with("loop");
    numbers && counted
}

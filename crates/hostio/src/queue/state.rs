//! The state of a change: which values are set now, and which ones the journal knows.

use super::back::{Back, put_back};
use super::drive::DriveQueue;
use super::entry::{Entry, SCHEDULER, moves};
use super::journal::Journal;
use super::notes::{Noted, Notes};
use super::own::{is_switched, of_scheduler, set_by_others};
use super::refusal::{Refusal, refusal};
use super::settle::{Missed, Target, set, settle};
use super::since::Since;
use crate::error::{HostError, os_error};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct State {
    drive: DriveQueue,
    /// In the order of writing.
    entries: Vec<Entry>,
    /// The value of each after the last writing.
    last: Vec<Option<String>>,
    /// Attributes of a scheduler that was switched to, with every value that was seen.
    own: Vec<[String; 2]>,
    /// Attributes that should have kept their value and did not.
    follows: Vec<[String; 3]>,
    /// Removed when there is nothing left to restore.
    journal: Option<Journal>,
    /// The new values may be set.
    changed: bool,
    /// The last attribute that was written, until all are read again.
    writing: Option<String>,
    /// Restored or kept for good; later calls do nothing.
    over: bool,
}

impl State {
    pub(super) fn new(drive: DriveQueue, entries: Vec<Entry>, journal: Journal) -> Self {
        let last = entries.iter().map(|entry| Some(entry.old.clone()));
        Self {
            drive,
            last: last.collect(),
            entries,
            own: Vec::new(),
            follows: Vec::new(),
            journal: Some(journal),
            changed: false,
            writing: None,
            over: false,
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn follows(&self) -> Vec<[String; 3]> {
        self.follows.clone()
    }

    fn queue(&self) -> PathBuf {
        self.drive.path_of("")
    }

    /// Sets the new values, or only that of one attribute; the others have their old values then.
    pub(super) fn apply(&mut self, only: Option<&str>) -> Result<Vec<Refusal>, HostError> {
        if self.over {
            return Ok(Vec::new());
        }
        let queue = self.queue();
        self.is_as_left()?;
        self.changed = true;
        let mut refused = Vec::new();
        // Each turn but the last has a refusal, after which one value less is wanted.
        loop {
            let mut notes = Notes::new(self.journal.as_mut(), &self.entries);
            let missed = settle(&queue, &targets(&self.entries, only), &mut notes);
            let noted = notes.end();
            self.note(noted)?;
            if !queue.exists() {
                return Err(HostError::NotFound { path: queue });
            }
            let before = refused.len();
            self.follows.clear();
            for one in missed {
                match self.wanted(&one.attribute, only) {
                    Some(at) => refused.extend(self.refused(&queue, at, &one)?),
                    None => self.follow(&one, only)?,
                }
            }
            if refused.len() == before {
                break;
            }
        }
        self.read_again(true)?;
        Ok(refused)
    }

    /// Returns the place of an attribute that is to have a new value.
    fn wanted(&self, attribute: &str, only: Option<&str>) -> Option<usize> {
        let mut entries = self.entries.iter();
        entries.position(|entry| entry.attribute == attribute && is_wanted(entry, only))
    }

    /// Gives an attribute its old value for good, because the kernel does not take the new one.
    fn refused(
        &mut self,
        queue: &Path,
        at: usize,
        missed: &Missed,
    ) -> Result<Option<Refusal>, HostError> {
        let entry = &self.entries[at];
        // The kernel may have noted the value and limited it.
        let old = Target {
            attribute: entry.attribute.clone(),
            value: entry.old.clone(),
        };
        let mut notes = Notes::new(self.journal.as_mut(), &self.entries);
        let _it_was_set_before = set(queue, &old, &mut notes);
        let noted = notes.end();
        let new = self.entries[at].new.take();
        self.entries[at].seen.extend(missed.now.clone());
        self.note(noted)?;
        Ok(new.map(|new| refusal(missed, new)))
    }

    /// Remembers what was noted in the journal.
    ///
    /// # Errors
    /// That the journal could not be written.
    fn note(&mut self, noted: Noted) -> Result<(), HostError> {
        if noted.writing.is_some() {
            self.writing = noted.writing;
        }
        for [name, value] in noted.seen {
            let entry = self.entries.iter_mut().find(|e| e.attribute == name);
            if let Some(entry) = entry {
                entry.seen.push(value);
            }
        }
        let error = noted.error.map_or(Ok(()), Err);
        error.map_err(|error| os_error(&self.queue(), "note its change in the journal", error))
    }

    /// Notes an attribute that did not keep its value although it was written.
    fn follow(&mut self, missed: &Missed, only: Option<&str>) -> Result<(), HostError> {
        let name = &missed.attribute;
        let moved = |entry: &&Entry| is_wanted(entry, only) && moves(&entry.attribute, name);
        let moved = self.entries.iter().any(|entry| moved(&entry));
        let entry = self.entries.iter().find(|entry| entry.attribute == *name);
        match (entry, &missed.now) {
            (Some(entry), Some(now)) if moved => {
                self.follows
                    .push([name, &entry.old, now].map(String::clone));
                Ok(())
            }
            _ => Err(HostError::Unsuitable {
                path: self.drive.path_of(name),
                what: format!("it does not keep its value: {}", missed.error),
                advice: "end what else sets it (udev, tuned, another tool), and try again",
            }),
        }
    }

    /// Checks that every attribute has the value that was read last.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`] with the attributes that somebody else has set; [`HostError::NotFound`] if the drive is
    /// gone.
    fn is_as_left(&self) -> Result<(), HostError> {
        let queue = self.queue();
        if !queue.exists() {
            return Err(HostError::NotFound { path: queue });
        }
        if self.writing.is_some() {
            return Ok(());
        }
        let mut others = Vec::new();
        for (entry, last) in self.entries.iter().zip(&self.last) {
            let now = entry.now(&queue);
            if now != *last {
                let [now, last] = [&now, last].map(|v| v.as_deref().unwrap_or("no value"));
                others.push(format!(
                    "{} is {now}, and was left at {last}",
                    entry.attribute
                ));
            }
        }
        for since in set_by_others(&self.own, &self.entries, &queue) {
            let now = since.set.unwrap_or_default();
            let Since { attribute, old, .. } = since;
            others.push(format!("{attribute} is {now}, and was left at {old}"));
        }
        match others.is_empty() {
            true => Ok(()),
            false => Err(HostError::Unsuitable {
                path: queue,
                what: format!("somebody else has set attributes: {}", others.join("; ")),
                advice: "rounds are not comparable then; end what sets them (udev, tuned, another tool), and try again",
            }),
        }
    }

    /// Reads all attributes again, and notes in the journal what the kernel made of them if they are `ours`.
    fn read_again(&mut self, ours: bool) -> Result<(), HostError> {
        let queue = self.queue();
        let mut seen = Vec::new();
        for (entry, last) in self.entries.iter_mut().zip(&mut self.last) {
            *last = entry.now(&queue);
            if let Some(now) = last.as_ref().filter(|now| ours && !entry.knows(now)) {
                entry.seen.push(now.clone());
                seen.push([&entry.attribute, now].map(String::clone));
            }
        }
        let switched = ours && is_switched(&self.entries, &queue);
        let mut own = of_scheduler(&queue);
        own.retain(|one| switched && !self.own.contains(one));
        self.own.extend(own.iter().cloned());
        let journal = self.journal.as_mut();
        let noted = journal.map_or(Ok(()), |journal| journal.read_again(&seen, &own));
        noted.map_err(|error| os_error(&queue, "note its values in the journal", error))?;
        self.writing = None;
        Ok(())
    }

    /// Sets the old values; the journal stays.
    pub(super) fn undo(&mut self) -> Result<(), HostError> {
        if self.over || !self.changed {
            return Ok(());
        }
        let found = self.is_as_left();
        let mut notes = Notes::new(self.journal.as_mut(), &self.entries);
        let queue = self.drive.path_of("");
        let writing = self.writing.as_deref();
        let back = put_back(&self.entries, &self.own, &queue, writing, &mut notes);
        let noted = notes.end();
        // The old values are back even if the journal cannot be written.
        let noted = self.note(noted);
        let said = self.said(back);
        if matches!(said, Err(HostError::Os { .. })) {
            return said;
        }
        self.changed = false;
        // What is not the old value now is somebody else's.
        let read = self.read_again(false);
        let gone = matches!(found, Err(HostError::NotFound { .. }));
        match gone {
            true => Ok(()),
            false => said.and(found).and(noted).and(read),
        }
    }

    /// Returns what the caller must know of a way back.
    fn said(&self, back: Back) -> Result<(), HostError> {
        if let Some(Missed {
            attribute, error, ..
        }) = back.missed.into_iter().next()
        {
            return Err(HostError::Os {
                path: self.drive.path_of(&attribute),
                action: "put it back",
                source: error,
            });
        }
        let said = |since: &Since| {
            let none = "none";
            let set = since.set.as_deref().unwrap_or(none);
            let (name, old) = (&since.attribute, &since.old);
            format!("{name} was {old}, and somebody else has set {set}")
        };
        let others: Vec<String> = back.since.iter().map(said).collect();
        match others.is_empty() {
            true => Ok(()),
            false => Err(HostError::Unsuitable {
                path: self.queue(),
                what: format!("{}; that was left alone", others.join("; ")),
                advice: "all other old values are back",
            }),
        }
    }

    /// Ends the change, with the old values or the new ones.
    pub(super) fn end(&mut self, old: bool) -> Result<(), HostError> {
        if self.over {
            return Ok(());
        }
        let ended = match old {
            true => self.undo(),
            false => Ok(()),
        };
        if old && self.changed {
            return ended;
        }
        self.over = true;
        let removed = self.journal.take().map_or(Ok(()), Journal::remove);
        let removed = removed.map_err(|e| os_error(&self.drive.dir, "remove its journal", e));
        ended.and(removed)
    }
}

/// Returns true if an attribute is to have its new value, if it has one.
fn is_wanted(entry: &Entry, only: Option<&str>) -> bool {
    entry.new.is_some() && only.is_none_or(|name| entry.attribute == name)
}

/// Returns the value that each attribute is to have. Those of a scheduler that is switched have none.
fn targets(entries: &[Entry], only: Option<&str>) -> Vec<Target> {
    let switches = |entry: &Entry| entry.attribute == SCHEDULER && is_wanted(entry, only);
    let switches = entries.iter().any(switches);
    let entries = entries
        .iter()
        .filter(|entry| !(switches && entry.is_of_scheduler()));
    let target = |entry: &Entry| {
        let new = entry.new.as_ref().filter(|_| is_wanted(entry, only));
        Target {
            attribute: entry.attribute.clone(),
            value: new.unwrap_or(&entry.old).clone(),
        }
    };
    entries.map(target).collect()
}

impl Drop for State {
    fn drop(&mut self) {
        let _nobody_is_left_to_tell = self.end(true);
    }
}

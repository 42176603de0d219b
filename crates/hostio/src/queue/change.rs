//! A change of some attributes of a drive's request queue, and the way back.

use super::drive::DriveQueue;
use super::entry::{Entry, ORDER, SCHEDULER, is_attribute, moves, place, value};
use super::journal::Journal;
use super::lock::DriveLock;
use super::own::of_scheduler;
use super::refusal::{Refusal, Setting};
use super::state::State;
use crate::error::{HostError, os_error};
use rustix::fs::{Access, access};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Attributes that are changed for a while. The old values are restored when the last clone is dropped, also during a
/// panic, and from the journal if the process is killed.
#[derive(Clone, Debug)]
pub struct QueueChange(Arc<Mutex<State>>);

impl QueueChange {
    /// Reads the old values and writes them to a journal in `journals`: of the wanted attributes, of the others that such
    /// a change may have, and of the scheduler's own. Changes nothing yet.
    ///
    /// # Errors
    /// [`HostError::NotFound`] if the drive lacks an attribute; [`HostError::NoPermission`] if this user may not write one
    /// or the journal; [`HostError::Unsuitable`] if another process changes the drive, or was killed while it did.
    pub fn prepare(
        drive: &DriveQueue,
        wanted: &[Setting],
        journals: &Path,
    ) -> Result<Self, HostError> {
        // Before the old values are read: they would be those of another process's trial.
        let lock = DriveLock::take(drive)?;
        let queue = drive.path_of("");
        let mut entries = Vec::new();
        for Setting {
            attribute,
            value: new,
        } in wanted
        {
            let path = drive.path_of(attribute);
            let old = value(&queue, attribute).filter(|_| is_attribute(attribute));
            let old = old.ok_or_else(|| HostError::NotFound { path: path.clone() })?;
            access(&path, Access::WRITE_OK)
                .map_err(|errno| os_error(&path, "change it", errno.into()))?;
            entries.push(Entry {
                new: Some(new.clone()),
                ..Entry::kept(attribute.clone(), old)
            });
        }
        let others = ORDER.map(str::to_owned).into_iter();
        let own = of_scheduler(&queue).into_iter().map(|[name, _]| name);
        for attribute in others.chain(own) {
            let known = entries.iter().any(|entry| entry.attribute == attribute);
            if let Some(old) = value(&queue, &attribute).filter(|_| !known) {
                entries.push(Entry::kept(attribute, old));
            }
        }
        entries.sort_by_key(|entry| place(&entry.attribute));
        let journal = Journal::begin(journals, drive, &entries, lock)?;
        let state = State::new(drive.clone(), entries, journal);
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Checks that no other process is changing the drive: the values would be those of its trial.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`].
    pub fn check(drive: &DriveQueue) -> Result<(), HostError> {
        DriveLock::take(drive).map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic does not invalidate the state: it still holds the old values.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the new values, and keeps the others although the kernel changes some with them. A value that the kernel
    /// refuses, or makes another one of, is returned and not tried again; the others are set.
    ///
    /// # Errors
    /// [`HostError::NotFound`] if the drive is gone; [`HostError::Unsuitable`] if somebody else has set an attribute since
    /// the last call; an error of the journal.
    pub fn apply(&self) -> Result<Vec<Refusal>, HostError> {
        self.state().apply(None)
    }

    /// Sets the new value of this attribute alone, and the old ones of the others. A value that was refused before is left
    /// alone.
    ///
    /// # Errors
    /// As for [`QueueChange::apply`].
    pub fn apply_only(&self, attribute: &str) -> Result<(), HostError> {
        self.state().apply(Some(attribute)).map(drop)
    }

    /// Sets the old values; the journal stays.
    ///
    /// # Errors
    /// The error from the kernel, or [`HostError::Unsuitable`] if somebody else has set an attribute since, which is left
    /// alone. A drive that is gone is none: nothing is left to restore.
    pub fn undo(&self) -> Result<(), HostError> {
        self.state().undo()
    }

    /// Sets the old values for good and removes the journal.
    ///
    /// # Errors
    /// As for [`QueueChange::undo`]; after an error from the kernel the journal stays.
    pub fn restore(&self) -> Result<(), HostError> {
        self.state().end(true)
    }

    /// Leaves the new values for good and removes the journal.
    ///
    /// # Errors
    /// If the journal cannot be removed.
    pub fn keep(&self) -> Result<(), HostError> {
        self.state().end(false)
    }

    /// Returns the attributes that are changed, with their old and new values.
    pub fn changes(&self) -> Vec<[String; 3]> {
        let state = self.state();
        let changes = state.entries().iter().filter_map(|entry| {
            let new = entry.new.as_ref()?;
            Some([&entry.attribute, &entry.old, new].map(String::clone))
        });
        changes.collect()
    }

    /// Returns the attributes that should have kept their value and did not when the new values were set, with the old
    /// value and the one that the kernel has given.
    pub fn follows(&self) -> Vec<[String; 3]> {
        self.state().follows()
    }

    /// Returns the attributes of the queue that keep their value, with it. Those of a scheduler that is changed go with it.
    pub fn kept(&self) -> Vec<[String; 2]> {
        let state = self.state();
        let switched = |entry: &Entry| entry.attribute == SCHEDULER && entry.new.is_some();
        let switched = state.entries().iter().any(switched);
        let kept = state
            .entries()
            .iter()
            .filter(|entry| entry.new.is_none() && !(switched && entry.is_of_scheduler()));
        kept.map(|entry| [&entry.attribute, &entry.old].map(String::clone))
            .collect()
    }

    /// Returns the attributes that are to be written to undo the change by hand, in this order, with their old values:
    /// those that are changed, and those that the kernel changes with them.
    pub fn by_hand(&self) -> Vec<[String; 2]> {
        let state = self.state();
        let changed = |entry: &&Entry| entry.new.as_ref().is_some_and(|new| *new != entry.old);
        let changed: Vec<&Entry> = state.entries().iter().filter(changed).collect();
        let touched = state.entries().iter().filter(|entry| {
            let moved = |one: &&Entry| {
                one.attribute == entry.attribute || moves(&one.attribute, &entry.attribute)
            };
            changed.iter().any(moved)
        });
        touched
            .map(|entry| [&entry.attribute, &entry.old].map(String::clone))
            .collect()
    }

    /// Returns a function that restores the old values from any thread, as long as this is not dropped. It holds a weak
    /// reference and does not delay the drop.
    pub fn at_the_end(&self) -> impl Fn() + Send + Sync + use<> {
        let state = Arc::downgrade(&self.0);
        move || {
            if let Some(state) = state.upgrade() {
                let _the_process_ends = Self(state).restore();
            }
        }
    }
}

//! A change of some attributes of a drive's request queue, and the way back.

use super::drive::DriveQueue;
use super::entry::{Entry, SCHEDULER, is_attribute, value};
use super::journal::Journal;
use crate::error::{HostError, os_error};
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An attribute and the value that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the attribute, such as `nr_requests`.
    pub attribute: String,
    /// The value.
    pub value: String,
}

/// A value that the kernel did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// What the kernel said.
    pub error: String,
    /// What can be done.
    pub help: &'static str,
}

#[derive(Debug)]
struct State {
    drive: DriveQueue,
    /// The scheduler first: its switch resets others.
    entries: Vec<Entry>,
    /// Removed when there is nothing left to restore.
    journal: Option<Journal>,
    /// The new values may be set.
    changed: bool,
    /// Restored or kept for good; later calls do nothing.
    over: bool,
}

/// Attributes that are changed for a while. The old values are restored when the last clone is dropped, also during a
/// panic, and from the journal if the process is killed.
#[derive(Clone, Debug)]
pub struct QueueChange(Arc<Mutex<State>>);

impl QueueChange {
    /// Reads the old values and writes them to a journal in `journals`. Changes nothing yet.
    ///
    /// # Errors
    /// [`HostError::NotFound`] if the drive lacks an attribute; [`HostError::NoPermission`] if this user may not write one
    /// or the journal; those of a journal that another process has written.
    pub fn prepare(
        drive: &DriveQueue,
        wanted: &[Setting],
        journals: &Path,
    ) -> Result<Self, HostError> {
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
                attribute: attribute.clone(),
                old,
                new: Some(new.clone()),
                seen: None,
            });
        }
        entries.sort_by_key(|entry| entry.attribute != SCHEDULER);
        let switches = entries
            .first()
            .is_some_and(|first| first.attribute == SCHEDULER);
        let reset = drive.reset_by_scheduler().into_iter().filter(|_| switches);
        for attribute in reset {
            let known = entries.iter().any(|entry| entry.attribute == attribute);
            if let Some(old) = value(&queue, &attribute).filter(|_| !known) {
                entries.push(Entry {
                    attribute,
                    old,
                    new: None,
                    seen: None,
                });
            }
        }
        let journal = Journal::begin(journals, drive, &entries)?;
        Ok(Self(Arc::new(Mutex::new(State {
            drive: drive.clone(),
            entries,
            journal: Some(journal),
            changed: false,
            over: false,
        }))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic does not invalidate the state: it still holds the old values.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the new values. A value that the kernel refuses is returned and not tried again; the others are set.
    ///
    /// # Errors
    /// [`HostError::NotFound`] if the drive is gone, or an error of the journal.
    pub fn apply(&self) -> Result<Vec<Refusal>, HostError> {
        let mut state = self.state();
        match state.over {
            true => Ok(Vec::new()),
            false => state.apply(None),
        }
    }

    /// Sets the old values, and then the new one of this attribute alone. A value that was refused before is left alone.
    ///
    /// # Errors
    /// As for [`QueueChange::apply`] and [`QueueChange::undo`].
    pub fn apply_only(&self, attribute: &str) -> Result<(), HostError> {
        let mut state = self.state();
        if state.over {
            return Ok(());
        }
        state.put_back()?;
        state.apply(Some(attribute)).map(drop)
    }

    /// Sets the old values; the journal stays.
    ///
    /// # Errors
    /// The error from the kernel. A drive that is gone is none: nothing is left to restore.
    pub fn undo(&self) -> Result<(), HostError> {
        let mut state = self.state();
        match state.over {
            true => Ok(()),
            false => state.put_back(),
        }
    }

    /// Sets the old values for good and removes the journal.
    ///
    /// # Errors
    /// As for [`QueueChange::undo`]; the journal stays then.
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

    /// Returns the attributes that are changed, with the old and the new values as the kernel shows them.
    pub fn changes(&self) -> Vec<[String; 3]> {
        let state = self.state();
        let entries = state.entries.iter();
        entries
            .filter_map(|entry| {
                let new = entry.seen.as_ref().or(entry.new.as_ref())?;
                Some([&entry.attribute, &entry.old, new].map(String::clone))
            })
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

impl State {
    fn queue(&self) -> PathBuf {
        self.drive.path_of("")
    }

    /// Sets the new values, or only that of one attribute.
    fn apply(&mut self, only: Option<&str>) -> Result<Vec<Refusal>, HostError> {
        let queue = self.queue();
        let mut refused = Vec::new();
        self.changed = true;
        let wanted = |entry: &&mut Entry| only.is_none_or(|name| entry.attribute == name);
        for entry in self.entries.iter_mut().filter(wanted) {
            let Some(new) = entry.new.clone() else {
                continue;
            };
            if let Err(error) = entry.change(&queue, &new) {
                if !queue.exists() {
                    return Err(HostError::NotFound { path: queue });
                }
                entry.new = None;
                refused.push(Refusal {
                    attribute: entry.attribute.clone(),
                    value: new,
                    error: error.to_string(),
                    help: help(&entry.attribute),
                });
                continue;
            }
            let now = entry.now(&queue);
            if now != entry.seen {
                entry.seen = now;
                let noted = self.journal.as_mut().map_or(Ok(()), |j| j.seen(entry));
                let path = queue.join(&entry.attribute);
                noted.map_err(|error| os_error(&path, "note its value", error))?;
            }
        }
        Ok(refused)
    }

    fn put_back(&mut self) -> Result<(), HostError> {
        if !self.changed {
            return Ok(());
        }
        put_back(&self.entries, &self.queue())?;
        self.changed = false;
        Ok(())
    }

    /// Ends the change, with the old values or the new ones.
    fn end(&mut self, old: bool) -> Result<(), HostError> {
        if self.over {
            return Ok(());
        }
        if old {
            self.put_back()?;
        }
        self.over = true;
        match self.journal.take() {
            Some(journal) => journal
                .remove()
                .map_err(|error| os_error(&self.drive.dir, "remove its journal", error)),
            None => Ok(()),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _nobody_is_left_to_tell = self.end(true);
    }
}

/// Sets the old values, each even if another one fails. A drive that is gone has none.
pub(super) fn put_back(entries: &[Entry], queue: &Path) -> Result<(), HostError> {
    if !queue.exists() {
        return Ok(());
    }
    let mut failed = None;
    for entry in entries {
        if let Err(error) = entry.put_back(queue) {
            let path = queue.join(&entry.attribute);
            failed.get_or_insert(os_error(&path, "put it back", error));
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Returns what can be done about a value that the kernel refuses.
fn help(attribute: &str) -> &'static str {
    match attribute {
        SCHEDULER => "load its module first, or build the kernel with it",
        "nr_requests" => {
            "with the scheduler `none` a drive takes no more requests than it has tags; another scheduler allows more"
        }
        "max_sectors_kb" => "a request is at most as long as `max_hw_sectors_kb`",
        "wbt_lat_usec" => {
            "throttling of write-back is not in this kernel, or the scheduler `bfq` does it; choose another scheduler"
        }
        "rq_affinity" => "this kernel or drive has no choice of the processor that completes",
        _ => "set another value by hand, or leave it",
    }
}

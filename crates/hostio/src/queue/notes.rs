//! What is noted in the journal while attributes are written: each one before it is written, and afterwards what the kernel
//! has changed with it.

use super::entry::Entry;
use super::journal::Journal;
use std::io;
use std::path::Path;

/// Notes of one writing of attributes.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    journal: Option<&'a mut Journal>,
    entries: Vec<Entry>,
    before: Vec<Option<String>>,
    noted: Noted,
}

/// What was noted.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// The attribute that was written last.
    pub(super) writing: Option<String>,
    /// Values that the kernel has made.
    pub(super) seen: Vec<[String; 2]>,
    /// The journal could not be written.
    pub(super) error: Option<io::Error>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(journal: Option<&'a mut Journal>, entries: &[Entry]) -> Self {
        Self {
            journal,
            entries: entries.to_vec(),
            before: Vec::new(),
            noted: Noted::default(),
        }
    }

    /// Notes that an attribute is being written.
    pub(super) fn before(&mut self, queue: &Path, attribute: &str) {
        self.noted.writing = Some(attribute.to_owned());
        self.before = self.entries.iter().map(|entry| entry.now(queue)).collect();
        let journal = self.journal.as_mut();
        let done = journal.map_or(Ok(()), |journal| journal.writing(attribute));
        self.noted.error = self.noted.error.take().or(done.err());
    }

    /// Notes what the kernel has changed since.
    pub(super) fn after(&mut self, queue: &Path) {
        let mut seen = Vec::new();
        for (entry, before) in self.entries.iter_mut().zip(&self.before) {
            let now = entry.now(queue);
            let Some(now) = now.filter(|now| Some(now) != before.as_ref() && !entry.knows(now))
            else {
                continue;
            };
            entry.seen.push(now.clone());
            seen.push([entry.attribute.clone(), now]);
        }
        let journal = self.journal.as_mut().filter(|_| !seen.is_empty());
        let done = journal.map_or(Ok(()), |journal| journal.seen(&seen));
        self.noted.error = self.noted.error.take().or(done.err());
        self.noted.seen.extend(seen);
    }

    /// Ends the writing.
    pub(super) fn end(self) -> Noted {
        self.noted
    }
}

//! The journal of a change: the drive and the old values, durable before the first attribute is written.
//!
//! A file of lines with fields between tabs; only its process holds its lock. Without the line `end` it was not complete,
//! and nothing was changed. The lines after it say what the kernel made of a value.

use super::drive::DriveQueue;
use super::entry::{Entry, is_attribute};
use crate::error::{HostError, os_error};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const FIRST: &str = "fathom queue journal 1";
const END: &str = "end";
const ENDING: &str = ".journal";

/// An open journal, locked.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

/// What a journal says.
#[derive(Debug)]
pub(super) struct Written {
    /// Name of the drive.
    pub(super) name: String,
    /// Number of its device.
    pub(super) number: String,
    /// The kernel's count of disks.
    pub(super) sequence: Option<u64>,
    /// The directory of the drive in sysfs.
    pub(super) dir: PathBuf,
    /// The attributes, in the order of restoring.
    pub(super) entries: Vec<Entry>,
}

impl Journal {
    /// Writes the journal of a change to `dir`, which is created.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`] if another process changes the same drive, or if one was killed while it did; an error of
    /// the system.
    pub(super) fn begin(
        dir: &Path,
        drive: &DriveQueue,
        entries: &[Entry],
    ) -> Result<Self, HostError> {
        fs::create_dir_all(dir).map_err(|e| os_error(dir, "create it", e))?;
        let path = dir.join(format!("{}{ENDING}", drive.name));
        let unsuitable = |what: &str, advice| HostError::Unsuitable {
            path: path.clone(),
            what: what.to_owned(),
            advice,
        };
        let failed = |e| os_error(&path, "write it", e);
        let Some(mut journal) = Self::lock(&path, true).map_err(failed)? else {
            return Err(unsuitable(
                "another process is changing the settings of this drive",
                "wait until it has ended",
            ));
        };
        if journal.file.metadata().map_err(failed)?.len() > 0 {
            return Err(unsuitable(
                "a process that was killed has left settings to restore",
                "run `fathom tune --restore` as root first",
            ));
        }
        journal.append(&header(drive, entries)).map_err(failed)?;
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        synced.map_err(failed)?;
        Ok(journal)
    }

    /// Opens a journal and locks it; `None` if its process is alive.
    pub(super) fn lock(path: &Path, create: bool) -> io::Result<Option<Self>> {
        loop {
            let file = OpenOptions::new()
                .read(true)
                .append(true)
                .create(create)
                .open(path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                locked => locked?,
            }
            // The process that held it may have removed it in between.
            let stands = fs::metadata(path).is_ok_and(|there| {
                file.metadata()
                    .is_ok_and(|ours| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
            });
            if stands {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    file,
                }));
            }
        }
    }

    /// Adds what the kernel made of a value.
    pub(super) fn seen(&mut self, entry: &Entry) -> io::Result<()> {
        let seen = entry.seen.as_deref().unwrap_or_default();
        self.append(&line(&["seen", &entry.attribute, seen]))
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.file.sync_all()
    }

    /// Reads it; `None` if it was not complete when its process ended.
    pub(super) fn read(&mut self) -> io::Result<Option<Written>> {
        let mut text = String::new();
        io::Seek::rewind(&mut self.file)?;
        self.file.read_to_string(&mut text)?;
        Ok(parse(&text))
    }

    /// Removes it: there is nothing left to restore.
    pub(super) fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Returns the journals in a directory.
pub(super) fn all(dir: &Path) -> Vec<PathBuf> {
    let names = crate::sysfs::names_in(dir).into_iter();
    names
        .filter(|name| name.ends_with(ENDING))
        .map(|name| dir.join(name))
        .collect()
}

fn line(fields: &[&str]) -> String {
    // A path in sysfs has no tab, and an attribute's text is one line.
    let plain = |field: &&str| field.replace(['\t', '\n'], " ");
    let fields: Vec<String> = fields.iter().map(plain).collect();
    fields.join("\t") + "\n"
}

fn header(drive: &DriveQueue, entries: &[Entry]) -> String {
    let sequence = drive.sequence.map(|n| n.to_string()).unwrap_or_default();
    let dir = drive.dir.to_string_lossy();
    let mut text = line(&[FIRST]);
    text += &line(&["drive", &drive.name, &drive.number, &sequence, &dir]);
    for entry in entries {
        text += &match &entry.new {
            Some(new) => line(&["set", &entry.attribute, &entry.old, new]),
            None => line(&["keep", &entry.attribute, &entry.old]),
        };
    }
    text + &line(&[END])
}

fn parse(text: &str) -> Option<Written> {
    let mut lines = text.split_inclusive('\n');
    // A line without its end was not written whole.
    let mut next = || {
        let line = lines.next()?.strip_suffix('\n')?;
        Some(line.split('\t').collect::<Vec<_>>())
    };
    (next()?.as_slice() == [FIRST]).then_some(())?;
    let drive = next()?;
    let ["drive", name, number, sequence, dir] = drive[..] else {
        return None;
    };
    let mut written = Written {
        name: name.to_owned(),
        number: number.to_owned(),
        sequence: sequence.parse().ok(),
        dir: PathBuf::from(dir),
        entries: Vec::new(),
    };
    loop {
        let fields = next()?;
        let (attribute, old, new) = match fields[..] {
            [END] => break,
            ["set", attribute, old, new] => (attribute, old, Some(new)),
            ["keep", attribute, old] => (attribute, old, None),
            _ => return None,
        };
        written.entries.push(Entry {
            attribute: is_attribute(attribute).then(|| attribute.to_owned())?,
            old: old.to_owned(),
            new: new.map(str::to_owned),
            seen: None,
        });
    }
    while let Some(fields) = next() {
        if let ["seen", attribute, seen] = fields[..] {
            let mut entries = written.entries.iter_mut();
            if let Some(entry) = entries.find(|entry| entry.attribute == attribute) {
                entry.seen = Some(seen.to_owned());
            }
        }
    }
    Some(written)
}

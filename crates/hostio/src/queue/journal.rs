//! The journal of a change: the drive and the old values, durable before the first attribute is written.
//!
//! A file of lines with fields between tabs; only its process holds its lock. It gets its name when it is complete, up to
//! the line `end`. The lines after it say when attributes are written, and what the kernel made of them.

use super::drive::DriveQueue;
use super::entry::Entry;
use super::lock::DriveLock;
use super::written::{DRIVE, END, FIRST, KEEP, OWN, READ, SEEN, SET, WRITING};
use crate::error::{HostError, os_error};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const ENDING: &str = ".journal";
/// Ending of a journal that is not complete.
const BEGUN: &str = ".begun";

/// An open journal, locked.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// That of the drive whose settings are changed.
    drive: Option<DriveLock>,
}

impl Journal {
    /// Writes the journal of a change to `dir`, which is created.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`] if a process was killed while it changed the drive; an error of the system.
    pub(super) fn begin(
        dir: &Path,
        drive: &DriveQueue,
        entries: &[Entry],
        lock: DriveLock,
    ) -> Result<Self, HostError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => os_error(dir, "write a journal in it", error),
            _ => HostError::Unsuitable {
                path: dir.to_owned(),
                what: format!("no journal of the old values can be written there: {error}"),
                advice: "name another directory with `--journal`, such as one below /run",
            },
        };
        let path = dir.join(format!("{}{ENDING}", drive.name));
        let begun = dir.join(format!("{}{ENDING}{BEGUN}", drive.name));
        let unsuitable = |what: &str, advice| HostError::Unsuitable {
            path: path.clone(),
            what: what.to_owned(),
            advice,
        };
        fs::create_dir_all(dir).map_err(failed)?;
        let none = Self::lock(&path, false).err();
        if none.is_none_or(|error| error.kind() != io::ErrorKind::NotFound) {
            return Err(unsuitable(
                "a process that was killed has left settings to restore",
                "run `fathom tune --restore` as root; where it calls this journal damaged, put back its values by hand and remove it",
            ));
        }
        let journal = Self::lock(&begun, true).map_err(failed)?;
        let mut journal = journal.ok_or_else(|| {
            unsuitable(
                "another drive of this name is being changed",
                "name another directory with `--journal`, such as one below /run",
            )
        })?;
        journal.drive = Some(lock);
        let written = journal.complete(&header(drive, entries), &path);
        let synced = written.and_then(|()| File::open(dir)?.sync_all());
        match synced {
            Ok(()) => Ok(journal),
            Err(error) => {
                let _it_is_not_needed = journal.remove();
                Err(failed(error))
            }
        }
    }

    /// Writes the whole of it and gives it its name.
    fn complete(&mut self, text: &str, path: &Path) -> io::Result<()> {
        self.file.set_len(0)?;
        self.append(text)?;
        fs::rename(&self.path, path)?;
        path.clone_into(&mut self.path);
        Ok(())
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
                    drive: None,
                }));
            }
        }
    }

    /// Adds that an attribute is being written.
    pub(super) fn writing(&mut self, attribute: &str) -> io::Result<()> {
        self.append(&line(&[WRITING, attribute]))
    }

    /// Adds values that the kernel has made.
    pub(super) fn seen(&mut self, seen: &[[String; 2]]) -> io::Result<()> {
        let seen = seen.iter().map(|[name, value]| line(&[SEEN, name, value]));
        self.append(&seen.collect::<String>())
    }

    /// Adds that all attributes were read again, values that the kernel has made, and attributes of the scheduler that was
    /// switched to.
    pub(super) fn read_again(
        &mut self,
        seen: &[[String; 2]],
        own: &[[String; 2]],
    ) -> io::Result<()> {
        let seen = seen.iter().map(|[name, value]| line(&[SEEN, name, value]));
        let own = own.iter().map(|[name, value]| line(&[OWN, name, value]));
        let text = seen.chain(own).collect::<String>() + &line(&[READ]);
        self.append(&text)
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.file.sync_all()
    }

    /// Reads all of it.
    pub(super) fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::Seek::rewind(&mut self.file)?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
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
    text += &line(&[DRIVE, &drive.name, &drive.number, &sequence, &dir]);
    for entry in entries {
        text += &match &entry.new {
            Some(new) => line(&[SET, &entry.attribute, &entry.old, new]),
            None => line(&[KEEP, &entry.attribute, &entry.old]),
        };
    }
    text + &line(&[END])
}

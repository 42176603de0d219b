//! Reading a journal. One that is damaged is told with the line, and nothing of it is believed.

use super::entry::{Entry, is_attribute};
use std::path::PathBuf;

/// The first line, with the version of the format.
pub(super) const FIRST: &str = "fathom queue journal 2";
/// The drive: name, number, count of disks, directory.
pub(super) const DRIVE: &str = "drive";
/// An attribute that is to be changed: name, old value, new value.
pub(super) const SET: &str = "set";
/// An attribute that is to keep its value: name, value.
pub(super) const KEEP: &str = "keep";
/// The end of what is written before the first change.
pub(super) const END: &str = "end";
/// An attribute is being written: name.
pub(super) const WRITING: &str = "writing";
/// A value that the kernel has made: name, value.
pub(super) const SEEN: &str = "seen";
/// An attribute of the scheduler that was switched to: name, value.
pub(super) const OWN: &str = "own";
/// All attributes were read again.
pub(super) const READ: &str = "read";

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
    /// The attributes, in the order of writing.
    pub(super) entries: Vec<Entry>,
    /// Attributes of the scheduler that was switched to, with every value that was seen.
    pub(super) own: Vec<[String; 2]>,
    /// The process ended while it wrote attributes, of which this was the last one.
    pub(super) writing: Option<String>,
}

/// Reads a journal.
///
/// # Errors
/// What is damaged, in words.
pub(super) fn parse(bytes: &[u8]) -> Result<Written, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    // A process that was killed may have left its last line without an end: what it says had not begun.
    let text = text.rfind('\n').map_or("", |last| &text[..last]);
    let mut lines = text.split('\n').map(|line| line.split('\t').collect());
    let first: Vec<&str> = lines.next().unwrap_or_default();
    if first != [FIRST] {
        return Err(format!("its first line is not `{FIRST}`"));
    }
    let drive: Vec<&str> = lines.next().unwrap_or_default();
    let [DRIVE, name, number, sequence, dir] = drive[..] else {
        return Err("its line 2 does not name the drive".to_owned());
    };
    let mut written = Written {
        name: name.to_owned(),
        number: number.to_owned(),
        sequence: sequence.parse().ok(),
        dir: PathBuf::from(dir),
        entries: Vec::new(),
        own: Vec::new(),
        writing: None,
    };
    let mut ended = false;
    for (number, fields) in lines.enumerate() {
        let fields: Vec<&str> = fields;
        let known = match ended {
            false => written.before(&fields),
            true => written.after(&fields),
        };
        known.ok_or_else(|| format!("its line {} cannot be read", number + 3))?;
        ended |= fields == [END];
    }
    match ended {
        true => Ok(written),
        false => Err(format!("it was cut short: the line `{END}` is missing")),
    }
}

impl Written {
    /// Reads a line up to the end of what is written before the first change.
    fn before(&mut self, fields: &[&str]) -> Option<()> {
        let (attribute, old, new) = match fields {
            [END] => return Some(()),
            [SET, attribute, old, new] => (attribute, old, Some(new)),
            [KEEP, attribute, old] => (attribute, old, None),
            _ => return None,
        };
        is_attribute(attribute).then_some(())?;
        self.entries.push(Entry {
            new: new.map(|new| (*new).to_owned()),
            ..Entry::kept((*attribute).to_owned(), (*old).to_owned())
        });
        Some(())
    }

    /// Reads a line of what is written later.
    fn after(&mut self, fields: &[&str]) -> Option<()> {
        match fields {
            [WRITING, attribute] => {
                is_attribute(attribute).then_some(())?;
                self.writing = Some((*attribute).to_owned());
            }
            [READ] => self.writing = None,
            [OWN, attribute, value] => {
                is_attribute(attribute).then_some(())?;
                self.own.push([*attribute, *value].map(str::to_owned));
            }
            [SEEN, attribute, value] => {
                let mut entries = self.entries.iter_mut();
                let entry = entries.find(|entry| entry.attribute == *attribute)?;
                entry.seen.push((*value).to_owned());
            }
            _ => return None,
        }
        Some(())
    }
}

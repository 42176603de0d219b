//! Reader of fio's I/O logs, versions 2 and 3 (fio(1), *Trace file format*).
//!
//! The manual does not give the unit of version 3's timestamps. fio writes microseconds since the start (`log_io_u` in
//! iolog.c, `utime_since_now`), and on reading waits for their differences in microseconds.

use crate::fault::{Fault, What};
use crate::fields::{Fields, malformed, too_large, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;
use std::collections::BTreeMap;

pub(super) const ABOUT: About = About::new("fio iolog, versions 2 and 3").text(
    "\
The first line is `fio version 2 iolog` or `fio version 3 iolog`. Then follow `file action` for add, open and close, and
`file action offset length` for read, write, trim, sync, datasync, sync_file_range and wait, in bytes; version 3 has a
timestamp in microseconds before each, and no wait.
In version 2 only `wait` lines have a time, in microseconds since the wait before (fio's manual); without any, every
access is at time 0. Syncs become flushes. Files become disks, numbered by first appearance.",
);

/// Maximum number of distinct files. Their names are the only part of the trace that the reader keeps.
const FILES_MAX: usize = 65_536;
/// Maximum length of a file name, in bytes; fio's reader has the same limit.
const NAME_BYTES_MAX: usize = 256;

const ACTIONS: &str =
    "read, write, trim, sync, datasync, sync_file_range, wait (version 2), add, open and close";

struct Fio {
    version: Option<u8>,
    at_ns: u64,
    files: Files,
}

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Fio {
        version: None,
        at_ns: 0,
        files: Files::default(),
    })
}

impl LineParser for Fio {
    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let version = match (self.version, version(line)) {
            // Concatenated logs repeat the first line.
            (_, Ok(version)) => {
                self.version = Some(version);
                return Ok(Line::Event);
            }
            (None, Err(fault)) => return Err(fault),
            (Some(version), Err(_)) => version,
        };
        let mut fields = Fields::new(line, b' ');
        if version == 3 {
            self.at_ns = fields.scaled("timestamp", 1_000)?;
        }
        let file = fields.next("filename")?;
        let disk = self.files.number(file)?;
        let action = fields.next("action")?;
        let op = match action {
            b"add" | b"open" | b"close" => {
                fields.end()?;
                return Ok(Line::Event);
            }
            b"wait" if version == 2 => return self.wait(fields),
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            _ => return Err(unknown_op("action", action, ACTIONS)),
        };
        let offset = fields.number("offset")?;
        let len = fields.number("length")?;
        fields.end()?;
        match op {
            Op::Flush => access(self.at_ns, op, 0, 0, disk),
            _ => access(self.at_ns, op, offset, len, disk),
        }
    }
}

impl Fio {
    fn wait<'a>(&mut self, mut fields: Fields<'a>) -> Result<Line, Fault<'a>> {
        let wait_ns = fields.scaled("offset", 1_000)?;
        self.at_ns = self
            .at_ns
            .checked_add(wait_ns)
            .ok_or(too_large("offset", b"the sum of all waits"))?;
        Ok(Line::Event)
    }
}

fn version(line: &[u8]) -> Result<u8, Fault<'_>> {
    match line {
        b"fio version 2 iolog" => Ok(2),
        b"fio version 3 iolog" => Ok(3),
        _ => Err(malformed(
            "first line",
            line,
            "\"fio version 2 iolog\" or \"fio version 3 iolog\"",
        )),
    }
}

/// Maps file names to disk numbers.
#[derive(Default)]
struct Files {
    numbers: BTreeMap<Box<[u8]>, u32>,
    /// The last name looked up and its number: logs name the same file many times in a row.
    last: (Box<[u8]>, u32),
}

impl Files {
    fn number<'a>(&mut self, name: &'a [u8]) -> Result<u32, Fault<'a>> {
        if *self.last.0 == *name {
            return Ok(self.last.1);
        }
        if name.len() > NAME_BYTES_MAX {
            return Err(malformed("filename", name, "a name of at most 256 bytes"));
        }
        let next = self.numbers.len();
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None if next >= FILES_MAX => {
                return Err(Fault {
                    what: What::TooManyFiles(FILES_MAX),
                    field: "filename",
                    found: name,
                });
            }
            None => {
                self.numbers.insert(name.into(), next as u32);
                next as u32
            }
        };
        self.last = (name.into(), number);
        Ok(number)
    }
}

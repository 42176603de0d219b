//! Operations on files by name, one a line: what a program does to a file system, without when.
//!
//! The form of a line is `M DIRECTORY`, `C FILE BYTES` (create and write), `A FILE BYTES` (append), `R FILE BYTES` (read),
//! `D FILE` (delete), `m DIRECTORY` (remove), `S` (sync all). Names have no spaces. `DIRECTORY/FILE` is a file in a
//! directory of the root, `FILE` a file in the root.

use std::fmt;
use std::str::FromStr;

/// An operation on a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Makes a directory.
    MakeDirectory(String),
    /// Creates a file and writes this many bytes.
    Create(String, u64),
    /// Appends this many bytes to a file.
    Append(String, u64),
    /// Reads this many bytes from the beginning of a file.
    Read(String, u64),
    /// Deletes a file.
    Delete(String),
    /// Removes an empty directory.
    RemoveDirectory(String),
    /// Writes all that is dirty to the drive, and waits for it.
    Sync,
}

/// A line that is no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{line}` is no file operation: expected `M DIRECTORY`, `C|A|R FILE BYTES`, `D FILE`, `m DIRECTORY` or `S`"
)]
pub struct BadOperation {
    /// The line.
    pub line: String,
}

impl FromStr for Operation {
    type Err = BadOperation;

    fn from_str(line: &str) -> Result<Self, BadOperation> {
        let bad = || BadOperation { line: line.into() };
        let bytes = |word: &str| word.parse::<u64>().map_err(|_| bad());
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().ok_or_else(bad)?;
        let operation = match (kind, words.next(), words.next()) {
            ("M", Some(path), None) => Self::MakeDirectory(path.into()),
            ("C", Some(path), Some(len)) => Self::Create(path.into(), bytes(len)?),
            ("A", Some(path), Some(len)) => Self::Append(path.into(), bytes(len)?),
            ("R", Some(path), Some(len)) => Self::Read(path.into(), bytes(len)?),
            ("D", Some(path), None) => Self::Delete(path.into()),
            ("m", Some(path), None) => Self::RemoveDirectory(path.into()),
            ("S", None, None) => Self::Sync,
            _ => return Err(bad()),
        };
        match words.next() {
            None => Ok(operation),
            Some(_) => Err(bad()),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakeDirectory(path) => write!(f, "M {path}"),
            Self::Create(path, bytes) => write!(f, "C {path} {bytes}"),
            Self::Append(path, bytes) => write!(f, "A {path} {bytes}"),
            Self::Read(path, bytes) => write!(f, "R {path} {bytes}"),
            Self::Delete(path) => write!(f, "D {path}"),
            Self::RemoveDirectory(path) => write!(f, "m {path}"),
            Self::Sync => write!(f, "S"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_is_written() {
        for line in [
            "M s0",
            "C s0/1 512",
            "A s0/1 7",
            "R s0/1 519",
            "D s0/1",
            "m s0",
            "S",
        ] {
            assert_eq!(line.parse::<Operation>().unwrap().to_string(), line);
        }
        for line in [
            "",
            "C s0/1",
            "C s0/1 many",
            "D",
            "S 3",
            "C a 1 2",
            "X a",
            "A a -1",
        ] {
            let error = line.parse::<Operation>().unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("`{line}`")),
                "{error}"
            );
        }
    }
}

//! `sums.txt`: which files of a directory belong together, and their checksums.
//!
//! The file has one line per file with its CRC-32C (Castagnoli, as in iSCSI and ext4), its length in bytes and its name,
//! sorted by name; one line per name that no longer belongs to the set; and a last line with the sum of all lines before
//! it. A CRC-32C detects every burst of up to 32 bits and, within 256 MiB, any change of two bits. It detects damage, not
//! tampering. The file is not hidden, so that a copy of the directory includes it.

use super::error::StoreError;
use super::names::SUMS_FILE;
use crate::text;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

const HEAD: &str =
    "# Files that belong together: CRC-32C, length in bytes, name. Written by Fathom.\nformat ";
const FORMAT: u32 = 1;
/// Size of the reads when a file is summed, in bytes.
const PIECE: usize = 1 << 18;

/// Checksum and length of a file when it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) crc: u32,
    pub(super) bytes: u64,
}

impl Sum {
    /// Appends bytes to the sum.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.crc = crc32c::crc32c_append(self.crc, bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Computes the sum of a whole file, and rewinds it to its beginning.
    pub(super) fn of(file: &mut File) -> io::Result<Sum> {
        let len = usize::try_from(file.metadata()?.len()).unwrap_or(PIECE);
        // One byte more than a short file has, so that the first read sees the end.
        let mut piece = vec![0; len.saturating_add(1).min(PIECE)];
        let mut sum = Sum::default();
        file.rewind()?;
        loop {
            match file.read(&mut piece)? {
                0 => break,
                len => sum.append(&piece[..len]),
            }
        }
        file.rewind()?;
        Ok(sum)
    }
}

/// The sums of the files of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) files: BTreeMap<String, Sum>,
    /// Names of files that no longer belong to the set, but may still exist.
    pub(super) gone: BTreeSet<String>,
}

impl Sums {
    /// Reads the sums of a directory; `None` if it has none.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::Damaged`] or [`StoreError::Newer`].
    pub(super) fn read(dir: &Path) -> Result<Option<Sums>, StoreError> {
        let path = dir.join(SUMS_FILE);
        regular(&path)?;
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if is_absent(&e) => return Ok(None),
            Err(e) => return Err(StoreError::io("read", &path, e)),
        };
        let damaged = |detail: &str| StoreError::Damaged {
            path: path.clone(),
            detail: detail.to_owned(),
        };
        let whole =
            checked(&bytes).ok_or_else(|| damaged("its lines do not match its last one"))?;
        let (format, lines) = whole
            .strip_prefix(HEAD)
            .and_then(|rest| rest.split_once('\n'))
            .ok_or_else(|| damaged("it does not begin as it should"))?;
        match format.parse() {
            Ok(FORMAT) => {}
            Ok(found) => {
                return Err(StoreError::Newer {
                    path,
                    found,
                    known: FORMAT,
                });
            }
            Err(_) => return Err(damaged("its format is no number")),
        }
        let mut sums = Sums::default();
        for line in lines.lines() {
            sums.line(line)
                .ok_or_else(|| damaged(&format!("`{line}` is no line of it")))?;
        }
        Ok(Some(sums))
    }

    fn line(&mut self, line: &str) -> Option<()> {
        if let Some(name) = line.strip_prefix("gone ") {
            self.gone.insert(name.to_owned());
            return Some(());
        }
        let (crc, rest) = line.split_once(' ')?;
        let (bytes, name) = rest.trim_start().split_once(' ')?;
        let sum = Sum {
            crc: u32::from_str_radix(crc, 16).ok()?,
            bytes: bytes.parse().ok()?,
        };
        self.files.insert(name.to_owned(), sum);
        Some(())
    }

    /// Formats the sums as the text of the file. Equal sets give equal text.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{HEAD}{FORMAT}\n");
        for (name, sum) in &self.files {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:08x} {:>12} {name}", sum.crc, sum.bytes);
        }
        for name in &self.gone {
            let _ = writeln!(text, "gone {name}");
        }
        let sum = crc32c::crc32c(text.as_bytes());
        text + &format!("{sum:08x} sums\n")
    }
}

/// Returns the lines before the last one, if the last one holds their sum.
fn checked(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let lines = text.strip_suffix(" sums\n")?;
    let (whole, digits) = lines.split_at_checked(lines.len().checked_sub(8)?)?;
    let sum = crc32c::crc32c(whole.as_bytes());
    (format!("{sum:08x}") == digits).then_some(whole)
}

/// Checks that a file, if it exists, is a regular one.
pub(crate) fn regular(path: &Path) -> Result<(), StoreError> {
    text::look(path, None).map_err(|why| StoreError::io("read", path, text::unfit(why)))
}

/// Returns true if the error means that the file does not exist.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums() -> Sums {
        let mut sums = Sums::default();
        for (name, bytes) in [("run.json", &b"{}"[..]), ("record.parquet", b"PAR1")] {
            let mut sum = Sum::default();
            sum.append(bytes);
            sums.files.insert(name.into(), sum);
        }
        sums.gone.insert("profile.toml".into());
        sums
    }

    fn written(dir: &Path, text: &[u8]) -> Result<Option<Sums>, StoreError> {
        std::fs::write(dir.join(SUMS_FILE), text).unwrap();
        Sums::read(dir)
    }

    #[test]
    fn it_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Sums::read(dir.path()).unwrap(), None);
        for sums in [sums(), Sums::default()] {
            let read = written(dir.path(), sums.to_text().as_bytes());
            assert_eq!(read.unwrap(), Some(sums));
        }
        // RFC 3720, B.4: 32 bytes of zeros.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let text = sums().to_text().into_bytes();
        for bit in 0..text.len() * 8 {
            let mut flipped = text.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(written(dir.path(), &flipped).is_err(), "bit {bit}");
        }
        for len in 0..text.len() {
            assert!(written(dir.path(), &text[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn one_of_a_later_version_is_told_so() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("{HEAD}2\nwhat it likes\n");
        let sum = crc32c::crc32c(text.as_bytes());
        let read = written(dir.path(), format!("{text}{sum:08x} sums\n").as_bytes());
        assert!(matches!(read, Err(StoreError::Newer { found: 2, .. })));
    }
}

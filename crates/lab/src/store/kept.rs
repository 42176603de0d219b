//! Reads stored files. Every file is checked against its sum in `sums.txt` before it is used.
//!
//! A file that no `sums.txt` names is read with a note that damage in it would not be noticed. That is a run of a version
//! without sums, or a file that was copied away from its set.

use super::error::StoreError;
use super::names::SUMS_FILE;
use super::settle::NEXT;
use super::sums::{Sum, Sums, is_absent, regular};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// A loaded value, with notes for its reader.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Loaded<T> {
    /// The value.
    pub value: T,
    /// Warnings, one sentence each.
    pub notes: Vec<String>,
}

impl<T> Loaded<T> {
    /// Converts the value and keeps the notes.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded {
            value: change(self.value),
            notes: self.notes,
        }
    }
}

/// A directory to read files from.
pub(super) struct Kept {
    dir: PathBuf,
    sums: Option<Sums>,
}

/// A file that matches its sum, or that has none.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// True if it was checked against a sum.
    pub(super) checked: bool,
}

impl Kept {
    /// Runs `read` on the files of one set. If another set takes its place meanwhile, `read` is repeated.
    ///
    /// # Errors
    /// Those of `read`, and those of a damaged `sums.txt`.
    pub(super) fn with<T>(
        dir: &Path,
        read: impl Fn(&Kept) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut sums = Sums::read(dir)?;
        loop {
            let kept = Kept {
                dir: dir.to_owned(),
                sums,
            };
            let done = read(&kept);
            let now = Sums::read(dir)?;
            if now == kept.sums {
                return done;
            }
            sums = now;
        }
    }

    /// Opens a file, positioned at its beginning.
    ///
    /// # Errors
    /// - [`StoreError::Missing`] or [`StoreError::Io`].
    /// - [`StoreError::Damaged`] if the file does not match its sum.
    /// - [`StoreError::Gone`] if the set names the file but it does not exist.
    pub(super) fn open(&self, name: impl AsRef<OsStr>) -> Result<Opened, StoreError> {
        let name = name.as_ref();
        let path = self.dir.join(name);
        // All of Fathom's own file names are valid UTF-8.
        let known = self.sums.as_ref().zip(name.to_str());
        if known.is_some_and(|(sums, name)| sums.gone.contains(name)) {
            return Err(StoreError::Missing { path });
        }
        regular(&path)?;
        match known.and_then(|(sums, name)| Some((name, sums.files.get(name)?))) {
            Some((name, sum)) => self.open_checked(name, path, *sum),
            None => {
                let file = File::open(&path).map_err(|e| StoreError::reading(&path, e))?;
                let checked = false;
                Ok(Opened {
                    path,
                    file,
                    checked,
                })
            }
        }
    }

    fn open_checked(&self, name: &str, path: PathBuf, sum: Sum) -> Result<Opened, StoreError> {
        let mut told = StoreError::Gone { path: path.clone() };
        let next = self.dir.join(NEXT).join(name);
        // While a set is put in place, some files are still in `.fathom-next`, and may move to their place during the
        // search.
        for at in [path.clone(), next, path.clone()] {
            match held_to(&at, sum) {
                Ok(Held::Same(file)) => {
                    return Ok(Opened {
                        path,
                        file,
                        checked: true,
                    });
                }
                Ok(Held::Other(found)) => told = differs(path.clone(), sum, found),
                Err(e) if is_absent(&e) => {}
                Err(e) => return Err(StoreError::io("read", &path, e)),
            }
        }
        Err(told)
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// Those of [`Kept::open`].
    pub(super) fn read(&self, name: impl AsRef<OsStr>) -> Result<(Vec<u8>, Opened), StoreError> {
        let mut opened = self.open(name)?;
        let mut bytes = Vec::new();
        let read = opened.file.read_to_end(&mut bytes);
        read.map_err(|e| StoreError::io("read", &opened.path, e))?;
        Ok((bytes, opened))
    }
}

impl Opened {
    /// Returns a note if the file was not checked against a sum.
    pub(super) fn note(&self) -> Option<String> {
        (!self.checked).then(|| {
            let path = self.path.display();
            format!(
                "{path} has no checksum, so that damage in it is not noticed: no {SUMS_FILE} beside it names it. Runs of \
                 this version have one"
            )
        })
    }
}

enum Held {
    Same(File),
    Other(Sum),
}

fn held_to(path: &Path, sum: Sum) -> io::Result<Held> {
    let mut file = File::open(path)?;
    let found = Sum::of(&mut file)?;
    Ok(if found == sum {
        Held::Same(file)
    } else {
        Held::Other(found)
    })
}

fn differs(path: PathBuf, wanted: Sum, found: Sum) -> StoreError {
    let detail = if found.bytes == wanted.bytes {
        format!("it does not match its checksum in {SUMS_FILE}")
    } else {
        let (found, wanted) = (found.bytes, wanted.bytes);
        format!("it has {found} bytes, and {wanted} when it was written ({SUMS_FILE})")
    };
    StoreError::Damaged { path, detail }
}

/// Returns the directory and the file name: `name` in the directory `run`, or `run` itself if it is a file.
pub(super) fn place_of<'a>(run: &'a Path, name: &'a str) -> (&'a Path, &'a OsStr) {
    match (run.parent(), run.file_name()) {
        (Some(dir), Some(own)) if run.is_file() => (dir, own),
        _ => (run, OsStr::new(name)),
    }
}

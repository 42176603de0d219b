//! Reading what is kept: every file is held to its sum in `sums.txt` before anybody looks into it.
//!
//! A file that no `sums.txt` names is read, and a note says that damage in it would not be noticed: a run of a version that
//! kept no sums, or a file that was copied away from its set.

use super::error::StoreError;
use super::names::SUMS_FILE;
use super::settle::NEXT;
use super::sums::{Sum, Sums, is_absent, regular};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// What was read, and what its reader should know of it.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// What to warn of, a sentence each.
    pub notes: Vec<String>,
}

impl<T> Loaded<T> {
    /// Something else made of it.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded {
            value: change(self.value),
            notes: self.notes,
        }
    }
}

/// A directory whose files are read.
pub(super) struct Kept {
    dir: PathBuf,
    sums: Option<Sums>,
}

/// A file that is as it was written, or of which nothing is known.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Whether it was held to a sum.
    pub(super) checked: bool,
}

impl Kept {
    /// Reads files of one set. Where another set takes its place meanwhile, they are read again.
    ///
    /// # Errors
    /// Those of `read`, and those of a `sums.txt` that is damaged.
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

    /// Opens a file, at its beginning.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Io`]; [`StoreError::Damaged`] where it is not what it was, [`StoreError::Gone`]
    /// where it was and is not.
    pub(super) fn open(&self, name: impl AsRef<OsStr>) -> Result<Opened, StoreError> {
        let name = name.as_ref();
        let path = self.dir.join(name);
        // No name of ours is anything but text.
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
        // A set that is being put in place is in `.fathom-next` in part, from where it may go to its place meanwhile.
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

    /// The bytes of a file.
    ///
    /// # Errors
    /// As [`Kept::open`].
    pub(super) fn read(&self, name: impl AsRef<OsStr>) -> Result<(Vec<u8>, Opened), StoreError> {
        let mut opened = self.open(name)?;
        let mut bytes = Vec::new();
        let read = opened.file.read_to_end(&mut bytes);
        read.map_err(|e| StoreError::io("read", &opened.path, e))?;
        Ok((bytes, opened))
    }
}

impl Opened {
    /// What to say where it was held to no sum.
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

/// The directory and the name of a file of a run: of a directory that one, of a file itself.
pub(super) fn place_of<'a>(run: &'a Path, name: &'a str) -> (&'a Path, &'a OsStr) {
    match (run.parent(), run.file_name()) {
        (Some(dir), Some(own)) if run.is_file() => (dir, own),
        _ => (run, OsStr::new(name)),
    }
}

//! Errors of runs on disk.

use super::names::{PROFILE_FILE, REQUESTS_FILE, RUN_FILE, SUMS_FILE};
use super::set_kind::SetKind;
use std::io;
use std::path::{Path, PathBuf};

/// Error while reading or writing a run: what happened, and where. [`StoreError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system reported an error.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation: `read`, `write`, `create`, `remove`.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is no such run.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// A file of a run has been removed.
    #[error("{} is missing, and {SUMS_FILE} beside it names it", path.display())]
    Gone {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// The path exists, but is not a directory.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// The path that is in the way.
        path: PathBuf,
    },
    /// The path exists, but is not a file.
    #[error("{} is {what}, which a file would replace", path.display())]
    NotAFile {
        /// The path that is in the way.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// The directory holds a measurement of a real drive.
    #[error("{} holds a measurement of a real drive", path.display())]
    Occupied {
        /// The record in the way.
        path: PathBuf,
        /// True if that run was completed.
        complete: bool,
    },
    /// The directory holds a record that cannot be read, which may be that of a real drive.
    #[error("{} cannot be read, and may be the measurement of a real drive", path.display())]
    Unreadable {
        /// The record in the way.
        path: PathBuf,
        /// Why it cannot be read.
        source: Box<StoreError>,
    },
    /// The directory holds a set of another kind.
    #[error("{} holds {}, and {} would be mixed with it", path.display(), there.words(), wanted.words())]
    OtherKind {
        /// The directory.
        path: PathBuf,
        /// The kind that it holds.
        there: SetKind,
        /// The kind that was to be written.
        wanted: SetKind,
    },
    /// The file is not a Parquet file, or not one of Fathom's.
    #[error("{} is not a record of Fathom's: {detail}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is missing.
        detail: String,
    },
    /// The file is not the record of a workload run.
    #[error("{} is not a run of a workload: {detail}", path.display())]
    NotARun {
        /// The file.
        path: PathBuf,
        /// What is missing.
        detail: String,
    },
    /// The file is truncated.
    #[error("{} is truncated: its end is missing after {len} bytes", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        len: u64,
    },
    /// The file has the right structure but wrong contents.
    #[error("{} is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The mismatch.
        detail: String,
    },
    /// The file was written by a later version of Fathom.
    #[error("{} has format {found}; this version reads format {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The latest format version that this program knows.
        known: u32,
    },
    /// The file is not a valid profile.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Profile {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// The fault, and the key.
        detail: String,
    },
    /// The run cannot be expressed in the file's format.
    #[error("{what} cannot be written: {detail}")]
    Encode {
        /// The file.
        what: &'static str,
        /// The reason.
        detail: String,
    },
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            Self::Missing {
                path: path.to_owned(),
            }
        } else {
            Self::io("read", path, source)
        }
    }

    /// Returns advice on how to resolve the error.
    pub fn help(&self) -> String {
        match self {
            Self::Io { doing: "create a file in", source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "create it first, or choose another place".into()
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    "give yourself permission, or choose another place".into()
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room or choose another place; nothing half-written was left behind".into()
                }
                io::ErrorKind::ResourceBusy => {
                    "wait until nobody else writes there; if nobody does, remove the `.fathom-next` in it".into()
                }
                _ => "check the path and the medium that holds it".into(),
            },
            Self::Missing { path } if path.ends_with(RUN_FILE) => {
                "name a directory that `fathom run --out` or `fathom study` has written".into()
            }
            Self::NotARun { .. } => {
                "name a directory that `fathom run --out` has written, or its run.json".into()
            }
            Self::Missing { .. } => "name a directory that `fathom probe --out` has written".into(),
            Self::Gone { path } => damaged_help(path),
            Self::OtherKind { path, .. } => {
                format!("choose another directory, or move {} away", path.display())
            }
            Self::NotADirectory { .. } => "name a directory; it need not exist yet".into(),
            Self::NotAFile { .. } => "name a file; it need not exist yet".into(),
            Self::Occupied { path, complete } => {
                let dir = path.parent().unwrap_or(path).display();
                if *complete {
                    format!("choose another directory, or move {dir} away")
                } else {
                    format!("go on with `fathom probe --resume {dir}`, or choose another directory")
                }
            }
            Self::Unreadable { path, .. } => {
                let dir = path.parent().unwrap_or(path).display();
                format!("choose another directory, or move {dir} away")
            }
            Self::Foreign { .. } => {
                "name the directory of a run; its record.parquet is read".into()
            }
            Self::Truncated { path, .. } | Self::Damaged { path, .. } => damaged_help(path),
            Self::Newer { .. } => "read it with the version of Fathom that wrote it".into(),
            Self::Profile { path, .. } if path.file_name().is_some_and(|n| n == PROFILE_FILE) => {
                let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
                let dir = dir.unwrap_or(Path::new(".")).display();
                format!("`fathom solve {dir}` writes the profile again from the record")
            }
            Self::Profile { .. } => {
                "correct it there, or name the directory of the run that the profile was copied from".into()
            }
            Self::Encode { .. } => "report this with the command: it is a fault of Fathom's".into(),
        }
    }
}

/// Returns advice for a damaged file.
fn damaged_help(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    match name {
        Some(PROFILE_FILE) => {
            let dir = path.parent().unwrap_or(path).display();
            format!(
                "`fathom solve {dir}` writes the profile again from the record; one that you have changed yourself is read \
                 where no sums.txt is beside it"
            )
        }
        Some(RUN_FILE | REQUESTS_FILE) => {
            "take the file from a backup, or run it again: a modelled drive gives the same for the same seed".into()
        }
        Some(SUMS_FILE) => {
            "take the file from a backup; without it the files beside it are read with a warning".into()
        }
        _ => {
            "take the file from a backup, or measure again: a modelled drive gives the same record for the same seed".into()
        }
    }
}

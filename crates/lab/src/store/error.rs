//! What can be wrong with a run on disk.

use super::names::{PROFILE_FILE, REQUESTS_FILE, RUN_FILE, SUMS_FILE};
use super::set_kind::SetKind;
use std::io;
use std::path::{Path, PathBuf};

/// A run that cannot be read or written: what happened, where; [`StoreError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `create`, `remove`.
        doing: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
    /// There is no such run.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// A file of a run is not there any more.
    #[error("{} is missing, and {SUMS_FILE} beside it names it", path.display())]
    Gone {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// Something else stands where a directory is wanted.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// What stands there.
        path: PathBuf,
    },
    /// The directory holds a measurement of a real drive.
    #[error("{} holds a measurement of a real drive", path.display())]
    Occupied {
        /// The record in the way.
        path: PathBuf,
        /// Whether that run came to its end.
        complete: bool,
    },
    /// The directory holds something of another kind.
    #[error("{} holds {}, and {} would be mixed with it", path.display(), there.words(), wanted.words())]
    OtherKind {
        /// The directory.
        path: PathBuf,
        /// What stands there.
        there: SetKind,
        /// What was to be written.
        wanted: SetKind,
    },
    /// The file is no Parquet file, or not one of Fathom's.
    #[error("{} is not a record of Fathom's: {detail}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        detail: String,
    },
    /// The file is not the outcome of a run of a workload.
    #[error("{} is not a run of a workload: {detail}", path.display())]
    NotARun {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        detail: String,
    },
    /// The file ends too early.
    #[error("{} is truncated: its end is missing after {len} bytes", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        len: u64,
    },
    /// The file has the right shape and wrong contents.
    #[error("{} is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// The file was written by a later Fathom.
    #[error("{} has format {found}; this version reads format {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that is known here.
        known: u32,
    },
    /// A profile that is not one.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Profile {
        /// The file.
        path: PathBuf,
        /// Where in it, counted from 1.
        line: Option<usize>,
        /// What is wrong, and with which key.
        detail: String,
    },
    /// The run cannot be expressed in the file's format.
    #[error("{what} cannot be written: {detail}")]
    Encode {
        /// Which file.
        what: &'static str,
        /// Why.
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

    /// What to do.
    pub fn help(&self) -> String {
        match self {
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
            Self::Occupied { path, complete } => {
                let dir = path.parent().unwrap_or(path).display();
                if *complete {
                    format!("choose another directory, or move {dir} away")
                } else {
                    format!("go on with `fathom probe --resume {dir}`, or choose another directory")
                }
            }
            Self::Foreign { .. } => {
                "name the directory of a run; its record.parquet is read".into()
            }
            Self::Truncated { path, .. } | Self::Damaged { path, .. } => damaged_help(path),
            Self::Newer { .. } => "read it with the version of Fathom that wrote it".into(),
            Self::Profile { path, .. } => {
                let dir = path.parent().unwrap_or(path).display();
                format!("`fathom solve {dir}` writes the profile again from the record")
            }
            Self::Encode { .. } => "report this with the command: it is a fault of Fathom's".into(),
        }
    }
}

/// What to do about a damaged file.
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

//! What can go wrong with a twin.

use crate::store::StoreError;
use fathom_base::{BadValue, SpecError};
use std::path::PathBuf;

/// A twin could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TwinError {
    /// The run cannot be read, or the twin cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run was interrupted.
    #[error("the run in {} is not finished: a twin needs the whole record", .run.display())]
    Unfinished {
        /// The directory of the run.
        run: PathBuf,
    },
    /// The run is of the papers' method.
    #[error("the run was made with `--method paper`, which times too little for a twin")]
    Paper,
    /// The drive has a head.
    #[error("the drive has a head that seeks, and a twin is a solid state drive")]
    Rotating,
    /// The record is of another version, whose series may mean something else.
    #[error("the record was written by Fathom {found}, and this is {here}")]
    Version {
        /// The version of the record.
        found: String,
        /// This version.
        here: String,
    },
    /// The record lacks what the model needs at least.
    #[error("the record says too little for a twin: it lacks {lacks}")]
    Little {
        /// What is missing.
        lacks: String,
    },
    /// Somebody has changed the twin that is kept with a run.
    #[error("{} was changed after it was made: it is no longer the twin of the run", .path.display())]
    Edited {
        /// The file.
        path: PathBuf,
    },
    /// The answers contradict each other.
    #[error("the answers do not make a drive: {0}")]
    Draft(BadValue),
    /// A candidate cannot be built.
    #[error("no drive can be built from the answers: {0}")]
    Build(#[from] SpecError),
    /// The search was interrupted.
    #[error("interrupted: no twin was written")]
    Interrupted,
}

impl TwinError {
    /// Returns what to do.
    pub fn help(&self) -> &'static str {
        match self {
            TwinError::Unfinished { .. } => "finish it first: fathom probe --resume DIR",
            TwinError::Version { .. } | TwinError::Paper => {
                "measure the drive with all parameters: fathom probe TARGET --out DIR"
            }
            TwinError::Little { .. } => {
                "measure the drive with all parameters at the full level: fathom probe TARGET --level full --out DIR"
            }
            TwinError::Draft(_) | TwinError::Build(_) => {
                "look at the answers (fathom solve DIR), and write a drive file by hand: fathom explain drive.toml"
            }
            TwinError::Rotating => "write a drive file of a disk by hand: fathom explain disk.toml",
            TwinError::Edited { .. } => {
                "use it as a drive of its own (--on model:./FILE), or remove it: the twin is then made again"
            }
            TwinError::Store(_) | TwinError::Interrupted => "run the command again",
        }
    }
}

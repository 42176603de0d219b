//! Why a study cannot be run: what is wrong, where in the study file, and what to do.

use crate::replay::RunError;
use crate::source::SourceError;
use crate::store::StoreError;
use crate::target::TargetError;
use std::io;
use std::path::PathBuf;

/// A study that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file cannot be read.
    #[error("cannot read the study {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is no study.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// What is wrong and what is allowed.
        detail: String,
    },
    /// The study says something that cannot be.
    #[error("study `{study}`, {place}: {detail}")]
    Value {
        /// The study.
        study: String,
        /// Where: an axis, a point, a workload.
        place: String,
        /// What is wrong.
        detail: String,
    },
    /// The drive of a run cannot be.
    #[error("study `{study}`, run {run}: {error}")]
    Drive {
        /// The study.
        study: String,
        /// The run's name: its workload, points and seed.
        run: String,
        /// What is wrong with the drive.
        #[source]
        error: Box<TargetError>,
    },
    /// A workload of a run cannot be.
    #[error("study `{study}`, run {run}: {error}")]
    Workload {
        /// The study.
        study: String,
        /// The run's name.
        run: String,
        /// What is wrong with the workload.
        #[source]
        error: Box<SourceError>,
    },
    /// A run failed.
    #[error("run {run}: {error}")]
    Run {
        /// The run's name.
        run: String,
        /// Why.
        #[source]
        error: Box<RunError>,
    },
    /// A result cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user wants no more.
    #[error("interrupted")]
    Interrupted,
}

impl StudyError {
    /// What to do.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Read { .. } | Self::Syntax { .. } | Self::Value { .. } => {
                Some("`fathom explain study.toml` prints a commented study file; docs/studies.md says what one holds".into())
            }
            Self::Drive { error, .. } => error.help(),
            Self::Workload { error, .. } => Some(error.help()),
            Self::Run { error, .. } => error.help(),
            Self::Store(error) => Some(error.help()),
            Self::Interrupted => None,
        }
    }
}

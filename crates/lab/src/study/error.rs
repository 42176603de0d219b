//! Errors of a study: what is wrong, where in the study file, and what to do.

use crate::replay::RunError;
use crate::source::SourceError;
use crate::store::StoreError;
use crate::target::TargetError;
use std::io;
use std::path::PathBuf;

/// Error of a study that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file cannot be read.
    #[error("cannot read the study {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a study.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// The fault, and what is allowed.
        detail: String,
    },
    /// A value in the study is invalid.
    #[error("study `{study}`, {place}: {detail}")]
    Value {
        /// The study.
        study: String,
        /// The place: an axis, a point or a workload.
        place: String,
        /// The fault.
        detail: String,
    },
    /// The drive of a run is invalid.
    #[error("study `{study}`, run {run}: {error}")]
    Drive {
        /// The study.
        study: String,
        /// Name of the run: its workload, points and seed.
        run: String,
        /// The drive's fault.
        #[source]
        error: Box<TargetError>,
    },
    /// A workload of a run is invalid.
    #[error("study `{study}`, run {run}: {error}")]
    Workload {
        /// The study.
        study: String,
        /// Name of the run.
        run: String,
        /// The workload's fault.
        #[source]
        error: Box<SourceError>,
    },
    /// A run failed.
    #[error("run {run}: {error}")]
    Run {
        /// Name of the run.
        run: String,
        /// The reason.
        #[source]
        error: Box<RunError>,
    },
    /// A result cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user interrupted the study.
    #[error("interrupted")]
    Interrupted,
}

impl StudyError {
    /// Returns advice on how to resolve the error.
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

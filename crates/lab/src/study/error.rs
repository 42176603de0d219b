//! Errors of a study: what is wrong, where in the study file, and what to do.

use crate::advice::Written;
use crate::replay::RunError;
use crate::store::StoreError;
use std::fmt;
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
    /// The study has faults.
    #[error("{file}{}", listed(.faults))]
    Faults {
        /// The file, or the name of the study.
        file: String,
        /// The faults, in the order of the file; at least one.
        faults: Vec<Fault>,
    },
    /// The drive of a run cannot be built.
    #[error("run {run}: {detail}")]
    Drive {
        /// Name of the run: its workload, points and seed.
        run: String,
        /// The fault.
        detail: String,
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

/// A fault of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line in the study file, counted from 1.
    pub line: Option<usize>,
    /// What is wrong, and what is allowed.
    pub detail: String,
    /// Advice on how to resolve it, unless the detail gives it.
    pub help: Option<String>,
}

/// Formats `line 12: ...`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.detail)
    }
}

/// Returns the faults for a message that begins with the file: one behind the file and its line, several in a list.
fn listed(faults: &[Fault]) -> String {
    match faults {
        [
            Fault {
                line: Some(line),
                detail,
                ..
            },
        ] => format!(":{line}: {detail}"),
        [fault] => format!(": {}", fault.detail),
        several => several.iter().map(|fault| format!("\n  {fault}")).collect(),
    }
}

impl StudyError {
    /// Returns advice on how to resolve the error.
    pub fn help(&self) -> Option<String> {
        const EXAMPLE: &str = "`fathom explain study.toml` prints a commented study file; docs/studies.md says what one holds";
        match self {
            Self::Read { .. } | Self::Syntax { .. } | Self::Drive { .. } => Some(EXAMPLE.into()),
            Self::Faults { faults, .. } => {
                let help = faults.iter().find_map(|fault| fault.help.clone());
                Some(help.unwrap_or_else(|| EXAMPLE.into()))
            }
            Self::Run { error, .. } => error.help_in(Written::StudyFile),
            Self::Store(error) => Some(error.help()),
            Self::Interrupted => None,
        }
    }
}

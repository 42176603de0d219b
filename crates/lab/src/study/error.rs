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
            Self::Run { error, .. } => error.help().map(|help| in_file(&help)),
            Self::Store(error) => Some(error.help()),
            Self::Interrupted => None,
        }
    }
}

/// Returns advice about options of `fathom run` in the terms of a study file.
fn in_file(help: &str) -> String {
    let mut parts = help.split("--step ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let word = part.split([' ', ';', ')']).next().unwrap_or_default();
        let step = word.trim_end_matches([',', '.']);
        text += &format!("`{}`{}", entry(step), &part[step.len()..]);
    }
    text.replace("`--size` of a modelled one", "`capacity` in `set`")
}

/// Returns an entry of a workload's `steps` for `NAME,KEY=VALUE,...`.
fn entry(step: &str) -> String {
    let mut parts = step.split(',');
    let name = parts.next().unwrap_or_default();
    let keys = parts.filter_map(|part| part.split_once('='));
    let keys = keys.map(|(key, value)| format!(", {key} = \"{value}\""));
    format!("{{ step = \"{name}\"{} }}", keys.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_command_line_become_entries_of_the_file() {
        let help =
            in_file("fit with --step wrap,capacity=1MiB, or a drive (`--size` of a modelled one)");
        let expected =
            "fit with `{ step = \"wrap\", capacity = \"1MiB\" }`, or a drive (`capacity` in `set`)";
        assert_eq!(help, expected);
    }
}

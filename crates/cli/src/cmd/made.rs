//! Which command has written a run, so that one of another command than the wanted one is told what it is.

use crate::failure::Failure;
use crate::out;
use fathom_lab::store::{PROFILE_FILE, RUN_FILE};
use std::path::{Path, PathBuf};

/// The command that has written a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Probe,
    Run,
}

impl Made {
    /// Of a run in a directory, where it can be told.
    fn of(dir: &Path) -> Option<Self> {
        let has = |name: &str| dir.join(name).exists();
        match (has(PROFILE_FILE), has(RUN_FILE)) {
            (true, false) => Some(Self::Probe),
            (false, true) => Some(Self::Run),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Run => "run",
        }
    }

    /// Refuses runs of another command, with what takes them.
    ///
    /// # Errors
    /// Input.
    pub(super) fn check(self, runs: &[PathBuf]) -> Result<(), Failure> {
        let other = |run: &&PathBuf| Self::of(run).is_some_and(|made| made != self);
        let others: Vec<String> = runs
            .iter()
            .filter(other)
            .map(|run| out::shown(run))
            .collect();
        let Some(first) = others.first() else {
            return Ok(());
        };
        let is = match self {
            Self::Probe => Self::Run,
            Self::Run => Self::Probe,
        };
        let message = format!(
            "{first} is a run of `fathom {}`, and runs of `fathom {}` are wanted",
            is.name(),
            self.name()
        );
        let help = match (others.as_slice(), is) {
            (all, Self::Run) if all.len() == runs.len() => format!(
                "compare runs of `fathom run` with: fathom compare {}",
                all.join(" ")
            ),
            ([left, right, ..], Self::Probe) if others.len() == runs.len() => {
                format!("compare two runs of `fathom probe` with: fathom diff {left} {right}")
            }
            _ => "the two kinds cannot be compared with each other: `fathom diff` takes two runs of `fathom probe`, `fathom \
                  compare` runs of `fathom run`"
                .to_owned(),
        };
        Err(Failure::input("fathom::run::other", message).help(help))
    }
}

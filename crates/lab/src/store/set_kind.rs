//! What a set of files is of, so that two kinds are not mixed in one directory.

use super::names::{
    AB_FILE, CELLS_FILE, PROFILE_FILE, RECORD_FILE, REPORT_FILE, REQUESTS_FILE, RESULTS_FILE,
    RUN_FILE, SUMMARY_FILE,
};
use super::sums::Sums;
use std::path::Path;

/// What a set of files is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// A measurement of a drive.
    Measurement,
    /// A run of a workload.
    Run,
    /// Two block layers in turn.
    Turns,
    /// A study, beside its runs.
    Study,
    /// A paper that was run again, beside its studies.
    Paper,
    /// Runs side by side: a page alone.
    Comparison,
}

impl SetKind {
    /// Those with files of their own.
    const MARKED: [Self; 5] = [
        Self::Measurement,
        Self::Run,
        Self::Turns,
        Self::Study,
        Self::Paper,
    ];

    /// What stands in a directory, as far as it can be told; of several kinds the first that is not `wanted`.
    pub(super) fn other_than(wanted: Self, dir: &Path) -> Option<Self> {
        // Of damaged sums nothing is known; a version that kept none is told by the files.
        let sums = Sums::read(dir).ok().flatten();
        let there = |name: &&str| match &sums {
            Some(sums) => sums.files.contains_key(*name),
            None => dir.join(name).is_file(),
        };
        let marked = |kind: &Self| kind.files().iter().any(&there);
        let found: Vec<Self> = Self::MARKED.into_iter().filter(marked).collect();
        if found.is_empty() && sums.is_some() && there(&REPORT_FILE) {
            return Some(Self::Comparison).filter(|kind| *kind != wanted);
        }
        found.into_iter().find(|kind| *kind != wanted)
    }

    /// The files that no other kind has.
    const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Measurement => &[RECORD_FILE, PROFILE_FILE],
            Self::Run => &[RUN_FILE, REQUESTS_FILE],
            Self::Turns => &[AB_FILE],
            Self::Study => &[SUMMARY_FILE, CELLS_FILE],
            Self::Paper => &[RESULTS_FILE],
            Self::Comparison => &[],
        }
    }

    /// In words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Measurement => "a run of `fathom probe`",
            Self::Run => "a run of `fathom run`",
            Self::Turns => "a run of `fathom run --ab`",
            Self::Study => "a study",
            Self::Paper => "a paper that was run again",
            Self::Comparison => "a comparison",
        }
    }
}

//! What a set of files is of, so that two kinds are not mixed in one directory.

use super::names::{
    AB_FILE, CELLS_FILE, PROFILE_FILE, RECORD_FILE, REQUESTS_FILE, RESULTS_FILE, RUN_FILE,
    SUMMARY_FILE,
};

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
    pub(super) const MARKED: [Self; 5] = [
        Self::Measurement,
        Self::Run,
        Self::Turns,
        Self::Study,
        Self::Paper,
    ];

    /// The files that no other kind has.
    pub(super) const fn files(self) -> &'static [&'static str] {
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

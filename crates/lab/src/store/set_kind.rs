//! The kinds of file sets. A directory holds only one kind.

use super::names::{
    AB_FILE, CELLS_FILE, COST_FILE, PLATFORM_FILE, PLATFORM_TOML, PROFILE_FILE, RECORD_FILE,
    REQUESTS_FILE, RESULTS_FILE, RUN_FILE, SAMPLES_FILE, SUMMARY_FILE,
};

/// Kind of a set of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// A measurement of a drive.
    Measurement,
    /// A workload run.
    Run,
    /// An A/B comparison of two block layers.
    Turns,
    /// A study; its runs are in directories beside it.
    Study,
    /// A reproduced paper; its studies are in directories beside it.
    Paper,
    /// The write-cost model of a drive.
    WriteCost,
    /// What an I/O costs a machine.
    Platform,
    /// A comparison of runs: a report alone.
    Comparison,
}

impl SetKind {
    /// The kinds that have files of their own.
    pub(super) const MARKED: [Self; 7] = [
        Self::Measurement,
        Self::Run,
        Self::Turns,
        Self::Study,
        Self::Paper,
        Self::WriteCost,
        Self::Platform,
    ];

    /// Returns the files that no other kind has.
    pub(super) const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Measurement => &[RECORD_FILE, PROFILE_FILE],
            Self::Run => &[RUN_FILE, REQUESTS_FILE],
            Self::Turns => &[AB_FILE],
            Self::Study => &[SUMMARY_FILE, CELLS_FILE],
            Self::Paper => &[RESULTS_FILE],
            Self::WriteCost => &[COST_FILE],
            Self::Platform => &[PLATFORM_FILE, PLATFORM_TOML, SAMPLES_FILE],
            Self::Comparison => &[],
        }
    }

    /// Returns the kind in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Measurement => "a run of `fathom probe`",
            Self::Run => "a run of `fathom run`",
            Self::Turns => "a run of `fathom run --ab`",
            Self::Study => "a study",
            Self::Paper => "a paper that was run again",
            Self::WriteCost => "a run of `fathom write-cost`",
            Self::Platform => "a run of `fathom platform`",
            Self::Comparison => "a comparison",
        }
    }
}

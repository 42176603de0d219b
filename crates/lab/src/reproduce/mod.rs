//! Papers run again: their configuration as study files, what they say of their results as data, and each statement tested
//! on our runs.
//!
//! The files lie in `papers/NAME` and are part of the program, so that a reproduction needs nothing but traces, which
//! a user brings; without any it runs on generators and says so. No paper has code of its own. A statement holds, holds in
//! part or in its direction only, does not hold, or cannot be told.

mod assume;
mod draw;
mod expected;
mod judge;
mod look;
mod measured;
mod metric;
mod numbers;
mod prepare;
mod rule;
mod run;
mod statement;
mod traces;

pub use draw::{ChartFound, LineFound, SequenceFound, SequenceLine, TimelineFound};
pub use expected::{Panel, Remark, Statements};
pub use judge::{Assumed, Judged};
pub use measured::Measured;
pub use prepare::{Options, Prepared, prepare};
pub use rule::Verdict;
pub use run::{Found, PanelFound, run};
pub use traces::{Kind, Source};

/// A file of a paper: its text, and where it lies.
pub type File = (&'static str, &'static str);

/// A paper that can be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// What it is called here.
    pub name: &'static str,
    /// Its title, authors, place and year.
    pub title: &'static str,
    /// What was found: `papers/NAME/README.md`.
    pub readme: &'static str,
    /// Study files.
    pub studies: &'static [File],
    /// Figures and statements.
    pub expected: File,
    /// Its traces, where it has some: which files of a user they are, and what stands in for them.
    pub traces: Option<File>,
}

macro_rules! paper_file {
    ($name:literal) => {
        (
            include_str!(concat!("../../../../papers/", $name)),
            concat!("papers/", $name),
        )
    };
}

/// All of them.
pub const PAPERS: &[Paper] = &[
    Paper {
        name: "epo",
        title: "element-level parallel optimization of a write buffer, against NoCache, LRU and BPLRU",
        readme: include_str!("../../../../papers/epo/README.md"),
        studies: &[
            paper_file!("epo/study.toml"),
            paper_file!("epo/general.toml"),
            paper_file!("epo/queue.toml"),
            paper_file!("epo/load.toml"),
            paper_file!("epo/inside.toml"),
            paper_file!("epo/choices.toml"),
        ],
        expected: paper_file!("epo/expected.toml"),
        traces: Some(paper_file!("epo/traces.toml")),
    },
    Paper {
        name: "irbw",
        title: "disk schedulers for solid state drives: IRBW-FIFO and IRBW-FIFO-RP, against those of Linux 2.6",
        readme: include_str!("../../../../papers/irbw/README.md"),
        studies: &[
            paper_file!("irbw/iometer-ssd.toml"),
            paper_file!("irbw/iometer-hdd.toml"),
            paper_file!("irbw/readers-ssd.toml"),
            paper_file!("irbw/readers-hdd.toml"),
            paper_file!("irbw/sizes-ssd.toml"),
            paper_file!("irbw/sizes-hdd.toml"),
            paper_file!("irbw/postmark.toml"),
            paper_file!("irbw/logs.toml"),
            paper_file!("irbw/today.toml"),
        ],
        expected: paper_file!("irbw/expected.toml"),
        traces: None,
    },
    Paper {
        name: "parameter-aware-io",
        title: "splitters and a scheduler that know a drive's sizes: NoPAS, PAS and PASA under NOOP and PAI",
        readme: include_str!("../../../../papers/parameter-aware-io/README.md"),
        studies: &[
            paper_file!("parameter-aware-io/postmark.toml"),
            paper_file!("parameter-aware-io/filebench.toml"),
            paper_file!("parameter-aware-io/grid.toml"),
            paper_file!("parameter-aware-io/buffer.toml"),
            paper_file!("parameter-aware-io/today.toml"),
        ],
        expected: paper_file!("parameter-aware-io/expected.toml"),
        traces: None,
    },
];

/// The paper of that name.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}

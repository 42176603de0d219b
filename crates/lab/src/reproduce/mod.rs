//! Papers run again: their configuration as study files, their claims as data, and each claim tested on our runs.
//!
//! The files lie in `papers/NAME` and are part of the program, so that a reproduction needs nothing but traces, which
//! a user brings; without any it runs on generators and says so. A claim holds, holds in its direction only, does not
//! hold, or cannot be told; nothing here makes one come out otherwise than it was measured.

mod cell;
mod claim;
mod epo;
mod judge;
pub mod paper;
mod traces;
mod why;

pub use cell::{Busy, Cell};
pub use claim::{Claim, Expected, Figure, FigurePoint, Metric, Remark, Test};
pub use epo::{Options, Reproduction, Results, prepare, run};
pub use judge::{Judgement, NO_DIFFERENCE_PERCENT, Verdict, judge};
pub use traces::{Kind, Source};
pub use why::{PageWrite, Why};

/// A paper that can be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// What it is called here.
    pub name: &'static str,
    /// Its title, authors, place and year.
    pub title: &'static str,
    /// What was found: `papers/NAME/README.md`.
    pub readme: &'static str,
    /// Its studies and figures, where they are data alone; `epo` has code of its own.
    pub files: Option<Files>,
}

/// A file of a paper: its text, and where it lies.
pub type File = (&'static str, &'static str);

/// The files of a paper that is data alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Files {
    /// Study files.
    pub studies: &'static [File],
    /// Figures and claims.
    pub expected: File,
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
        files: None,
    },
    Paper {
        name: "irbw",
        title: "disk schedulers for solid state drives: IRBW-FIFO and IRBW-FIFO-RP, against those of Linux 2.6",
        readme: include_str!("../../../../papers/irbw/README.md"),
        files: Some(Files {
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
        }),
    },
    Paper {
        name: "parameter-aware-io",
        title: "splitters and a scheduler that know a drive's sizes: NoPAS, PAS and PASA under NOOP and PAI",
        readme: include_str!("../../../../papers/parameter-aware-io/README.md"),
        files: Some(Files {
            studies: &[
                paper_file!("parameter-aware-io/postmark.toml"),
                paper_file!("parameter-aware-io/filebench.toml"),
                paper_file!("parameter-aware-io/grid.toml"),
                paper_file!("parameter-aware-io/buffer.toml"),
                paper_file!("parameter-aware-io/today.toml"),
            ],
            expected: paper_file!("parameter-aware-io/expected.toml"),
        }),
    },
];

/// The paper of that name.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}

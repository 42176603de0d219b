//! Reproduces papers: their configurations are study files, their statements are data, and each statement is tested on the
//! runs.
//!
//! The files are in `papers/NAME` and are compiled into the program, so that a reproduction needs nothing but the traces,
//! which the user supplies. Without traces it uses generators instead and says so. No paper has code of its own. The
//! verdict on a statement is: it holds, it holds in part, only its direction holds, it does not hold, or it cannot be told.

mod assume;
mod draw;
mod expected;
mod figures;
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

pub use prepare::{Options, Prepared, prepare};
pub use run::run;

/// A file of a paper: its text and its path.
pub type File = (&'static str, &'static str);

/// A paper that can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Short name, as used in `papers/NAME`.
    pub name: &'static str,
    /// Title, or a summary of what the paper compares.
    pub title: &'static str,
    /// Contents of `papers/NAME/README.md`: the findings.
    pub readme: &'static str,
    /// The study files.
    pub studies: &'static [File],
    /// The figures and statements (`expected.toml`).
    pub expected: File,
    /// The traces, if the paper has any: which of the user's files they are, and what replaces them otherwise.
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

/// All papers that can be reproduced.
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
        name: "greedy-space",
        title: "a block allocator that fills one logical block after the other, against those of ext3",
        readme: include_str!("../../../../papers/greedy-space/README.md"),
        studies: &[
            paper_file!("greedy-space/writes.toml"),
            paper_file!("greedy-space/postmark.toml"),
            paper_file!("greedy-space/synced.toml"),
            paper_file!("greedy-space/today.toml"),
            paper_file!("greedy-space/locality.toml"),
            paper_file!("greedy-space/hosts.toml"),
        ],
        expected: paper_file!("greedy-space/expected.toml"),
        traces: None,
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
            paper_file!("irbw/classes.toml"),
            paper_file!("irbw/cards.toml"),
            paper_file!("irbw/hosts.toml"),
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
            paper_file!("parameter-aware-io/classes.toml"),
            paper_file!("parameter-aware-io/cards.toml"),
        ],
        expected: paper_file!("parameter-aware-io/expected.toml"),
        traces: None,
    },
    Paper {
        name: "ssd-ready-platforms",
        title: "what an I/O costs the machine above a solid state drive, by layer, and what limits its rate",
        readme: include_str!("../../../../papers/ssd-ready-platforms/README.md"),
        studies: &[
            paper_file!("ssd-ready-platforms/latency.toml"),
            paper_file!("ssd-ready-platforms/cost.toml"),
            paper_file!("ssd-ready-platforms/core.toml"),
            paper_file!("ssd-ready-platforms/adapter.toml"),
            paper_file!("ssd-ready-platforms/adapters.toml"),
            paper_file!("ssd-ready-platforms/interfaces.toml"),
            paper_file!("ssd-ready-platforms/raid.toml"),
            paper_file!("ssd-ready-platforms/raid-64.toml"),
        ],
        expected: paper_file!("ssd-ready-platforms/expected.toml"),
        traces: None,
    },
];

/// Returns the paper of that name.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}

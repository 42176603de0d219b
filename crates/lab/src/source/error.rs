//! Why a workload cannot be had, or cannot go on: what is wrong, where, and what to do.

use fathom_base::{BadValue, Time};
use fathom_platform::Failed;
use fathom_trace::{Compression, TraceError};
use fathom_workload::step::StepError;
use std::io;
use std::path::PathBuf;

/// A year of 365.25 days.
const NS_PER_YEAR: u64 = Time::END.0 / 500;

/// A workload that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A trace, or a file that says what is played, cannot be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something is wrong with a trace.
    #[error("{}: {error}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What and where.
        error: TraceError,
    },
    /// A trace is named as a compressed file, and nothing that is known is in it.
    #[error(
        "{}: no format fits, and the file is named as one that is compressed ({compression}): it is damaged, or it has a wrong name",
        path.display()
    )]
    Misnamed {
        /// The file.
        path: PathBuf,
        /// What its name says.
        compression: Compression,
    },
    /// A setting of a generator, a step or a program cannot be.
    #[error("workload `{name}`: {error}")]
    Setting {
        /// The workload.
        name: String,
        /// Which one.
        error: BadValue,
    },
    /// A step cannot take an access.
    #[error("workload `{name}`: {error}")]
    Step {
        /// The workload.
        name: String,
        /// Which step and which access.
        error: StepError,
    },
    /// An access is asked for when simulated time is over.
    #[error("access {number} of the workload comes {} years after its start, and a run ends after 500", at.0 / NS_PER_YEAR)]
    Late {
        /// Which, counted from 1.
        number: u64,
        /// When, from the start of the workload.
        at: Time,
    },
    /// A write buffer in front of the drive cannot be, or cannot take an access.
    #[error("workload `{name}`, reshape: {detail}")]
    Buffer {
        /// The workload.
        name: String,
        /// What is wrong.
        detail: String,
    },
    /// The file of a workload is wrong.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// What is wrong and what is allowed.
        detail: String,
    },
    /// A program cannot go on.
    #[error("workload `{name}`: {error}")]
    Program {
        /// The workload.
        name: String,
        /// Why not.
        error: Failed,
    },
    /// A file of jobs is wrong.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Jobs {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// What is wrong and what is allowed.
        detail: String,
    },
    /// What was read back is not what was written.
    #[error("{}: {detail}", path.display())]
    Verify {
        /// The file of the jobs.
        path: PathBuf,
        /// What was read, and what should have been.
        detail: String,
    },
    /// What was written cannot be read back: the drive keeps no bytes.
    #[error("{}: {detail}", path.display())]
    KeepsNothing {
        /// The file of the jobs.
        path: PathBuf,
        /// Which job asks for it.
        detail: String,
    },
    /// It is not of the kind that is asked for.
    #[error("workload `{name}` is {found}")]
    Kind {
        /// The workload.
        name: String,
        /// What it is.
        found: &'static str,
    },
}

impl SourceError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            Self::Open { .. } => {
                "check the name; traces are given as FILE, generators as generate:NAME".into()
            }
            Self::Trace { error, .. } => error.help(),
            Self::Misnamed { .. } => "fetch the file again, or see what it is (`file NAME`)".into(),
            Self::Setting { .. } => "docs/workloads.md says what each setting may be".into(),
            Self::File { .. } => {
                "a workload file has `trace` or `generate`, and `steps`; docs/workloads.md has one"
                    .into()
            }
            Self::Step { .. } => "change the steps, or use another drive".into(),
            Self::Late { .. } => {
                "leave it out with `--step time-window,until=TIME`, or ignore the times with `--arrival closed:N`".into()
            }
            Self::Buffer { .. } => "docs/buffers.md says what a buffer takes".into(),
            Self::Program { .. } => {
                "docs/workloads.md says what each program takes; a larger drive holds more files".into()
            }
            Self::Jobs { .. } => "docs/jobs.md says which of fio's options are read, and what each takes".into(),
            Self::Kind { .. } => {
                "steps and a write buffer in front are for traces and generators".into()
            }
            Self::KeepsNothing { .. } => {
                "use another drive (of the modelled ones those of the kinds ssd and hdd), or leave `verify` out".into()
            }
            Self::Verify { .. } => {
                "the drive, or what is between it and Fathom, has lost or changed data: keep it, and look at the kernel's log"
                    .into()
            }
        }
    }
}

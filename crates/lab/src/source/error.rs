//! Errors of a workload: what is wrong, where, and what to do.

use crate::advice::{Step, Written};
use fathom_base::{BadValue, Time};
use fathom_platform::Failed;
use fathom_trace::{Compression, TraceError};
use fathom_workload::step::StepError;
use std::io;
use std::path::PathBuf;

/// Nanoseconds of a year of 365.25 days: simulated time ends after 500 years.
const NS_PER_YEAR: u64 = Time::END.0 / 500;

/// Error of a workload that cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A trace, or a file that describes a workload, cannot be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The trace is malformed.
    #[error("{}: {error}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// The fault and its position.
        error: TraceError,
    },
    /// A file is named as compressed, but its contents match no known format.
    #[error(
        "{}: no format fits, and the file is named as one that is compressed ({compression}): it is damaged, or it has a wrong name",
        path.display()
    )]
    Misnamed {
        /// The file.
        path: PathBuf,
        /// The compression that its name suggests.
        compression: Compression,
    },
    /// A setting of a generator, a step or a program is invalid.
    #[error("workload `{name}`: {error}")]
    Setting {
        /// The workload.
        name: String,
        /// The setting and its fault.
        error: BadValue,
    },
    /// A step cannot take an access.
    #[error("workload `{name}`: {error}")]
    Step {
        /// The workload.
        name: String,
        /// The step and the access.
        error: StepError,
    },
    /// An access comes after the end of simulated time.
    #[error("access {number} of the workload comes {} years after its start, and a run ends after 500", at.0 / NS_PER_YEAR)]
    Late {
        /// Number of the access, counted from 1.
        number: u64,
        /// Its time since the start of the workload.
        at: Time,
    },
    /// A write buffer in front of the drive is invalid, or cannot take an access.
    #[error("workload `{name}`, reshape: {detail}")]
    Buffer {
        /// The workload.
        name: String,
        /// The fault.
        detail: String,
    },
    /// A workload file is invalid.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// The fault, and what is allowed.
        detail: String,
    },
    /// A program cannot continue.
    #[error("workload `{name}`: {error}")]
    Program {
        /// The workload.
        name: String,
        /// The reason.
        error: Failed,
    },
    /// A job file is invalid.
    #[error("{}{}: {detail}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Jobs {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: Option<usize>,
        /// The fault, and what is allowed.
        detail: String,
    },
    /// Data read back differ from those written.
    #[error("{}: {detail}", path.display())]
    Verify {
        /// The job file.
        path: PathBuf,
        /// The data read, and the data expected.
        detail: String,
    },
    /// A job verifies its data, but the drive does not keep them.
    #[error("{}: {detail}", path.display())]
    KeepsNothing {
        /// The job file.
        path: PathBuf,
        /// The job that asks for verification.
        detail: String,
    },
    /// The workload is of the wrong kind for the operation.
    #[error("workload `{name}` is {found}")]
    Kind {
        /// The workload.
        name: String,
        /// Its kind.
        found: &'static str,
    },
}

impl SourceError {
    /// Returns advice on how to resolve the error, for the command line.
    pub fn help(&self) -> String {
        self.help_in(Written::CommandLine)
    }

    /// Returns advice on how to resolve the error.
    pub(crate) fn help_in(&self, written: Written) -> String {
        match self {
            Self::Open { .. } => {
                "check the name; job files and traces are given as FILE, generators as generate:NAME".into()
            }
            Self::Trace { error, .. } => error.help(),
            Self::Misnamed { .. } => "fetch the file again, or see what it is (`file NAME`)".into(),
            Self::Setting { .. } => "docs/workloads.md says what each setting may be".into(),
            Self::File { path, .. } if path.extension().is_some_and(|ending| ending == "f") => {
                "docs/filebench.md has the language".into()
            }
            Self::File { .. } => {
                "a workload file has `trace` or `generate`, and `steps`; docs/workloads.md has one"
                    .into()
            }
            Self::Step { .. } => "change the steps, or use another drive".into(),
            Self::Late { .. } => format!(
                "leave it out with {}, or ignore the times with {}",
                Step::new("time-window", &[("until", &"TIME")]).at(written),
                match written {
                    Written::CommandLine => "--arrival closed:N",
                    Written::StudyFile => "`arrival = { closed = { outstanding = N } }`",
                }
            ),
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

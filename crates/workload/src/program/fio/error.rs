//! Errors of job files, and of data that a job reads back.

use super::content::Found;

/// An error that makes a job file unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", place(*.line, .job))]
pub struct FioError {
    /// The line, from 1; `None` if the error depends on the drive or on the whole file.
    pub line: Option<usize>,
    /// The job, if the error is in one.
    pub job: Option<String>,
    /// The problem.
    pub problem: Problem,
}

fn place(line: Option<usize>, job: &Option<String>) -> String {
    match (line, job) {
        (Some(line), _) => format!("line {line}: "),
        (None, Some(job)) => format!("job `{job}`: "),
        (None, None) => String::new(),
    }
}

/// A problem with a job file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An option before any section.
    #[error("`{option}` stands before any section: begin with [global] or with a job's [name]")]
    NoSection {
        /// The option.
        option: String,
    },
    /// An included file before any section, as fio refuses it.
    #[error(
        "`include {name}` stands before any section, where fio takes none either: write [global] above it"
    )]
    IncludeFirst {
        /// The name as written in the job file.
        name: String,
    },
    /// A section without its closing bracket or without a name.
    #[error("a section is written [name], without variables, and this is \"{found}\"")]
    Section {
        /// The text that was found.
        found: String,
    },
    /// An option that fio does not have.
    #[error("fio has no option `{option}`; supported here: {supported}")]
    Unknown {
        /// The option.
        option: String,
        /// The supported options.
        supported: String,
    },
    /// An option of fio that is not supported.
    #[error("fio's option `{option}` is not supported: {why}")]
    Refused {
        /// The option.
        option: String,
        /// The reason, and the alternative.
        why: &'static str,
    },
    /// A file that cannot be included.
    #[error("`include {name}`: {what}")]
    Include {
        /// The name as written in the job file.
        name: String,
        /// The reason.
        what: String,
    },
    /// A problem in an included file.
    #[error("{place}: {problem}")]
    Within {
        /// The file and the line.
        place: String,
        /// The problem.
        problem: Box<Problem>,
    },
    /// An environment variable that is not available.
    #[error("`{option}` names the environment variable `{name}`: {what}; write its value out")]
    Variable {
        /// The option.
        option: String,
        /// The variable.
        name: String,
        /// The reason.
        what: String,
    },
    /// A value that an option does not accept.
    #[error("`{option}` is \"{found}\", and it takes {takes}")]
    Value {
        /// The option.
        option: &'static str,
        /// The text that was found.
        found: String,
        /// The values that it accepts.
        takes: &'static str,
    },
    /// Conflicting options.
    #[error("{what}")]
    Clash {
        /// The options, the reason, and the remedy.
        what: String,
    },
    /// A file without any section other than `[global]`.
    #[error("there is no job: a job is a section [name] that is not [global]")]
    NoJobs,
    /// A job that does not fit the drive.
    #[error("{what}")]
    Target {
        /// The reason, and what would fit.
        what: String,
    },
}

/// A job that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The content differs.
    #[error(
        "job `{job}`, process {process}: {len} bytes at {offset} are not what was written last, which was write \
         {generation} of this process under seed {seed}: {found}"
    )]
    Differs {
        /// The job.
        job: String,
        /// The process, which is the index of its actor.
        process: usize,
        /// The offset, in bytes.
        offset: u64,
        /// The length, in bytes.
        len: u64,
        /// Number of the write within the process, from 1.
        generation: u64,
        /// The seed of the content.
        seed: u64,
        /// What was read instead.
        found: Found,
    },
    /// The drive returned no data to compare.
    #[error("job `{job}`: `verify` needs a drive that keeps bytes, and this one gives none")]
    NoData {
        /// The job.
        job: String,
    },
    /// A job with `zonemode=zbd` found no data in its zones before its first access.
    #[error(
        "job `{job}`, process {process}: no zone in its part of the drive holds data: let a job with `rw=write` go before \
         it and give this one a `stonewall`, or begin on a drive that is filled"
    )]
    NothingHeld {
        /// The job.
        job: String,
        /// The process, which is the index of its actor.
        process: usize,
    },
    /// A job with `zonemode=zbd` may write to no further zone, and no other process goes on.
    #[error(
        "job `{job}`, process {process}: as many zones are partly written as may be, all outside of its part of the \
         drive: let the jobs that wrote them fill them, reset them with `rw=trim`, or share zones by `offset` and `size`"
    )]
    NoZone {
        /// The job.
        job: String,
        /// The process, which is the index of its actor.
        process: usize,
    },
}

//! What may be wrong with a job file, and with what a job reads back.

use super::content::Found;

/// A job file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", place(*.line, .job))]
pub struct FioError {
    /// The line, from 1; `None` where it shows only with the drive in hand.
    pub line: Option<usize>,
    /// The job, where it is in one.
    pub job: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

fn place(line: Option<usize>, job: &Option<String>) -> String {
    match (line, job) {
        (Some(line), _) => format!("line {line}: "),
        (None, Some(job)) => format!("job `{job}`: "),
        (None, None) => String::new(),
    }
}

/// What is wrong with a job file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An option before any section.
    #[error("`{option}` stands before any section: begin with [global] or with a job's [name]")]
    NoSection {
        /// The option.
        option: String,
    },
    /// A section without its end or its name.
    #[error("a section is written [name], without variables, and this is \"{found}\"")]
    Section {
        /// What stood there.
        found: String,
    },
    /// An option that fio does not have either.
    #[error("fio has no option `{option}`; supported here: {supported}")]
    Unknown {
        /// The option.
        option: String,
        /// Those that are supported.
        supported: String,
    },
    /// An option of fio that is not supported.
    #[error("fio's option `{option}` is not supported: {why}")]
    Refused {
        /// The option.
        option: String,
        /// Why, and what to do instead.
        why: &'static str,
    },
    /// A file that cannot be included.
    #[error("`include {name}`: {what}")]
    Include {
        /// As it stands there.
        name: String,
        /// Why.
        what: String,
    },
    /// Something in a file that is included.
    #[error("{place}: {problem}")]
    Within {
        /// The file and the line.
        place: String,
        /// What.
        problem: Box<Problem>,
    },
    /// An environment variable that cannot be had.
    #[error("`{option}` names the environment variable `{name}`: {what}; write its value out")]
    Variable {
        /// The option.
        option: String,
        /// The variable.
        name: String,
        /// Why.
        what: String,
    },
    /// A value that an option does not take.
    #[error("`{option}` is \"{found}\", and it takes {takes}")]
    Value {
        /// The option.
        option: &'static str,
        /// What stood there.
        found: String,
        /// What would do.
        takes: &'static str,
    },
    /// Options that do not go together.
    #[error("{what}")]
    Clash {
        /// Which, why, and what to do.
        what: String,
    },
    /// No section but `[global]`.
    #[error("there is no job: a job is a section [name] that is not [global]")]
    NoJobs,
    /// A job and a drive that do not go together.
    #[error("{what}")]
    Target {
        /// What does not, and what would.
        what: String,
    },
}

/// What was read back is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Another content.
    #[error(
        "job `{job}`, process {process}: {len} bytes at {offset} are not what was written last, which was write \
         {generation} of this process under seed {seed}: {found}"
    )]
    Differs {
        /// The job.
        job: String,
        /// The process, which is the number of the actor.
        process: usize,
        /// Where, in bytes.
        offset: u64,
        /// How much, in bytes.
        len: u64,
        /// Which write of the process it was, from 1.
        generation: u64,
        /// The seed of the content.
        seed: u64,
        /// What was there instead.
        found: Found,
    },
    /// Nothing to compare.
    #[error("job `{job}`: `verify` needs a drive that keeps bytes, and this one gives none")]
    NoData {
        /// The job.
        job: String,
    },
}

//! The description of a workload by a user or a study file. In a file the key determines the kind; here the kind is an
//! enum.

use super::{Reshape, SourceError};
use crate::queue::known;
use crate::text;
use fathom_base::{BadValue, Bytes};
use fathom_fs::FileSystem;
use fathom_probe::{Parameter, Profile};
use fathom_trace::Options;
use fathom_workload::generate::Config;
use fathom_workload::program;
use fathom_workload::program::filebench::language::Model;
use fathom_workload::step::Step;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A workload as a study file describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Workload {
    /// Name of the workload in results.
    pub name: String,
    /// The source of its accesses.
    pub kind: Kind,
    /// Steps for the accesses of a trace or a generator, in order.
    pub steps: Vec<Step>,
    /// A write buffer in front of the drive, after the steps.
    pub reshape: Option<Reshape>,
}

/// The source of a workload's accesses.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A trace file, plain or compressed.
    Trace {
        /// Path of the file.
        path: PathBuf,
        /// Options for reading it.
        read: Options,
    },
    /// A generator.
    Generator(Config),
    /// A file of fio jobs.
    JobFile(PathBuf),
    /// The text of fio jobs.
    Jobs(String),
    /// A built-in program.
    Program(program::Config),
}

impl Kind {
    /// Returns the name of the kind for messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Trace { .. } => "a trace",
            Self::Generator(_) => "a generator",
            Self::JobFile(_) | Self::Jobs(_) => "a file of jobs",
            Self::Program(_) => "a program",
        }
    }
}

/// The keys of a workload in a file. Exactly one of `trace`, `generate`, `jobs`, `job` and `program` must be present.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<PathBuf>,
    #[serde(skip_serializing_if = "is_default")]
    read: Options,
    #[serde(skip_serializing_if = "Option::is_none")]
    generate: Option<Config>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<program::Config>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reshape: Option<Reshape>,
}

fn is_default(options: &Options) -> bool {
    *options == Options::default()
}

impl TryFrom<Written> for Workload {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let name = written.name;
        let read = written.read;
        let found = [
            written.trace.map(|path| Kind::Trace { path, read }),
            written.generate.map(Kind::Generator),
            written.jobs.map(Kind::JobFile),
            written.job.map(Kind::Jobs),
            written.program.map(Kind::Program),
        ];
        let mut found = found.into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(kind), None) => Ok(Self {
                name,
                kind,
                steps: written.steps,
                reshape: written.reshape,
            }),
            (None, _) => Err(format!(
                "workload `{name}` names nothing to play: give one of `trace`, `generate`, `jobs`, `job` and `program`"
            )),
            (Some(one), Some(other)) => Err(format!(
                "workload `{name}` names {} and {}: give one of them",
                one.name(),
                other.name()
            )),
        }
    }
}

impl From<Workload> for Written {
    fn from(workload: Workload) -> Self {
        let mut written = Self {
            name: workload.name,
            steps: workload.steps,
            reshape: workload.reshape,
            ..Self::default()
        };
        match workload.kind {
            Kind::Trace { path, read } => (written.trace, written.read) = (Some(path), read),
            Kind::Generator(config) => written.generate = Some(config),
            Kind::JobFile(path) => written.jobs = Some(path),
            Kind::Jobs(text) => written.job = Some(text),
            Kind::Program(config) => written.program = Some(config),
        }
        written
    }
}

impl Workload {
    /// Creates a workload without steps and without a write buffer in front.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            steps: Vec::new(),
            reshape: None,
        }
    }

    /// Creates a workload that plays a trace without steps.
    pub fn of_trace(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let read = Options::default();
        let path = path.to_owned();
        Self::new(name, Kind::Trace { path, read })
    }

    /// Creates a workload that plays a generator without steps.
    pub fn of_generator(config: Config) -> Self {
        Self::new(config.generator.to_string(), Kind::Generator(config))
    }

    /// Creates a workload that plays a built-in program.
    pub fn of_program(config: program::Config) -> Self {
        Self::new(config.name(), Kind::Program(config))
    }

    /// Reads a text in filebench's language from a file, as a workload.
    ///
    /// # Errors
    /// [`SourceError`] with the line.
    pub fn of_model(path: &Path) -> Result<Self, SourceError> {
        let text = Self::read(path)?;
        let model = Model::parse(text.as_bytes()).and_then(|model| model.workload());
        model.map_err(|error| SourceError::File {
            path: path.to_owned(),
            line: Some(error.line),
            detail: error.problem.to_string(),
        })?;
        let program = program::Config::of_model(text);
        Ok(Self::new(stem(path), Kind::Program(program)))
    }

    fn read(path: &Path) -> Result<String, SourceError> {
        text::read(path).map_err(|source| SourceError::Open {
            path: path.to_owned(),
            source,
        })
    }

    /// Creates a workload that plays the jobs of a file.
    pub fn of_jobs(path: &Path) -> Self {
        Self::new(stem(path), Kind::JobFile(path.to_owned()))
    }

    /// Returns true if it is a program whose allocator needs the logical block of the drive, which is not given.
    pub fn lacks_logical_block(&mut self) -> bool {
        let file_system = match &mut self.kind {
            Kind::Program(program) => program.file_system().as_ref(),
            _ => None,
        };
        file_system.is_some_and(FileSystem::lacks_logical_block)
    }

    /// Takes the logical block of the drive from its profile where the program's allocator needs it.
    pub fn take_logical_block(&mut self, profile: &Profile) {
        if self.lacks_logical_block()
            && let Kind::Program(program) = &mut self.kind
            && let Some(file_system) = program.file_system()
        {
            file_system.logical_block = known(profile, Parameter::LogicalBlock).map(Bytes);
        }
    }

    /// Checks the file system and the machine of a program, before there is a drive.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub(crate) fn check_program(&self) -> Result<(), BadValue> {
        match &self.kind {
            Kind::Program(program) => program.check(),
            _ => Ok(()),
        }
    }

    /// Returns true if the workload is a program, which issues its accesses itself.
    pub fn is_program(&self) -> bool {
        match self.kind {
            Kind::Trace { .. } | Kind::Generator(_) => false,
            Kind::JobFile(_) | Kind::Jobs(_) | Kind::Program(_) => true,
        }
    }

    /// Returns true if the workload is a job file.
    pub(crate) fn is_job_file(&self) -> bool {
        matches!(self.kind, Kind::JobFile(_) | Kind::Jobs(_))
    }

    /// Reads a workload file. A relative path in it is taken from the directory of that file.
    ///
    /// # Errors
    /// [`SourceError::Open`], or [`SourceError::File`] with the line.
    pub fn from_file(path: &Path) -> Result<Self, SourceError> {
        let text = Self::read(path)?;
        let wrong = |(line, detail)| SourceError::File {
            path: path.to_owned(),
            line,
            detail,
        };
        let mut workload: Workload = crate::parse::from_toml(&text).map_err(wrong)?;
        workload.beside(path.parent().unwrap_or(Path::new("")));
        if workload.name.is_empty() {
            workload.name = stem(path);
        }
        Ok(workload)
    }

    /// Divides the number of a generator's accesses, or the transactions or time of a program, by `divisor`.
    pub fn shorten(&mut self, divisor: u64) {
        match &mut self.kind {
            Kind::Program(config) => config.shorten(divisor),
            Kind::Generator(config) => {
                let of_itself = || config.generator.load().accesses;
                let accesses = config.accesses.unwrap_or_else(of_itself);
                config.accesses = Some((accesses / divisor).max(1));
            }
            Kind::Trace { .. } | Kind::JobFile(_) | Kind::Jobs(_) => {}
        }
    }

    /// Resolves a relative path of a trace or of jobs against `dir`.
    pub fn beside(&mut self, dir: &Path) {
        if let Kind::Trace { path, .. } | Kind::JobFile(path) = &mut self.kind {
            *path = dir.join(&*path);
        }
    }
}

/// Returns the file name without its extension.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

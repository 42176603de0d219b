//! Where accesses come from, as a user or a study file says it: a trace in a file or a generator, with steps.
//!
//! The one place that opens traces. It streams; a step that must know where a trace ends costs a first pass.

mod reshape;
mod rooms;
mod save;
mod work;

pub use reshape::{Reshape, Rounding};
pub use rooms::{Rooms, WatchedRooms};
pub use save::{SaveError, SavedAs, save};
pub use work::{Wants, Work};

use crate::text;
use fathom_base::BadValue;
use fathom_block::Access;
use fathom_platform::Failed;
use fathom_ssd::reshape::Counters;
use fathom_trace::{Compression, ErrorKind, Options, Trace, TraceError};
use fathom_workload::generate::{Config, Generator};
use fathom_workload::program;
use fathom_workload::step::{ResolveError, ShapeError, Shaped, Step, StepError, apply, resolve};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A workload as a study file says it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What it is called in results.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The file of a trace, plain or compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// How the trace is to be read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read: Options,
    /// A generator instead of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<Config>,
    /// A file of fio's jobs instead of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<PathBuf>,
    /// The text of such a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// A program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<program::Config>,
    /// What is done to its accesses, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// A write buffer in front of the drive, behind the steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshape: Option<Reshape>,
}

fn is_default(options: &Options) -> bool {
    *options == Options::default()
}

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
    /// Nothing that could be played, or two things.
    #[error("workload `{name}` names {found}")]
    Kind {
        /// The workload.
        name: String,
        /// What it names.
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
            Self::Buffer { .. } => "docs/buffers.md says what a buffer takes".into(),
            Self::Program { .. } => {
                "docs/workloads.md says what each program takes; a larger drive holds more files".into()
            }
            Self::Jobs { .. } => "docs/jobs.md says which of fio's options are read, and what each takes".into(),
            Self::Verify { .. } => {
                "the drive, or what is between it and Fathom, has lost or changed data: keep it, and look at the kernel's log"
                    .into()
            }
            Self::Kind { .. } => {
                "give `trace = \"FILE\"`, `generate = { generator = \"NAME\" }` or `jobs = \"FILE.fio\"`, one of them"
                    .into()
            }
        }
    }
}

/// Where unshaped accesses come from.
enum Raw {
    Trace(Box<Trace>, PathBuf),
    /// With the number of accesses that it gave.
    Generator(Box<Generator>, Arc<AtomicU64>),
}

/// How far a workload is read: so much of all that it has, bytes of a trace or accesses of a generator.
#[derive(Clone, Debug)]
pub struct Reach {
    read: Arc<AtomicU64>,
    of: u64,
}

impl Reach {
    /// What part of it was read, from 0 to 1.
    pub fn part(&self) -> f64 {
        let read = self.read.load(Ordering::Relaxed);
        (read as f64 / self.of.max(1) as f64).min(1.0)
    }
}

impl Iterator for Raw {
    type Item = Result<Access, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Raw::Trace(trace, path) => trace.next().map(|access| {
                access.map_err(|error| SourceError::Trace {
                    path: path.clone(),
                    error,
                })
            }),
            Raw::Generator(generator, given) => {
                given.fetch_add(1, Ordering::Relaxed);
                generator.next().map(Ok)
            }
        }
    }
}

/// The accesses behind the steps.
struct Stepped {
    shaped: Shaped<Raw>,
    name: String,
}

impl Iterator for Stepped {
    type Item = Result<Access, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.shaped.next()?;
        Some(next.map_err(|error| shape_error(&self.name, error)))
    }
}

enum Stream {
    Direct(Stepped),
    Buffered(Box<reshape::Behind<Stepped>>),
}

/// A workload that is open: its accesses, shaped.
pub struct Accesses {
    stream: Stream,
    /// The steps with what a first pass found.
    pub steps: Vec<Step>,
    /// How far it is read, where its end is known; a step that ends it before is not in it.
    pub reach: Option<Reach>,
}

impl Workload {
    /// A trace without steps.
    pub fn of_trace(path: &Path) -> Self {
        Self {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            trace: Some(path.to_owned()),
            ..Self::default()
        }
    }

    /// A generator without steps.
    pub fn of_generator(config: Config) -> Self {
        Self {
            name: config.generator.to_string(),
            generate: Some(config),
            ..Self::default()
        }
    }

    /// A program.
    pub fn of_program(config: program::Config) -> Self {
        Self {
            name: config.name().to_owned(),
            program: Some(config),
            ..Self::default()
        }
    }

    /// The jobs of a file.
    pub fn of_jobs(path: &Path) -> Self {
        let name = path.file_stem().unwrap_or_default();
        Self {
            name: name.to_string_lossy().into_owned(),
            jobs: Some(path.to_owned()),
            ..Self::default()
        }
    }

    /// Reads a workload file. A trace that it names by a relative path lies beside it.
    ///
    /// # Errors
    /// [`SourceError::Open`] or [`SourceError::File`] with the line.
    pub fn from_file(path: &Path) -> Result<Self, SourceError> {
        let text = text::read(path).map_err(|source| SourceError::Open {
            path: path.to_owned(),
            source,
        })?;
        let wrong = |(line, detail)| SourceError::File {
            path: path.to_owned(),
            line,
            detail,
        };
        let mut workload: Workload = crate::parse::from_toml(&text).map_err(wrong)?;
        workload.beside(path.parent().unwrap_or(Path::new("")));
        if workload.name.is_empty() {
            workload.name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
        }
        Ok(workload)
    }

    /// Leaves one of `divisor` accesses of a generator, or such a part of a program's transactions or time.
    pub fn shorten(&mut self, divisor: u64) {
        if let Some(config) = &mut self.program {
            config.shorten(divisor);
        }
        if let Some(config) = &mut self.generate {
            let accesses = config
                .accesses
                .unwrap_or_else(|| config.generator.load().accesses);
            config.accesses = Some((accesses / divisor).max(1));
        }
    }

    /// Takes a relative path of a trace or of jobs from `dir` on.
    pub fn beside(&mut self, dir: &Path) {
        for file in self.trace.iter_mut().chain(&mut self.jobs) {
            *file = dir.join(&*file);
        }
    }

    fn raw(&self, seed: u64) -> Result<Raw, SourceError> {
        let kind = |found| {
            Err(SourceError::Kind {
                name: self.name.clone(),
                found,
            })
        };
        match (&self.trace, &self.generate) {
            (Some(path), None) => open_trace(path, &self.read),
            (None, Some(config)) => config
                .generator(seed)
                .map(|generator| Raw::Generator(Box::new(generator), Arc::default()))
                .map_err(|error| SourceError::Setting {
                    name: self.name.clone(),
                    error,
                }),
            (Some(_), Some(_)) => kind("a trace and a generator"),
            (None, None) => kind("no accesses of its own"),
        }
    }

    /// Opens it from its beginning. `seed` is for a generator.
    ///
    /// # Errors
    /// [`SourceError`] with the file and the line, the generator's setting or the step.
    pub fn open(&self, seed: u64) -> Result<Accesses, SourceError> {
        let bad = |error| SourceError::Setting {
            name: self.name.clone(),
            error,
        };
        let steps = resolve(&self.steps, || self.raw(seed)).map_err(|error| match error {
            ResolveError::Bad(error) => bad(error),
            ResolveError::Shape(error) => self.shape(error),
        })?;
        let raw = self.raw(seed)?;
        let reach = self.reach(&raw);
        let stepped = Stepped {
            shaped: apply(&steps, raw).map_err(bad)?,
            name: self.name.clone(),
        };
        let stream = match &self.reshape {
            None => Stream::Direct(stepped),
            Some(reshape) => Stream::Buffered(Box::new(reshape.over(&self.name, stepped)?)),
        };
        Ok(Accesses {
            stream,
            steps,
            reach,
        })
    }

    /// How far what it is read from is read, where that has a known end.
    fn reach(&self, raw: &Raw) -> Option<Reach> {
        let (read, of) = match raw {
            Raw::Trace(trace, path) => (trace.bytes_read()?, path.metadata().ok()?.len()),
            Raw::Generator(_, given) => {
                let load = self.generate.as_ref()?.load().ok()?;
                (Arc::clone(given), load.accesses)
            }
        };
        Some(Reach { read, of })
    }

    fn shape(&self, error: ShapeError<SourceError>) -> SourceError {
        shape_error(&self.name, error)
    }
}

fn shape_error(name: &str, error: ShapeError<SourceError>) -> SourceError {
    match error {
        ShapeError::Source(error) => error,
        ShapeError::Step(error) => SourceError::Step {
            name: name.to_owned(),
            error,
        },
    }
}

fn open_trace(path: &Path, options: &Options) -> Result<Raw, SourceError> {
    // It may be read more than once: to see how far it reaches, and again for each seed.
    let file = text::look(path, None)
        .map_err(text::unfit)
        .and_then(|()| File::open(path));
    let file = file.map_err(|source| SourceError::Open {
        path: path.to_owned(),
        source,
    })?;
    let trace = fathom_trace::open_file(file, options).map_err(|error| {
        let path = path.to_owned();
        match (&*error.kind, named_compression(&path)) {
            (ErrorKind::Unrecognised { .. }, Some(compression)) => {
                SourceError::Misnamed { path, compression }
            }
            _ => SourceError::Trace { path, error },
        }
    })?;
    Ok(Raw::Trace(Box::new(trace), path.to_owned()))
}

/// What the ending of a file's name says of how it is compressed.
fn named_compression(path: &Path) -> Option<Compression> {
    match path.extension()?.to_str()? {
        "gz" => Some(Compression::Gzip),
        "xz" => Some(Compression::Xz),
        "zst" => Some(Compression::Zstd),
        _ => None,
    }
}

impl Iterator for Accesses {
    type Item = Result<Access, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.stream {
            Stream::Direct(stepped) => stepped.next(),
            Stream::Buffered(behind) => behind.next(),
        }
    }
}

impl Accesses {
    /// What was left out or changed on the way so far, in words; empty where nothing was.
    pub fn notes(&self) -> Vec<String> {
        match &self.stream {
            Stream::Direct(stepped) => stepped.notes(),
            Stream::Buffered(behind) => {
                let mut notes = behind.with_source(Stepped::notes);
                let counters = behind.counters();
                notes.push(format!(
                    "write buffer in front: {} writes of {} pages in, {} pages replaced, {} batches out, {} pages \
                     written, {} read to pad blocks",
                    counters.requests,
                    counters.pages,
                    counters.hits,
                    counters.batches,
                    counters.pages_written,
                    counters.pages_read
                ));
                notes
            }
        }
    }

    /// Works out, from now on, what the host waits for room in the write buffer in front of the drive, if there is one. To be
    /// asked before the first access is taken.
    pub fn watch_room(&mut self) -> Option<WatchedRooms> {
        match &mut self.stream {
            Stream::Direct(_) => None,
            Stream::Buffered(behind) => Some(behind.watch_room()),
        }
    }

    /// What went through the write buffer in front of the drive, if there is one.
    pub fn buffered(&self) -> Option<&Counters> {
        match &self.stream {
            Stream::Direct(_) => None,
            Stream::Buffered(behind) => Some(behind.counters()),
        }
    }
}

impl Stepped {
    /// What was left out or changed on the way, in words.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Raw::Trace(trace, _) = self.shaped.source() {
            let skipped = trace.skipped();
            if skipped.left_out() > 0 {
                notes.push(format!(
                    "{} records of the trace were left out: {} malformed, {} of an unknown operation, {} too large, {} of no bytes",
                    skipped.left_out(),
                    skipped.malformed,
                    skipped.unknown_op,
                    skipped.too_large,
                    skipped.zero_length
                ));
            }
            if skipped.backwards > 0 {
                notes.push(format!(
                    "{} accesses were moved up to the time of the one before them",
                    skipped.backwards
                ));
            }
            if skipped.cut > 0 {
                notes.push("the trace is cut off: what stood before was read".into());
            }
            if let Some(first) = trace.first_skipped() {
                notes.push(format!("the first of these: {first}"));
            }
        }
        for step in self.shaped.counts() {
            let counts = step.counts;
            if counts.dropped + counts.changed + counts.added > 0 {
                notes.push(format!(
                    "step {}: {} in, {} dropped, {} changed, {} pieces added",
                    step.step, counts.entered, counts.dropped, counts.changed, counts.added
                ));
            }
        }
        notes
    }
}

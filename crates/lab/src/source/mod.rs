//! Where accesses come from, as a user or a study file says it: a trace in a file or a generator, with steps.
//!
//! The one place that opens traces. It streams; a step that must know where a trace ends costs a first pass.

mod error;
mod reshape;
mod rooms;
mod save;
mod work;
mod workload;

pub use error::SourceError;
pub use reshape::{Reshape, Rounding};
pub(crate) use rooms::WatchedRooms;
pub use save::{SaveError, SavedAs, save};
pub use work::{Wants, Work};
pub use workload::{Kind, Workload};

use crate::text;
use fathom_block::Access;
use fathom_ssd::reshape::Counters;
use fathom_trace::{Compression, ErrorKind, Options, Trace};
use fathom_workload::generate::Generator;
use fathom_workload::step::{ResolveError, ShapeError, Shaped, Step, apply, resolve};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where unshaped accesses come from.
enum Raw {
    Trace(Box<Trace>, PathBuf),
    /// With the number of accesses that it gave.
    Generator(Box<Generator>, Arc<AtomicU64>),
}

/// How far a workload is: so much of all that it has, bytes of a trace, accesses of a generator or parts of a program.
#[derive(Clone, Debug)]
pub struct Reach {
    read: Arc<AtomicU64>,
    of: u64,
    /// Accesses of a program that are done.
    done: u64,
}

impl Reach {
    /// A program's parts.
    const PARTS: u64 = 1 << 20;
    /// How many accesses are done between two times that a program is asked how far it is: it looks at all its processes then.
    const EVERY: u64 = 64;

    /// Of a program, which says itself how far it is.
    fn of_program() -> Self {
        Self {
            read: Arc::default(),
            of: Self::PARTS,
            done: 0,
        }
    }

    /// An access more of a program is done.
    fn moved(&mut self, part: impl Fn() -> Option<f64>) {
        self.done += 1;
        if self.done.is_multiple_of(Self::EVERY)
            && let Some(part) = part()
        {
            let parts = part * Self::PARTS as f64;
            self.read.store(parts as u64, Ordering::Relaxed);
        }
    }

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
    fn raw(&self, seed: u64) -> Result<Raw, SourceError> {
        match &self.kind {
            Kind::Trace { path, read } => open_trace(path, read),
            Kind::Generator(config) => config
                .generator(seed)
                .map(|generator| Raw::Generator(Box::new(generator), Arc::default()))
                .map_err(|error| SourceError::Setting {
                    name: self.name.clone(),
                    error,
                }),
            Kind::JobFile(_) | Kind::Jobs(_) | Kind::Program(_) => {
                let found = "a program, which has no accesses before a drive answers";
                Err(self.misused(found))
            }
        }
    }

    /// That it is of another kind than what is asked for.
    fn misused(&self, found: &'static str) -> SourceError {
        SourceError::Kind {
            name: self.name.clone(),
            found,
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
        let (read, of) = match (raw, &self.kind) {
            (Raw::Trace(trace, path), _) => (trace.bytes_read()?, path.metadata().ok()?.len()),
            (Raw::Generator(_, given), Kind::Generator(config)) => {
                (Arc::clone(given), config.load().ok()?.accesses)
            }
            (Raw::Generator(..), _) => return None,
        };
        Some(Reach { read, of, done: 0 })
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
    pub(crate) fn watch_room(&mut self) -> Option<WatchedRooms> {
        match &mut self.stream {
            Stream::Direct(_) => None,
            Stream::Buffered(behind) => Some(behind.watch_room()),
        }
    }

    /// What went through the write buffer in front of the drive, if there is one.
    pub(crate) fn buffered(&self) -> Option<&Counters> {
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

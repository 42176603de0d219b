//! Opens the accesses of a workload as a user or a study file describes it: a trace file or a generator, with steps.
//!
//! This is the only place that opens traces. Traces are streamed. A step that must know where a trace ends requires a first
//! pass.

mod error;
mod job_file;
mod numbering;
mod reach;
mod reshape;
mod rooms;
mod save;
mod trace;
mod work;
mod workload;

pub use error::SourceError;
pub use job_file::Wants;
use numbering::Numbering;
pub use reach::Reach;
pub use reshape::{Reshape, Rounding};
pub(crate) use rooms::WatchedRooms;
pub use save::{SaveError, SavedAs, save, save_stream};
use trace::open_trace;
pub use work::Work;
pub use workload::{Kind, Workload};

use fathom_block::Access;
use fathom_ssd::reshape::Counters;
use fathom_trace::Trace;
use fathom_workload::generate::Generator;
use fathom_workload::step::{ResolveError, ShapeError, Shaped, Step, apply, resolve};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of accesses before the steps.
enum Raw {
    Trace(Box<Trace>, PathBuf),
    /// The generator, with a count of the accesses that it gave.
    Generator(Box<Generator>, Arc<AtomicU64>),
}

impl Iterator for Raw {
    type Item = Result<Access, SourceError>;

    // The layers of a stream are one loop, in which an access is not copied ([`Accesses::read_ahead`]).
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Raw::Trace(trace, path) => trace.next().map(|access| {
                access.map_err(|error| SourceError::Trace {
                    path: path.clone(),
                    error,
                })
            }),
            Raw::Generator(generator, given) => {
                // Nobody else counts here, and an atomic addition costs as much as the access.
                given.store(given.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                generator.next().map(Ok)
            }
        }
    }
}

/// The accesses after the steps.
struct Stepped {
    shaped: Shaped<Raw>,
    name: String,
}

impl Iterator for Stepped {
    type Item = Result<Access, SourceError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.shaped.next()?;
        Some(next.map_err(|error| shape_error(&self.name, error)))
    }
}

enum Stream {
    Direct(Stepped),
    Buffered(Box<reshape::Behind<Stepped>>),
}

/// An open workload: an iterator over its accesses after all steps.
pub struct Accesses {
    stream: Stream,
    /// The steps, with the results of a first pass.
    pub steps: Vec<Step>,
    /// Progress, if the end of the source is known. A step that ends the workload earlier is not taken into account.
    pub reach: Option<Reach>,
    processes: Numbering,
    /// Accesses that were read ahead, and the place of the next one among them.
    ahead: Vec<Access>,
    next: usize,
    /// The error behind them.
    failed: Option<SourceError>,
}

/// Accesses are read in groups: the layers of a stream cost less than half as much in a loop of their own.
const GROUP: usize = 64;

impl Workload {
    fn raw(&self, seed: u64) -> Result<Raw, SourceError> {
        match &self.kind {
            Kind::Trace { path, read } => {
                let trace = open_trace(path, read)?;
                Ok(Raw::Trace(Box::new(trace), path.clone()))
            }
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

    /// Returns the error for a workload of the wrong kind.
    fn misused(&self, found: &'static str) -> SourceError {
        SourceError::Kind {
            name: self.name.clone(),
            found,
        }
    }

    /// Checks the settings of a generator, and that a trace can be opened.
    ///
    /// # Errors
    /// [`SourceError`] of these.
    pub fn check(&self) -> Result<(), SourceError> {
        match self.is_program() {
            true => Ok(()),
            false => self.raw(0).map(drop),
        }
    }

    /// Opens the workload from its beginning. `seed` is that of a generator.
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
            processes: Numbering::default(),
            ahead: Vec::new(),
            next: 0,
            failed: None,
        })
    }

    /// Returns the progress through the source, if its end is known.
    fn reach(&self, raw: &Raw) -> Option<Reach> {
        let (read, of) = match (raw, &self.kind) {
            (Raw::Trace(trace, path), _) => (trace.bytes_read()?, path.metadata().ok()?.len()),
            (Raw::Generator(_, given), Kind::Generator(config)) => {
                (Arc::clone(given), config.load().ok()?.accesses)
            }
            (Raw::Generator(..), _) => return None,
        };
        Some(Reach::new(read, of))
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

impl Iterator for Accesses {
    type Item = Result<Access, SourceError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let access = match self.ahead.get(self.next) {
            Some(access) => *access,
            None => match self.read_ahead() {
                Some(access) => access,
                None => return self.failed.take().map(Err),
            },
        };
        self.next += 1;
        Some(Ok(access))
    }
}

/// The accesses of a workload with processes numbered from 0 ([`Accesses::numbered`]).
pub(crate) struct Numbered<'a>(&'a mut Accesses);

impl Iterator for Numbered<'_> {
    type Item = Result<Access, SourceError>;

    // An access is not copied on its way to the run loop.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let mut next = self.0.next();
        if let Some(Ok(access)) = &mut next {
            access.process = self.0.processes.number(access.process);
        }
        next
    }
}

impl Accesses {
    /// Reads the next accesses up to an error. Returns the first of them. A write buffer in front of the drive computes waits from
    /// the access that is taken, so that nothing is read ahead of it.
    fn read_ahead(&mut self) -> Option<Access> {
        self.ahead.clear();
        self.next = 0;
        let (ahead, failed) = (&mut self.ahead, &mut self.failed);
        let push = |access: Result<Access, SourceError>| match access {
            Ok(access) => ahead.push(access),
            Err(error) => *failed = Some(error),
        };
        match &mut self.stream {
            Stream::Direct(stepped) => stepped.take(GROUP).for_each(push),
            Stream::Buffered(behind) => behind.next().into_iter().for_each(push),
        }
        self.ahead.first().copied()
    }

    /// Returns true if the source gives each access a process. For a CSV trace it is known once the first access was read.
    pub fn has_processes(&self) -> bool {
        match &self.stream {
            Stream::Direct(stepped) => stepped.has_processes(),
            // A write buffer joins the writes of several processes.
            Stream::Buffered(_) => false,
        }
    }

    /// Returns the accesses with processes numbered from 0, in order of their first access.
    pub(crate) fn numbered(&mut self) -> Numbered<'_> {
        Numbered(self)
    }

    /// Returns the numbers of the processes in the source, in the order of [`Self::numbered`]; empty if it has none.
    pub(crate) fn processes(&self) -> &[u32] {
        match self.has_processes() {
            true => self.processes.found(),
            false => &[],
        }
    }

    /// Describes what was left out or changed so far; empty if nothing was.
    pub fn notes(&self) -> Vec<String> {
        match &self.stream {
            Stream::Direct(stepped) => {
                let mut notes = stepped.notes();
                notes.extend(self.processes.note());
                notes
            }
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

    /// Starts to compute the host's wait for room in the write buffer in front of the drive, if there is one. Must be
    /// called before the first access is taken.
    pub(crate) fn watch_room(&mut self) -> Option<WatchedRooms> {
        match &mut self.stream {
            Stream::Direct(_) => None,
            Stream::Buffered(behind) => Some(behind.watch_room()),
        }
    }

    /// Returns the counters of the write buffer in front of the drive, if there is one.
    pub(crate) fn buffered(&self) -> Option<&Counters> {
        match &self.stream {
            Stream::Direct(_) => None,
            Stream::Buffered(behind) => Some(behind.counters()),
        }
    }
}

impl Stepped {
    fn has_processes(&self) -> bool {
        matches!(self.shaped.source(), Raw::Trace(trace, _) if trace.has_processes())
    }

    /// Describes what was left out or changed.
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
            if skipped.trailing_bytes > 0 {
                notes.push(format!(
                    "{} bytes after the end of the compressed data were ignored",
                    skipped.trailing_bytes
                ));
            }
            if let Some(first) = trace.first_skipped() {
                notes.push(format!("the first of these: {first}"));
            }
            if skipped.unconfirmed > 0 {
                notes.push(format!(
                    "no checksum confirms the last {} records read: if the file is damaged, some are wrong",
                    skipped.unconfirmed
                ));
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

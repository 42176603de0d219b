//! A workload as a program that asks for accesses: a stream of accesses with an arrival process, fio jobs, or a benchmark.

use super::job_file::{check_handles, failed, wrong};
use super::{Kind, Reach, SourceError, Workload};
use fathom_base::{BadValue, Bytes, Time, want};
use fathom_block::program::{Done, Next, Program};
use fathom_block::{Device, DeviceInfo};
use fathom_fs::BLOCK_BYTES;
use fathom_iosched::{Class, Priority};
use fathom_platform::{Benchmark, Counter, Failed, Processors};
use fathom_run::WorkloadRecord;
use fathom_workload::program::Config;
use fathom_workload::program::fio::{self, JobFile, Jobs, PrioClass};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that is open on a drive.
pub struct Work {
    running: Running,
    /// Progress, if its end is known.
    pub reach: Option<Reach>,
    /// Notes for the user from the opening.
    pub notes: Vec<String>,
    /// I/O priorities that the workload asks for, by process.
    pub priorities: BTreeMap<String, Priority>,
}

enum Running {
    Jobs(Box<Playing>),
    Benchmark(Box<Counting>),
}

/// A benchmark whose errors are converted to those of a workload.
type Counting = Named<Box<dyn Benchmark>, Box<dyn Fn(Failed) -> SourceError>>;

/// Jobs whose errors are converted to those of a workload.
type Playing = Named<Jobs, Box<dyn Fn(fio::JobError) -> SourceError>>;

/// A program whose errors are converted to those of a workload.
struct Named<P, F> {
    program: P,
    told: F,
    reach: Option<Reach>,
}

impl<P: Program, F> Named<P, F> {
    fn new(program: P, told: F) -> Self {
        let known = program.part(Time::ZERO).is_some();
        Self {
            program,
            told,
            reach: known.then(Reach::of_program),
        }
    }
}

impl<P: Program, F: Fn(P::Error) -> SourceError> Program for Named<P, F> {
    type Error = SourceError;

    fn actors(&self) -> usize {
        self.program.actors()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, SourceError> {
        self.program.next(actor, now).map_err(&self.told)
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), SourceError> {
        if let Some(reach) = &mut self.reach {
            reach.moved(|| self.program.part(done.completed));
        }
        self.program.done(actor, done).map_err(&self.told)
    }
}

impl Workload {
    /// Returns the workload as plain data. A path that is not UTF-8 is converted lossily.
    pub fn record(&self) -> WorkloadRecord {
        let near = |path: &Path| PathBuf::from(path.to_string_lossy().into_owned());
        let kind = match &self.kind {
            Kind::Trace { path, read } => Kind::Trace {
                path: near(path),
                read: read.clone(),
            },
            Kind::JobFile(path) => Kind::JobFile(near(path)),
            other => other.clone(),
        };
        let named = Workload {
            kind,
            ..self.clone()
        };
        // Conversion of plain data with string keys to JSON cannot fail.
        WorkloadRecord::of(&named).unwrap_or_default()
    }

    /// Opens the workload as a program on a drive. Traces and generators are not programs and are refused.
    ///
    /// # Errors
    /// [`SourceError`] with the file and the line, the setting or the step.
    pub fn work(&self, info: &DeviceInfo, seed: u64) -> Result<Work, SourceError> {
        if !self.steps.is_empty() || self.reshape.is_some() {
            let found = "a program, which takes no `steps` and no `reshape`";
            return Err(self.misused(found));
        }
        match (&self.kind, self.job_file()?) {
            (Kind::Program(config), _) => benchmark(&self.name, config, info, seed),
            (_, Some(file)) => jobs(&self.jobs_place(), file, info, seed),
            (_, None) => Err(self.misused("no program")),
        }
    }
}

/// Opens a benchmark.
fn benchmark(
    name: &str,
    config: &Config,
    info: &DeviceInfo,
    seed: u64,
) -> Result<Work, SourceError> {
    check_blocks(name, info)?;
    let mut program =
        config
            .build(info.capacity_bytes, seed)
            .map_err(|error| SourceError::Setting {
                name: name.to_owned(),
                error,
            })?;
    program.bound_requests(Bytes(info.max_request_bytes));
    let name = name.to_owned();
    let told = move |error: Failed| SourceError::Program {
        name: name.clone(),
        error,
    };
    let running: Counting = Named::new(program, Box::new(told));
    Ok(Work {
        reach: running.reach.clone(),
        running: Running::Benchmark(Box::new(running)),
        notes: Vec::new(),
        priorities: BTreeMap::new(),
    })
}

/// Checks that a drive takes the blocks of a file system.
fn check_blocks(name: &str, info: &DeviceInfo) -> Result<(), SourceError> {
    if info.zoned.is_some() {
        let allowed = "left to drives without zones: it writes at any place; jobs with `zonemode=zbd` write zones";
        return Err(SourceError::Setting {
            name: name.to_owned(),
            error: BadValue::new("file-system", "on a zoned drive", allowed),
        });
    }
    let unit = u64::from(info.logical_block_bytes);
    let fits = BLOCK_BYTES.is_multiple_of(unit.max(1)) && BLOCK_BYTES <= info.max_request_bytes;
    let checked = want(fits, "file-system", "in blocks of 4KiB", || {
        let longest = Bytes(info.max_request_bytes);
        format!(
            "the drive takes multiples of {} of at most {longest}; take another drive",
            Bytes(unit)
        )
    });
    checked.map_err(|error| SourceError::Setting {
        name: name.to_owned(),
        error,
    })
}

/// Opens the jobs of a file.
fn jobs(path: &Path, file: JobFile, info: &DeviceInfo, seed: u64) -> Result<Work, SourceError> {
    check_handles(path, &file, info)?;
    let jobs = Jobs::new(&file.jobs, info, seed).map_err(|error| {
        let line = error.job.as_deref().and_then(|job| file.line(job));
        let line = error.line.or(line);
        wrong(path, &fio::FioError { line, ..error })
    })?;
    let numbered = (0..).zip(jobs.processes());
    let priorities = numbered
        .filter_map(|(number, process): (u32, _)| {
            let (class, level) = process.prio?;
            Some((number.to_string(), Priority::new(class_of(class), level)?))
        })
        .collect();
    let notes = file.notes.clone();
    let place: PathBuf = path.to_owned();
    let told = move |error| failed(&place, &file, &error);
    let running: Playing = Named::new(jobs, Box::new(told));
    Ok(Work {
        reach: running.reach.clone(),
        running: Running::Jobs(Box::new(running)),
        notes,
        priorities,
    })
}

fn class_of(class: PrioClass) -> Class {
    match class {
        PrioClass::RealTime => Class::RealTime,
        PrioClass::BestEffort => Class::BestEffort,
        PrioClass::Idle => Class::Idle,
    }
}

impl Work {
    /// Returns the program.
    pub fn program(&mut self) -> &mut dyn Program<Error = SourceError> {
        match &mut self.running {
            Running::Jobs(jobs) => &mut **jobs,
            Running::Benchmark(benchmark) => &mut **benchmark,
        }
    }

    /// Tells jobs on a zoned drive the states of its zones, before they run.
    pub(crate) fn begin_on(&mut self, device: &mut dyn Device) {
        if let Running::Jobs(jobs) = &mut self.running
            && device.info().zoned.is_some()
        {
            jobs.program.zones(&device.zones(0, usize::MAX));
        }
    }

    /// Returns the number of processes, including those of the system.
    pub fn processes(&self) -> usize {
        match &self.running {
            Running::Jobs(jobs) => jobs.actors(),
            Running::Benchmark(benchmark) => benchmark.actors(),
        }
    }

    /// Returns whether its requests come from a page cache.
    pub(crate) fn has_cache(&self) -> bool {
        matches!(self.running, Running::Benchmark(_))
    }

    /// Makes a benchmark compute on these processors, before it runs.
    pub(crate) fn compute_on(&mut self, processors: &Processors) {
        if let Running::Benchmark(benchmark) = &mut self.running {
            benchmark.program.compute_on(processors.clone());
        }
    }

    /// Returns the counters of a benchmark so far; empty for jobs.
    pub fn counters(&self) -> Vec<Counter> {
        match &self.running {
            Running::Jobs(_) => Vec::new(),
            Running::Benchmark(benchmark) => benchmark.program.counters(),
        }
    }
}

//! A workload as a program that asks for accesses: a stream of accesses with an arrival process, fio jobs, or a benchmark.

use super::{Accesses, Kind, Reach, SourceError, Workload};
use fathom_base::{Bytes, Time, want};
use fathom_block::program::{Done, Next, Program};
use fathom_block::{Access, DeviceInfo};
use fathom_fs::BLOCK_BYTES;
use fathom_iosched::{Class, Priority};
use fathom_platform::{Benchmark, Counter, Failed, Processors};
use fathom_run::WorkloadRecord;
use fathom_workload::program::fio::{self, Around, JobFile, Jobs, PrioClass, Problem};
use fathom_workload::program::{Config, Processes, Stream};
use fathom_workload::step::Arrival;
use std::collections::BTreeMap;
use std::env::VarError;
use std::io::ErrorKind;
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
    Jobs(Box<dyn Program<Error = SourceError>>),
    Benchmark(Box<Counting>),
}

/// A benchmark whose errors are converted to those of a workload.
type Counting = Named<Box<dyn Benchmark>, Box<dyn Fn(Failed) -> SourceError>>;

/// Requirements of a workload on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// True if it writes.
    pub writes: bool,
    /// True if reads must return the data that were written.
    pub data: bool,
}

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

/// The surroundings of a job file: environment variables and included files. A file name is relative to the working
/// directory, or else to the directory of the including file, as in fio 3.33 (init.c, `__parse_jobs_ini`).
struct Beside<'a>(&'a Path);

impl Around for Beside<'_> {
    #[allow(
        clippy::disallowed_methods,
        reason = "fio's `${NAME}`: the user asks for it in the job file, and the value is told and kept as a note of the run"
    )]
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err("it is no text".into()),
        }
    }

    fn file(&self, name: &str, from: &str) -> Result<(String, String), String> {
        let from = match from {
            "" => self.0,
            from => Path::new(from),
        };
        let near = from.parent().unwrap_or(Path::new("")).join(name);
        let path = match Path::new(name).exists() {
            true => PathBuf::from(name),
            false => near,
        };
        let text = crate::text::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("there is no {}, nor one here", path.display()),
            _ => format!("{}: {error}", path.display()),
        })?;
        Ok((path.display().to_string(), text))
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

    /// Returns what a job file requires of a drive before it is opened. Any other workload counts as one that writes.
    ///
    /// # Errors
    /// [`SourceError`] with the file and the line.
    pub fn wants(&self) -> Result<Wants, SourceError> {
        let Some(file) = self.job_file()? else {
            return Ok(Wants {
                writes: true,
                data: false,
            });
        };
        Ok(Wants {
            writes: file.jobs.iter().any(|job| job.rw.changes()),
            data: file.jobs.iter().any(|job| job.verify),
        })
    }

    /// Returns notes for the user on a job file: settings that are ignored, and values that came from elsewhere.
    ///
    /// # Errors
    /// [`SourceError`] with the file and the line.
    pub fn job_notes(&self) -> Result<Vec<String>, SourceError> {
        Ok(self.job_file()?.map(|file| file.notes).unwrap_or_default())
    }

    /// Parses the jobs, if the workload has any.
    fn job_file(&self) -> Result<Option<JobFile>, SourceError> {
        let read = match &self.kind {
            Kind::JobFile(path) => {
                let text = crate::text::read(path).map_err(|source| SourceError::Open {
                    path: path.clone(),
                    source,
                })?;
                fio::parse_with(&text, &Beside(path))
            }
            Kind::Jobs(text) => fio::parse(text),
            Kind::Trace { .. } | Kind::Generator(_) | Kind::Program(_) => return Ok(None),
        };
        read.map(Some)
            .map_err(|error| wrong(&self.jobs_place(), &error))
    }

    /// Returns the place of the jobs' text, for messages.
    fn jobs_place(&self) -> PathBuf {
        match &self.kind {
            Kind::JobFile(path) => path.clone(),
            _ => PathBuf::from(&self.name),
        }
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
    let wrong = |error: fio::FioError| wrong(path, &error);
    check_handles(path, &file, info)?;
    let block = u64::from(info.logical_block_bytes);
    let jobs = Jobs::new(&file.jobs, info.capacity_bytes, block, seed).map_err(wrong)?;
    let numbered = (0..).zip(jobs.processes());
    let priorities = numbered
        .filter_map(|(number, process): (u32, _)| {
            let (class, level) = process.prio?;
            Some((number.to_string(), Priority::new(class_of(class), level)?))
        })
        .collect();
    let place: PathBuf = path.to_owned();
    let told = move |error: fio::VerifyError| {
        let (path, detail) = (place.clone(), error.to_string());
        match error {
            fio::VerifyError::NoData { .. } => SourceError::KeepsNothing { path, detail },
            _ => SourceError::Verify { path, detail },
        }
    };
    let running = Named::new(jobs, told);
    Ok(Work {
        reach: running.reach.clone(),
        running: Running::Jobs(Box::new(running)),
        notes: file.notes,
        priorities,
    })
}

/// Checks that a drive has the placement handles that the jobs write with. The drive itself takes an unknown one for handle 0,
/// as the specification says, so that a wrong one would show in the result alone.
fn check_handles(path: &Path, file: &JobFile, info: &DeviceInfo) -> Result<(), SourceError> {
    let has = info.placement_handles;
    for job in file.jobs.iter().filter(|job| job.placement.fdp) {
        if let Some(plid) = job.placement.plids.iter().find(|plid| **plid >= has) {
            let those = match has {
                0 => "no placement handles".to_owned(),
                _ => format!("{has} of them, from 0"),
            };
            let name = &job.name;
            return Err(SourceError::Jobs {
                path: path.to_owned(),
                line: None,
                detail: format!(
                    "job `{name}`: `plids` has the placement handle {plid}, and the drive has {those}"
                ),
            });
        }
    }
    Ok(())
}

fn class_of(class: PrioClass) -> Class {
    match class {
        PrioClass::RealTime => Class::RealTime,
        PrioClass::BestEffort => Class::BestEffort,
        PrioClass::Idle => Class::Idle,
    }
}

fn wrong(path: &Path, error: &fio::FioError) -> SourceError {
    SourceError::Jobs {
        path: path.to_owned(),
        line: error.line,
        detail: told(error),
    }
}

/// Formats the error without its line, which the message already begins with.
fn told(error: &fio::FioError) -> String {
    match (&error.job, error.line, &error.problem) {
        (Some(job), None, problem @ Problem::Target { .. }) => format!("job `{job}`: {problem}"),
        (_, _, problem) => problem.to_string(),
    }
}

/// Checks that access `number` comes before the end of simulated time.
fn in_time(number: u64, access: Access) -> Result<Access, SourceError> {
    match access.at {
        at if at > Time::END => Err(SourceError::Late { number, at }),
        _ => Ok(access),
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

    /// Returns a program that issues accesses according to the arrival process. With processes, each plays its own stream;
    /// the other arrival processes have a single stream.
    pub(crate) fn of_accesses<'a>(
        accesses: &'a mut [Accesses],
        arrival: Arrival,
    ) -> Box<dyn Program<Error = SourceError> + 'a> {
        let all = accesses.iter_mut();
        match arrival {
            Arrival::Open => {
                let numbered = (1..).zip(all.flat_map(Accesses::numbered));
                Box::new(Stream::open(
                    numbered.map(|(number, access)| in_time(number, access?)),
                ))
            }
            Arrival::Closed { outstanding } => Box::new(Stream::closed(
                all.flat_map(Accesses::numbered),
                outstanding.get(),
            )),
            Arrival::Processes { outstanding, .. } => {
                Box::new(Processes::new(all, outstanding.get()))
            }
        }
    }
}

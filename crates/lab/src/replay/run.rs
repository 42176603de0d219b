//! Runs a plan: opens the workload, sets up the block layer, plays the accesses and collects the figures.

use super::kept::Kept;
use super::misfit::{Misfit, Shorter};
use super::requests::RequestFile;
use super::source::Source;
use crate::advice::{Step, Written};
use crate::queue::config_help;
use crate::source::{Accesses, Reach, SourceError, Workload};
use crate::store::{Staging, StoreError};
use fathom_base::BadValue;
use fathom_block::Subject;
use fathom_block::{DeviceInfo, IoError, IoErrorKind, Narrow};
use fathom_hostio::HostError;
use fathom_iosched::{BlockQueue, QueueConfig};
use fathom_model::Drive;
use fathom_run::{CutShort, PlayError, Precondition, Recorder, Reshaped, RunRecord, prepare};
use fathom_ssd::reshape::Counters;

/// The plan of a run, without the drive.
pub type Plan = fathom_run::Plan<Workload>;

/// Error that ends a run without a result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workload cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The drive failed an access.
    #[error("access {} of the workload: {}", number + 1, Misfit::words(misfit, error))]
    Device {
        /// Number of the access, counted from 0.
        number: u64,
        /// The drive's error.
        error: IoError,
        /// Explanation and advice, if the drive can never take the access.
        misfit: Option<Misfit>,
    },
    /// The drive failed during the run, and the caller needs a complete run.
    #[error("{}", .0.error)]
    CutShort(CutShort),
    /// The drive failed during preconditioning.
    #[error("while the drive was prepared: {0}")]
    Prepare(IoError),
    /// The drive does not complete its requests.
    #[error("the drive stopped: {in_flight} accesses never complete")]
    Stopped {
        /// Number of requests in flight.
        in_flight: usize,
    },
    /// The block layer cannot be set up.
    #[error(transparent)]
    Queue(#[from] BadValue),
    /// The kernel's scheduler of the drive could not be switched.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The file of accesses could not be written.
    #[error(transparent)]
    Requests(#[from] StoreError),
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

impl RunError {
    /// Returns advice on how to resolve the error, for the command line.
    pub fn help(&self) -> Option<String> {
        self.help_in(Written::CommandLine)
    }

    /// Returns advice on how to resolve the error.
    pub(crate) fn help_in(&self, written: Written) -> Option<String> {
        match self {
            Self::Source(error) => Some(error.help_in(written)),
            Self::Device { error, .. } if error.kind == IoErrorKind::ReadOnly => Some(
                "an existing file is only read until `--destroy` names it, and the workload writes over what it holds then; \
                 or name a directory, which gets a scratch file"
                    .into(),
            ),
            Self::Prepare(error) if is_of_zones(error) => {
                let [filled, fresh] = match written {
                    Written::CommandLine => ["`--precondition filled`", "`--precondition fresh`"],
                    Written::StudyFile => ["`precondition = \"filled\"`", "`precondition = \"fresh\"`"],
                };
                Some(format!(
                    "the precondition `random` writes at any place, and a zone takes writes in order only: begin with full zones \
                     ({filled}) or with empty ones ({fresh}); a job with `zonemode=zbd` before the others writes them as it likes \
                     (docs/jobs.md#zones)"
                ))
            }
            Self::Device { error, .. } if is_of_zones(error) => {
                let (fresh, reads) = (
                    match written {
                        Written::CommandLine => "`--precondition fresh`",
                        Written::StudyFile => "`precondition = \"fresh\"`",
                    },
                    Step::new("reads-only", &[]).at(written),
                );
                Some(format!(
                    "a zoned drive takes writes only at the write pointer of a zone, and none where a zone is full: a job file \
                     keeps to that with `zonemode=zbd` (docs/jobs.md#zones); else write in order to empty zones ({fresh}), or only \
                     read ({reads})"
                ))
            }
            Self::Device { misfit, .. } => misfit.as_ref().map(|misfit| misfit.help(written)),
            Self::Queue(error) => Some(config_help(error)),
            Self::CutShort(cut) => Some(cut.help.clone()),
            Self::Requests(error) => Some(error.help()),
            Self::Prepare(_) => Some("use another precondition or another drive".into()),
            _ => None,
        }
    }
}

/// Returns true if only a zoned drive refuses so.
fn is_of_zones(error: &IoError) -> bool {
    matches!(
        error.kind,
        IoErrorKind::ZoneFull | IoErrorKind::ZoneInvalidWrite | IoErrorKind::ZoneBoundary
    )
}

impl RunError {
    /// Converts an error of the run loop on a drive with these limits. `jobs` is true for a workload that is a job file.
    pub(super) fn of(error: PlayError<SourceError>, info: &DeviceInfo, jobs: bool) -> Self {
        match error {
            PlayError::Program(error) => Self::Source(error),
            PlayError::Device { number, error, .. } => Self::Device {
                number,
                misfit: match jobs {
                    true => Misfit::of_job(&error, info),
                    false => Misfit::of(&error, info),
                },
                error,
            },
            PlayError::Stopped { in_flight } => Self::Stopped { in_flight },
            PlayError::Interrupted => Self::Interrupted,
        }
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Number of completed accesses.
    pub accesses: u64,
    /// Share of the workload that was read, from 0 to 1; `None` if its end is unknown.
    pub part: Option<f64>,
}

/// Callbacks that observe a run.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Called regularly; `true` ends the run.
    pub stop: fn() -> bool,
    /// Called regularly with the progress of the run.
    pub seen: Option<&'a dyn Fn(Seen)>,
}

/// Returns the mean share that was read of several parallel streams; `None` if the end of one is unknown.
fn mean_part(reaches: &[Option<Reach>]) -> Option<f64> {
    let parts: Option<Vec<f64>> = reaches.iter().map(|r| Some(r.as_ref()?.part())).collect();
    let parts = parts.filter(|parts| !parts.is_empty())?;
    Some(parts.iter().sum::<f64>() / parts.len() as f64)
}

/// Plays the workload on a device that is ready, and returns the measurements.
///
/// # Errors
/// [`RunError`]. An incomplete file of accesses does not become part of the set.
pub(super) fn measure(
    device: &mut dyn Subject,
    plan: &Plan,
    mut source: Source,
    requests: Option<&mut Staging>,
    watch: Watch<'_>,
) -> Result<RunRecord, RunError> {
    let stop = watch.stop;
    source.begin_on(device);
    let reaches = source.reaches();
    let told = watch.seen.map(|seen| {
        move |accesses| {
            let part = mean_part(&reaches);
            seen(Seen { accesses, part });
        }
    });
    let told: Option<&dyn Fn(u64)> = told.as_ref().map(|told| told as _);
    let rooms = source.watch_room(plan.arrival);
    let file = requests.map(|set| RequestFile::create(set, device.now()));
    let mut kept = Kept::new(rooms.clone(), file.transpose()?);
    let mut recorder = Recorder::new(stop).telling(told);
    if kept.is_needed() {
        recorder = recorder.keep(&mut kept);
    }
    let cut_short = match source.play(device, plan.arrival, &mut recorder) {
        // A failed write to the file of accesses also ends the run; `finish` returns its error.
        Err(PlayError::Interrupted) if !stop() => None,
        Err(error) => match CutShort::of(&error) {
            None => {
                let jobs = plan.workload.is_job_file();
                return Err(RunError::of(error, device.info(), jobs));
            }
            cut => cut,
        },
        Ok(()) => None,
    };
    let before = recorder.before();
    let mut totals = recorder.finish();
    let numbers = source.processes(plan.arrival);
    for (process, number) in totals.processes.iter_mut().zip(numbers) {
        process.number = Some(*number);
    }
    kept.finish()?;
    let after = device.stats();
    let first = source.first();
    let reshaped = first.and_then(Accesses::buffered).map(|counters| Reshaped {
        host: rooms.map(|rooms| rooms.borrow().found()),
        ..reshaped(counters)
    });
    let steps = first.map_or_else(Vec::new, |accesses| accesses.steps.clone());
    let workload = Workload {
        steps,
        ..plan.workload.clone()
    };
    Ok(RunRecord {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        plan: plan.with(workload.record()),
        drive: None,
        work: after
            .zip(before)
            .map(|(after, before)| after.since(&before)),
        wear: None,
        reshaped,
        host: None,
        queue: None,
        counters: source.counters(),
        notes: source.notes(),
        warnings: Vec::new(),
        totals,
        cut_short,
    })
}

/// Converts the counters of a write buffer in front of the drive.
fn reshaped(counters: &Counters) -> Reshaped {
    Reshaped {
        requests: counters.requests,
        pages: counters.pages,
        hits: counters.hits,
        batches: counters.batches,
        batch_pages: counters.batch_pages.clone(),
        pages_written: counters.pages_written,
        pages_read: counters.pages_read,
        host: None,
    }
}

/// Preconditions a drive. [`Clone`] it for every run that starts from the same state.
///
/// # Errors
/// [`RunError::Prepare`].
pub fn prepared(drive: Drive, state: Precondition, seed: u64) -> Result<Drive, RunError> {
    let mut drive = drive;
    prepare(&mut drive, state, seed).map_err(RunError::Prepare)?;
    Ok(drive)
}

/// Checks a program against a drive before the drive is touched: no job may reach beyond the drive's end, and block sizes
/// must fit the drive's logical block and, where no block layer splits them, its longest request.
///
/// # Errors
/// [`RunError::Source`] with the file and the line, or the setting.
pub fn check(plan: &Plan, info: &DeviceInfo) -> Result<(), RunError> {
    if !plan.workload.is_program() {
        return Ok(());
    }
    plan.workload.work(info, plan.seed)?;
    if plan.queue.is_none() {
        let shorter = Shorter::new(info).help(Written::CommandLine);
        plan.workload
            .check_longest(info.max_request_bytes, &shorter)?;
    }
    Ok(())
}

/// Runs a plan on any device, such as a real drive, without preconditioning it.
///
/// # Errors
/// [`RunError`].
pub fn run(
    device: &mut dyn Subject,
    plan: &Plan,
    requests: Option<&mut Staging>,
    watch: Watch<'_>,
) -> Result<RunRecord, RunError> {
    let source = Source::open(plan, device.info())?;
    let Some(config) = &plan.queue else {
        return match plan.depth {
            Some(depth) => {
                let mut narrow = Narrow::new(device, depth);
                measure(&mut narrow, plan, source, requests, watch)
            }
            None => measure(device, plan, source, requests, watch),
        };
    };
    let config = of_source(config, &source)?;
    let mut queue = BlockQueue::new(device, config)?;
    let record = measure(&mut queue, plan, source, requests, watch)?;
    Ok(RunRecord {
        queue: Some(queue.stats().clone()),
        ..record
    })
}

/// Returns the settings of the block layer with the priorities that a program asks for. Priorities set for the block layer
/// override them.
pub(super) fn of_source(config: &QueueConfig, source: &Source) -> Result<QueueConfig, BadValue> {
    let mut config = config.clone();
    if let Source::Program(work) = source {
        config.check_processes(work.processes())?;
        for (process, priority) in &work.priorities {
            let asked = config.priorities.entry(process.clone());
            asked.or_insert(*priority);
        }
    }
    Ok(config)
}

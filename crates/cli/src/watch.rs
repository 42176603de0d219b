//! Watches a running measurement: progress, Ctrl-C, and checkpoints of the record.

use crate::failure::Failure;
use crate::progress::{Display, clock};
use fathom_lab::store::{self, StoreError};
use fathom_probe::session::{Observer, Progress};
use fathom_probe::{Parameter, Record};
use fathom_report::text::{human_bytes, human_duration};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval between checkpoints of a real drive's record.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Called before the process ends immediately.
static LAST: Mutex<Option<Box<dyn Fn() + Send + Sync>>> = Mutex::new(None);

/// Installs the signal handler. The first Ctrl-C (or SIGTERM) asks the run to stop, the second ends the process immediately.
/// Call it only after the permission to write was asked for: until then the first one must end the process.
///
/// # Errors
/// If the system refuses the handler.
pub(crate) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            // Not held for long: a registration is a store.
            let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(last) = last.as_ref() {
                last();
            }
            std::process::exit(130);
        }
    })
    .map_err(|e| Failure::input("fathom::signal", "cannot listen for Ctrl-C").because(e))
}

/// Registers a function to call when a second Ctrl-C ends the process. Only the last registration counts.
pub(crate) fn before_the_end(last: Box<dyn Fn() + Send + Sync>) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
}

/// Returns true if Ctrl-C was received.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Observer of a run.
pub(crate) struct Watch {
    display: Display,
    now: Option<Parameter>,
    /// Bytes that the whole run is expected to write.
    expected_bytes: u64,
    /// Bytes that were written before, by the run that this one resumes.
    before_bytes: Option<u64>,
    /// The time that the budget leaves for the run; `None` without one, and for a modelled drive, whose clock is not the
    /// user's.
    time_left: Option<Duration>,
    checkpoint: Option<Checkpoint>,
}

struct Checkpoint {
    dir: PathBuf,
    written: Instant,
    failed: Option<StoreError>,
}

impl Watch {
    /// Creates an observer that shows progress unless `quiet`. With `checkpoint`, it saves the record to that directory
    /// during the run.
    pub(crate) fn new(quiet: bool, expected_bytes: u64, checkpoint: Option<PathBuf>) -> Self {
        Self {
            display: Display::new(quiet),
            now: None,
            expected_bytes,
            before_bytes: None,
            time_left: None,
            checkpoint: checkpoint.map(|dir| Checkpoint {
                dir,
                written: clock(),
                failed: None,
            }),
        }
    }

    /// Shows no more time left than a budget allows.
    pub(crate) fn within(self, time_left: Option<Duration>) -> Self {
        Self { time_left, ..self }
    }

    /// Ends the display and returns the error of a checkpoint, which has stopped the run.
    pub(crate) fn finish(self) -> Option<StoreError> {
        self.checkpoint?.failed
    }

    /// Returns the line for a terminal; a narrow one cuts off its end.
    fn line(&self, progress: &Progress<'_>) -> String {
        let before = self.before_bytes.unwrap_or_default();
        let left = Left {
            elapsed: self.display.elapsed(),
            written: progress.bytes_written - before.min(progress.bytes_written),
            total: progress.bytes_written,
            allowed: self.time_left,
        };
        let left = left.words(self.expected_bytes, progress.bound_bytes);
        format!("{left}{}", written(progress))
    }
}

/// What the estimate of the time left depends on.
struct Left {
    elapsed: Duration,
    /// Bytes written in that time.
    written: u64,
    /// Bytes written by the whole run, earlier parts included.
    total: u64,
    /// The time that the budget allowed at the beginning.
    allowed: Option<Duration>,
}

impl Left {
    /// Returns the time left, at the same bytes per second: until the expected bytes are written, and beyond them an upper
    /// limit by the bound. Never more than the budget allows. Empty before the first write without a budget.
    fn words(&self, expected_bytes: u64, bound_bytes: u64) -> String {
        let (about, until) = match self.total < expected_bytes {
            true => ("about", expected_bytes),
            false => ("at most", bound_bytes.max(self.total)),
        };
        let rate = self.elapsed.as_nanos() as f64 / self.written as f64;
        let by_bytes = (self.written > 0).then_some(rate * (until - self.total) as f64);
        let by_time = self.allowed.map(|all| all.saturating_sub(self.elapsed));
        let by_time = by_time.map(|left| left.as_nanos() as f64);
        let (about, ns) = match (by_bytes, by_time) {
            (None, None) => return String::new(),
            (Some(ns), None) => (about, ns),
            (Some(ns), Some(most)) if ns <= most => (about, ns),
            (_, Some(most)) => ("at most", most),
        };
        format!("{about} {} left; ", human_duration(ns as u64))
    }
}

fn written(progress: &Progress<'_>) -> String {
    format!(
        "measuring {}: {} of at most {} written",
        progress.parameter.name().replace('_', " "),
        human_bytes(progress.bytes_written),
        human_bytes(progress.bound_bytes)
    )
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress<'_>) {
        self.before_bytes.get_or_insert(progress.bytes_written);
        let new = self.now.replace(progress.parameter) != Some(progress.parameter);
        if new && self.display.is_log() {
            self.display.say(&written(progress));
        }
        self.display.show(|| self.line(progress));
    }

    fn interrupted(&self) -> bool {
        let broken = self.checkpoint.as_ref().is_some_and(|c| c.failed.is_some());
        broken || interrupted()
    }

    fn step_done(&mut self, record: &Record) {
        let Some(checkpoint) = &mut self.checkpoint else {
            return;
        };
        if checkpoint.written.elapsed() >= CHECKPOINT_EVERY {
            checkpoint.failed = store::save_record(&checkpoint.dir, record).err();
            checkpoint.written = clock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_falls_towards_the_expected_bytes_and_is_a_limit_beyond_them() {
        let words = |seconds, written, total| {
            let elapsed = Duration::from_secs(seconds);
            let left = Left {
                elapsed,
                written,
                total,
                allowed: None,
            };
            left.words(100 << 20, 1000 << 20)
        };
        assert_eq!(words(10, 0, 0), "");
        assert_eq!(words(10, 20 << 20, 20 << 20), "about 40 s left; ");
        assert_eq!(words(40, 80 << 20, 80 << 20), "about 10 s left; ");
        // Half of it was written by the run that this one resumes.
        assert_eq!(words(20, 40 << 20, 80 << 20), "about 10 s left; ");
        assert_eq!(words(50, 100 << 20, 100 << 20), "at most 7 min 30 s left; ");
    }

    #[test]
    fn the_time_left_is_no_longer_than_the_budget_allows() {
        let words = |seconds, written| {
            let left = Left {
                elapsed: Duration::from_secs(seconds),
                written,
                total: written,
                allowed: Some(Duration::from_secs(120)),
            };
            left.words(100 << 20, 1000 << 20)
        };
        assert_eq!(words(20, 0), "at most 1 min 40 s left; ");
        // At this rate the bytes would take 180 s more.
        assert_eq!(words(20, 10 << 20), "at most 1 min 40 s left; ");
        assert_eq!(words(20, 80 << 20), "about 5 s left; ");
        assert_eq!(words(130, 80 << 20), "at most 0 ns left; ");
    }
}

//! What a user sees of a run while it goes on, Ctrl-C, and checkpoints of the record.

use crate::failure::Failure;
use crate::progress::{Display, clock};
use fathom_lab::store::{self, StoreError};
use fathom_probe::session::{Observer, Progress};
use fathom_probe::{Parameter, Record};
use fathom_report::text::{human_bytes, human_duration};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the record of a real drive is written while the run goes on.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// What is done before the process ends at once.
static LAST: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// From now on the first Ctrl-C (or SIGTERM) asks the run to end, the second ends the process at once. Not before leave to
/// write was asked for: there the first one has to end the process.
///
/// # Errors
/// When the system does not let a handler be set.
pub(crate) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            if let Some(last) = LAST.get() {
                last();
            }
            std::process::exit(130);
        }
    })
    .map_err(|e| Failure::input("fathom::signal", "cannot listen for Ctrl-C").because(e))
}

/// Has something done where a second Ctrl-C ends the process at once; the first call counts.
pub(crate) fn before_the_end(last: impl Fn() + Send + Sync + 'static) {
    let _the_first_counts = LAST.set(Box::new(last));
}

/// Whether Ctrl-C came.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Watches a run.
pub(crate) struct Watch {
    display: Display,
    now: Option<Parameter>,
    checkpoint: Option<Checkpoint>,
}

struct Checkpoint {
    dir: PathBuf,
    written: Instant,
    failed: Option<StoreError>,
}

impl Watch {
    /// Shows progress unless `quiet`; with `checkpoint`, keeps the record in that directory while the run goes on.
    pub(crate) fn new(quiet: bool, checkpoint: Option<PathBuf>) -> Self {
        Self {
            display: Display::new(quiet),
            now: None,
            checkpoint: checkpoint.map(|dir| Checkpoint {
                dir,
                written: clock(),
                failed: None,
            }),
        }
    }

    /// Ends the display; gives a checkpoint's error, which has stopped the run.
    pub(crate) fn finish(self) -> Option<StoreError> {
        self.checkpoint?.failed
    }

    /// The line of a terminal; a narrow one cuts off its end. It gives no time left: the probes stop far below the bound.
    fn line(&self, progress: &Progress<'_>) -> String {
        let elapsed = u64::try_from(self.display.elapsed().as_nanos()).unwrap_or(u64::MAX);
        format!("{}, {}", written(progress), human_duration(elapsed))
    }
}

fn written(progress: &Progress<'_>) -> String {
    format!(
        "measuring {}: {} of at most {} written",
        progress.parameter,
        human_bytes(progress.bytes_written),
        human_bytes(progress.bound_bytes)
    )
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress<'_>) {
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

//! Progress through a workload.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress through a workload: the amount read and the total, in bytes of a trace, accesses of a generator or parts of a
/// program.
#[derive(Clone, Debug)]
pub struct Reach {
    read: Arc<AtomicU64>,
    of: u64,
    /// Completed accesses of a program.
    done: u64,
}

impl Reach {
    /// Number of parts that a program counts as.
    const PARTS: u64 = 1 << 20;
    /// Number of completed accesses between two requests for a program's progress. A request is costly: it looks at all
    /// processes.
    const EVERY: u64 = 64;

    /// Creates the progress of a source that counts what was read in `read`, of `of`.
    pub(super) fn new(read: Arc<AtomicU64>, of: u64) -> Self {
        Self { read, of, done: 0 }
    }

    /// The progress of a program, which reports it itself.
    pub(super) fn of_program() -> Self {
        Self {
            read: Arc::default(),
            of: Self::PARTS,
            done: 0,
        }
    }

    /// Counts a completed access of a program, and updates the progress every [`Self::EVERY`] accesses.
    pub(super) fn moved(&mut self, part: impl Fn() -> Option<f64>) {
        self.done += 1;
        if self.done.is_multiple_of(Self::EVERY)
            && let Some(part) = part()
        {
            let parts = part * Self::PARTS as f64;
            self.read.store(parts as u64, Ordering::Relaxed);
        }
    }

    /// Returns the share that was read, from 0 to 1.
    pub fn part(&self) -> f64 {
        let read = self.read.load(Ordering::Relaxed);
        (read as f64 / self.of.max(1) as f64).min(1.0)
    }
}

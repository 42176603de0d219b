//! The progress of a process.

use super::{Phase, Process};
use fathom_base::Time;

impl Process {
    /// Returns the progress at `now`, from 0 to 1: of the time, the bytes or the number of accesses, whichever is
    /// furthest. Verification does not count.
    pub(in super::super) fn part(&self, now: Time) -> f64 {
        let since = match self.phase {
            Phase::Waiting => return 0.0,
            Phase::Over => return 1.0,
            Phase::Running { since }
            | Phase::Syncing { since }
            | Phase::Draining { since }
            | Phase::Checking { since, .. } => since,
        };
        let of = |done: u64, all: u64| match all {
            0 => 0.0,
            all => done as f64 / all as f64,
        };
        let end = self.end(since);
        let time = match end {
            Time::MAX => 0.0,
            end => of(now.since(since).0, end.since(since).0),
        };
        let bytes = of(self.asked.bytes, self.region.io_bytes.unwrap_or(0));
        let number = of(self.asked.accesses, self.most_accesses());
        time.max(bytes).max(number).min(1.0)
    }
}

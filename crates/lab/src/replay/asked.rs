//! Records what a program asks of a drive, with times, as a trace.

use super::run::RunError;
use crate::source::Workload;
use fathom_base::Time;
use fathom_block::Access;
use fathom_block::Subject;
use fathom_run::{Moment, Observer, Played, play};

struct Collected {
    start: Time,
    /// Each access with its number, in the order in which they were asked for.
    accesses: Vec<(u64, Access)>,
    stop: fn() -> bool,
}

impl Observer for Collected {
    fn begin(&mut self, start: Time, _moment: Moment) {
        self.start = start;
    }

    fn played(&mut self, played: &Played, _moment: &dyn Fn() -> Moment) {
        let access = Access {
            at: Time(played.asked.since(self.start).0),
            process: played.process,
            ..played.access
        };
        self.accesses.push((played.number, access));
    }

    fn interrupted(&self) -> bool {
        (self.stop)()
    }
}

/// Plays a program to its end on a drive and returns its accesses in order of time. A program's accesses depend on how fast
/// the drive answers, so the trace is one of both. Holds all of them in memory, 48 bytes each.
///
/// # Errors
/// [`RunError`].
pub fn asked(
    device: &mut dyn Subject,
    workload: &Workload,
    seed: u64,
    stop: fn() -> bool,
) -> Result<Vec<Access>, RunError> {
    let mut collected = Collected {
        start: Time::ZERO,
        accesses: Vec::new(),
        stop,
    };
    let mut work = workload.work(device.info(), seed)?;
    work.begin_on(device);
    play(device, work.program(), &mut collected)
        .map_err(|error| RunError::of(error, device.info(), workload.is_job_file()))?;
    let mut accesses = collected.accesses;
    accesses.sort_by_key(|(number, access)| (access.at, *number));
    Ok(accesses.into_iter().map(|(_, access)| access).collect())
}

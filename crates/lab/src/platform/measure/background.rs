//! What others use of the processors: other programs, and the host of a virtual machine.

use fathom_hostio::load::{CpuTimes, CpuWatch, LoadReport};
use fathom_report::platform::Others;
use rustix::thread::{Timespec, nanosleep};
use std::cell::Cell;

/// Length of a look, a multiple of the ticks in which the kernel counts.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 300_000_000,
};

/// What others use.
#[derive(Debug, Default)]
pub(super) struct Background {
    /// Share of the processors that was busy before the measurement; `None` if the kernel does not count.
    before: Option<f64>,
    /// Nanoseconds that the host took during loads, and those of all processors.
    taken: Cell<[f64; 2]>,
}

impl Background {
    /// Looks at the processors while nothing is measured.
    pub(super) fn look() -> Self {
        Self {
            before: busy(),
            ..Self::default()
        }
    }

    /// The share of the processors that other programs used before the measurement.
    pub(super) fn programs(&self) -> f64 {
        self.before.unwrap_or_default()
    }

    /// Adds what the host took during a load.
    pub(super) fn add(&self, report: &LoadReport) {
        let stolen: u64 = report.cpus.iter().map(|cpu| cpu.steal_ns).sum();
        let all = report.cpus_wall_ns as f64 * report.cpus.len() as f64;
        let [taken, of] = self.taken.get();
        self.taken.set([taken + stolen as f64, of + all]);
    }

    /// Looks again, after the measurement.
    pub(super) fn others(&self) -> Option<Others> {
        let [taken, of] = self.taken.get();
        Some(Others {
            programs: self.before?.max(busy()?),
            host: if of > 0.0 { taken / of } else { 0.0 },
        })
    }
}

/// The share of the processors that is busy now.
fn busy() -> Option<f64> {
    let watch = CpuWatch::start();
    let _woken_early_is_fine = nanosleep(&LOOK);
    let (cpus, wall_ns) = watch.seen();
    share(&cpus, wall_ns)
}

fn share(cpus: &[CpuTimes], wall_ns: u64) -> Option<f64> {
    let all = wall_ns as f64 * cpus.len() as f64;
    let idle: u64 = cpus.iter().map(|cpu| cpu.idle_ns).sum();
    (all > 0.0).then(|| (1.0 - idle as f64 / all).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_what_is_not_idle() {
        let cpu = |idle_ns| CpuTimes {
            idle_ns,
            ..CpuTimes::default()
        };
        assert_eq!(share(&[cpu(100), cpu(50)], 100), Some(0.25));
        assert_eq!(share(&[cpu(110)], 100), Some(0.0));
        assert_eq!(share(&[], 100), None);
    }
}

//! The figures of a run, with their units in their names.

use fathom_base::{Dur, Time};
use fathom_block::{DriveStats, QueueWork};
use fathom_stats::batches::Interval;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Figures of one kind of access. Response times count from when an access was asked for, service times from when the
/// drive accepted it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Number of accesses.
    pub count: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Mean response time with its 95 % interval by batch means.
    pub response_ns: Interval,
    /// Mean service time, in nanoseconds.
    pub service_mean_ns: f64,
    /// Median response time, to three digits. The other quantiles have the same precision.
    pub p50_ns: u64,
    /// 90 % quantile.
    pub p90_ns: u64,
    /// 99 % quantile.
    pub p99_ns: u64,
    /// 99.9 % quantile.
    pub p999_ns: u64,
    /// Maximum response time, exact.
    pub max_ns: u64,
}

/// Formats the number of accesses and their response times in milliseconds.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: u64| ns as f64 / 1e6;
        write!(
            f,
            "{} accesses: mean {:.3} ms, p50 {:.3} ms, p99 {:.3} ms, longest {:.3} ms",
            self.count,
            self.response_ns.mean / 1e6,
            ms(self.p50_ns),
            ms(self.p99_ns),
            ms(self.max_ns)
        )
    }
}

/// A bucket of the timeline: the accesses completed in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Number of accesses.
    pub count: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Sum of the response times.
    pub response_ns: u64,
    /// Maximum response time.
    pub max_ns: u64,
    /// The work of the drive before the bucket began.
    pub drive: DriveStats,
    /// The waiting in the block layer before the bucket began, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Waiting>,
}

/// Waiting in a block layer accumulated up to a moment. The difference between two moments, divided by the time between
/// them, is the mean number of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The moment, on the drive's clock.
    pub at: Time,
    /// Sum of the times from submission to completion, up to this moment: requests times nanoseconds.
    pub held_ns: u64,
    /// Sum of the times at the drive, up to this moment: requests times nanoseconds.
    pub in_flight_ns: u64,
}

impl Waiting {
    pub(super) fn of(work: &QueueWork) -> Self {
        Self {
            at: work.at,
            held_ns: work.held_ns,
            in_flight_ns: work.in_flight_ns,
        }
    }

    /// Mean numbers of incomplete requests and of requests at the drive, from this moment until a later one.
    pub fn until(&self, later: &Waiting) -> Option<(f64, f64)> {
        let ns = later.at.0.checked_sub(self.at.0).filter(|ns| *ns > 0)? as f64;
        let mean = |from: u64, to: u64| to.saturating_sub(from) as f64 / ns;
        Some((
            mean(self.held_ns, later.held_ns),
            mean(self.in_flight_ns, later.in_flight_ns),
        ))
    }
}

impl Bucket {
    /// Joins this bucket with the next one.
    pub(super) fn join(&self, next: Option<&Bucket>) -> Bucket {
        let Some(next) = next else { return *self };
        Bucket {
            count: self.count + next.count,
            bytes: self.bytes + next.bytes,
            response_ns: self.response_ns + next.response_ns,
            max_ns: self.max_ns.max(next.max_ns),
            drive: self.drive,
            queue: self.queue,
        }
    }
}

/// A point of the distribution of response times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The share of accesses, from 0 to 1, that took no longer.
    pub share: f64,
    /// The response time, to three digits.
    pub ns: u64,
}

/// Quantiles of the response time, in steps that narrow towards the longest. Empty if there was no such access.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Reads and writes.
    pub all: Vec<Quantile>,
    /// Reads.
    pub reads: Vec<Quantile>,
    /// Writes.
    pub writes: Vec<Quantile>,
}

/// Figures of one of several processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Its number in the trace, if the processes are those of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Number of accesses.
    pub count: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Sum of the response times, in nanoseconds.
    pub response_ns: u64,
    /// Maximum response time, in nanoseconds.
    pub max_ns: u64,
    /// Time from the start of the run to the first request of the process.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub began: Dur,
    /// Time from the start of the run to the last completion of the process.
    pub finished: Dur,
    /// Bytes completed in each bucket of the timeline; only for the first processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<u64>,
}

fn is_zero(time: &Dur) -> bool {
    *time == Dur::ZERO
}

impl Process {
    /// Bytes per second, from its first request to its last completion.
    pub fn bytes_per_second(&self) -> f64 {
        let ran = self.finished.0.saturating_sub(self.began.0);
        self.bytes as f64 * 1e9 / ran.max(1) as f64
    }
}

/// The measurements of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Reads and writes.
    pub all: Option<Side>,
    /// Reads.
    pub reads: Option<Side>,
    /// Writes.
    pub writes: Option<Side>,
    /// The distributions of response times.
    #[serde(default)]
    pub distribution: Distribution,
    /// Flushes, trims and changes of zones together.
    pub others: u64,
    /// Flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<Side>,
    /// Trims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Side>,
    /// Resets of zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_resets: Option<Side>,
    /// Zones that were finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_finishes: Option<Side>,
    /// Figures by process, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
    /// Time from the start to the last completion.
    pub duration: Dur,
    /// Time in which the device had at least one accepted and incomplete access. With a block layer, that is the
    /// device.
    #[serde(default)]
    pub busy: Dur,
    /// Width of a bucket of the timeline.
    pub bucket: Dur,
    /// The timeline, from the start to the end.
    pub timeline: Vec<Bucket>,
}

impl Totals {
    /// Number of accesses of every kind.
    pub fn count(&self) -> u64 {
        self.all.map_or(0, |side| side.count) + self.others
    }

    /// Accesses per second.
    pub fn accesses_per_second(&self) -> f64 {
        self.count() as f64 * 1e9 / (self.duration.0.max(1)) as f64
    }

    /// Jain's fairness index of the throughput of the processes, each in bytes per second while it ran: 1 if all got the
    /// same, `1 / n` if one of n got everything (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984). `None` with fewer than two
    /// processes, and if one began when another had finished: they did not share the drive.
    pub fn fairness(&self) -> Option<f64> {
        let last_began = self.processes.iter().map(|process| process.began).max()?;
        if self.processes.iter().any(|p| p.finished < last_began) {
            return None;
        }
        let rates: Vec<f64> = self
            .processes
            .iter()
            .map(Process::bytes_per_second)
            .collect();
        let (sum, squares) = rates
            .iter()
            .fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
    }

    /// Bytes per second, of reads and writes.
    pub fn bytes_per_second(&self) -> f64 {
        self.all.map_or(0, |side| side.bytes) as f64 * 1e9 / (self.duration.0.max(1)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_among_equals_and_an_nth_where_one_has_all() {
        let process = |bytes, seconds: u64| Process {
            bytes,
            finished: Dur::ms(1000 * seconds),
            ..Process::default()
        };
        let of = |processes: &[Process]| {
            let totals = Totals {
                processes: processes.to_vec(),
                ..Totals::default()
            };
            totals.fairness()
        };
        // One after the other, as behind a stonewall: each had the drive for itself.
        let later = Process {
            began: Dur::ms(2000),
            ..process(5, 3)
        };
        assert_eq!(of(&[process(5, 1), later.clone()]), None);
        // Five bytes a second, both of them.
        assert_eq!(of(&[process(15, 3), later]), Some(1.0));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[process(5, 1)]), None);
        let near = |processes: &[Process], fairness: f64| {
            let found = of(processes).unwrap();
            assert!(
                (found - fairness).abs() < 1e-12,
                "{found} and not {fairness}"
            );
        };
        near(&[process(5, 1), process(10, 2), process(20, 4)], 1.0);
        let none = process(0, 1);
        near(&[process(8, 1), none.clone(), none.clone(), none], 0.25);
        // Rates of 3 and 1: 16 / (2 * 10).
        near(&[process(6, 2), process(2, 2)], 0.8);
    }
}

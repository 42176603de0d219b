//! What a run gives: figures with their units in their names, and everything that is needed to repeat it.

use super::batches::Interval;
use super::play::PlayError;
use super::run::Plan;
use crate::source::HostWait;
use fathom_base::{Dur, Time};
use fathom_block::IoErrorKind;
use fathom_block::QueueWork;
use fathom_block::{DriveStats, Wear};
use fathom_iosched::QueueStats;
use fathom_ssd::reshape::Counters;
use fathom_workload::program::machine::Counter;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Figures of one kind of access. Response times count from when an access was asked for, service times from
/// when the drive took it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Accesses.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Mean response time with its 95 % interval by batch means.
    pub response_ns: Interval,
    /// Mean service time.
    pub service_mean_ns: f64,
    /// Quantiles of the response time, to three digits.
    pub p50_ns: u64,
    /// 90 %.
    pub p90_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// The longest, exactly.
    pub max_ns: u64,
}

/// A stretch of the timeline: the accesses that were done in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Accesses.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// The sum of their response times.
    pub response_ns: u64,
    /// The longest of them.
    pub max_ns: u64,
    /// What the drive had done when it began.
    pub drive: DriveStats,
    /// What had waited in the block layer when it began, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Waiting>,
}

/// How much had waited in a block layer up to a moment. Between two moments the difference, over the time between them, is
/// how many requests there were on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The moment, on the drive's clock.
    pub at: Time,
    /// Requests times nanoseconds that they were not done, from when they were submitted.
    pub held_ns: u64,
    /// Requests times nanoseconds that the drive had them.
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

    /// Requests that were not done, and that the drive had, on average until a later moment.
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
    /// This stretch and the next one as one.
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

/// Response times from the shortest to the longest, in steps that narrow towards the longest. Empty where there
/// was no such access.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Reads and writes.
    pub all: Vec<Quantile>,
    /// Reads.
    pub reads: Vec<Quantile>,
    /// Writes.
    pub writes: Vec<Quantile>,
}

/// What one of several processes got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Accesses.
    pub count: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// The sum of response times.
    pub response_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// From the start of the run to its last completion.
    pub finished: Dur,
    /// Bytes done in each stretch of the timeline, of the first few processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<u64>,
}

/// What was measured on a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Reads and writes.
    pub all: Option<Side>,
    /// Reads.
    pub reads: Option<Side>,
    /// Writes.
    pub writes: Option<Side>,
    /// How response times are distributed.
    #[serde(default)]
    pub distribution: Distribution,
    /// Flushes and trims together.
    pub others: u64,
    /// Flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<Side>,
    /// Trims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Side>,
    /// What each process got, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
    /// From the start to the last completion.
    pub duration: Dur,
    /// How long of that the device had at least one access, of what it had taken and not completed. Where there is a block
    /// layer, it is the device.
    #[serde(default)]
    pub busy: Dur,
    /// The width of a stretch of the timeline.
    pub bucket: Dur,
    /// From the start to the end.
    pub timeline: Vec<Bucket>,
}

impl Totals {
    /// Accesses per second.
    pub fn accesses_per_second(&self) -> f64 {
        let count = self.all.map_or(0, |side| side.count) + self.others;
        count as f64 * 1e9 / (self.duration.0.max(1)) as f64
    }

    /// Jain's index of what the processes got, bytes a second until each was done: 1 where all got the same, `1 / n` where
    /// one of n got all (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984). `None` with fewer than two processes.
    pub fn fairness(&self) -> Option<f64> {
        let rate = |process: &Process| process.bytes as f64 / process.finished.0.max(1) as f64;
        let rates: Vec<f64> = self.processes.iter().map(rate).collect();
        let (sum, squares) = rates
            .iter()
            .fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
    }

    /// Bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.all.map_or(0, |side| side.bytes) as f64 * 1e9 / (self.duration.0.max(1)) as f64
    }
}

/// What went through a write buffer in front of the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reshaped {
    /// Writes that came.
    pub requests: u64,
    /// Their pages.
    pub pages: u64,
    /// Pages that replaced one in the buffer.
    pub hits: u64,
    /// Times that something left.
    pub batches: u64,
    /// How many batches had that many pages of the buffer's.
    pub batch_pages: BTreeMap<u32, u64>,
    /// Pages written, those that pad blocks included.
    pub pages_written: u64,
    /// Pages read to pad blocks.
    pub pages_read: u64,
    /// What the host waits for room, where the writes have times of their own (an open arrival).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostWait>,
}

impl Reshaped {
    /// Pages that left the buffer, without what pads blocks.
    pub fn left(&self) -> u64 {
        let batches = self.batch_pages.iter();
        batches.map(|(&pages, &n)| u64::from(pages) * n).sum()
    }

    /// What the host waits for an original write on average, in nanoseconds; hits, and what finds room, count as 0.
    pub fn host_wait_ns(&self) -> Option<f64> {
        let host = self.host.filter(|_| self.requests > 0)?;
        Some(host.total_ns as f64 / self.requests as f64)
    }
}

impl From<&Counters> for Reshaped {
    fn from(counters: &Counters) -> Self {
        Self {
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
}

/// A drive that failed on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutShort {
    /// Which access failed, counted from 0.
    pub number: u64,
    /// How.
    pub error: String,
    /// What to do.
    pub help: String,
    /// Accesses that were in flight then: some may have reached the drive.
    pub lost: usize,
}

impl CutShort {
    /// Of a drive that failed an access that it might have done; `None` for anything else, such as an access past its
    /// end.
    pub(super) fn of<E: std::error::Error>(error: &PlayError<E>) -> Option<Self> {
        let PlayError::Device {
            number,
            error,
            lost,
        } = error
        else {
            return None;
        };
        let help = match error.kind {
            IoErrorKind::Gone => {
                "look at its cable, its power and the kernel's log; what stood on it may be damaged"
            }
            IoErrorKind::NoSpace => {
                "make room on what holds the file, or use a smaller one (`--size`)"
            }
            IoErrorKind::Medium | IoErrorKind::Os(_) => {
                "look at the kernel's log and the drive's own (smartctl)"
            }
            _ => return None,
        };
        Some(Self {
            number: *number,
            error: error.to_string(),
            help: help.to_owned(),
            lost: *lost,
        })
    }
}

/// Something that a program has counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// What.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Of what; empty for a number of things.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

impl From<Counter> for Counted {
    fn from(counter: Counter) -> Self {
        Self {
            name: counter.name.to_owned(),
            value: counter.value,
            unit: counter.unit.to_owned(),
        }
    }
}

/// A whole run: what was asked, of which drive, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Fathom's version.
    pub fathom: String,
    /// What was asked for, with what a first pass over the workload has found.
    pub plan: Plan,
    /// The drive file with every default, of a modelled drive.
    pub drive: Option<String>,
    /// What was measured.
    pub totals: Totals,
    /// What went through a write buffer in front of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshaped: Option<Reshaped>,
    /// What went through the block layer above the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueStats>,
    /// What a program has counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counted>,
    /// What the drive did during the run.
    pub work: Option<DriveStats>,
    /// The wear of its blocks at the end.
    pub wear: Option<Wear>,
    /// How the run ended where it did not come to its end; its figures are about what completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
    /// Notes on what was left out: lines skipped, accesses dropped or changed by a step.
    pub notes: Vec<String>,
    /// What a reader must know before the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
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

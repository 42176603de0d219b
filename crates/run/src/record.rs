//! The record of a run: its plan, its drive and its results, as stored in `run.json`.

use crate::figures::{Side, Totals};
use crate::plan::{Plan, WorkloadRecord};
use crate::play::PlayError;
use fathom_block::{DriveStats, IoErrorKind, Wear};
use fathom_iosched::QueueStats;
use fathom_platform::HostWork;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The time that the host waited for room in the write buffer. The mean over all original writes is `total_ns` divided
/// by their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostWait {
    /// Number of original writes that had to wait.
    pub waited: u64,
    /// Total waiting time, in nanoseconds.
    pub total_ns: u64,
    /// Longest waiting time, in nanoseconds.
    pub max_ns: u64,
}

/// The work of a write buffer in front of the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reshaped {
    /// Number of writes received.
    pub requests: u64,
    /// Number of pages received.
    pub pages: u64,
    /// Number of pages that replaced one in the buffer.
    pub hits: u64,
    /// Number of evicted batches.
    pub batches: u64,
    /// Number of batches by their number of pages from the buffer.
    pub batch_pages: BTreeMap<u32, u64>,
    /// Number of pages written, including those that pad blocks.
    pub pages_written: u64,
    /// Number of pages read to pad blocks.
    pub pages_read: u64,
    /// Waiting time of the host for room, if the writes have times of their own (an open arrival).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostWait>,
}

impl Reshaped {
    /// Number of pages evicted from the buffer, without those that pad blocks.
    pub fn left(&self) -> u64 {
        let batches = self.batch_pages.iter();
        batches.map(|(&pages, &n)| u64::from(pages) * n).sum()
    }

    /// Mean waiting time of an original write, in nanoseconds. Hits, and writes that find room, count as 0.
    pub fn host_wait_ns(&self) -> Option<f64> {
        let host = self.host.filter(|_| self.requests > 0)?;
        Some(host.total_ns as f64 / self.requests as f64)
    }
}

/// A run that ended because the drive failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutShort {
    /// The number of the access that failed, from 0.
    pub number: u64,
    /// The error.
    pub error: String,
    /// Advice for the user.
    pub help: String,
    /// Number of other accesses in flight at that time; some may have reached the drive.
    pub lost: usize,
}

impl CutShort {
    /// Returns the record of a failed access that was valid. `None` for any other error, such as an access past the end
    /// of the drive.
    pub fn of<E: std::error::Error>(error: &PlayError<E>) -> Option<Self> {
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

/// A counter of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The name of the counter.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The unit; empty for a number of things.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

/// The record of a run: its plan, its drive and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of Fathom.
    pub fathom: String,
    /// The plan, with the findings of a first pass over the workload.
    pub plan: Plan<WorkloadRecord>,
    /// The drive file of a modelled drive, with every default.
    pub drive: Option<String>,
    /// The measurements.
    pub totals: Totals,
    /// The work of a write buffer in front of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshaped: Option<Reshaped>,
    /// The work of the host, if it was charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostWork>,
    /// The counters of the block layer above the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueStats>,
    /// The counters of a program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counted>,
    /// The work of the drive during the run.
    pub work: Option<DriveStats>,
    /// The wear of the drive's blocks at the end.
    pub wear: Option<Wear>,
    /// The failure that ended the run early. The figures cover the completed accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
    /// Notes on what was left out: lines skipped, accesses dropped or changed by a step.
    pub notes: Vec<String>,
    /// Warnings to show before the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RunRecord {
    /// The kinds of access that occurred, with their names; "all" means reads and writes.
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, &Side)> {
        let totals = &self.totals;
        [
            ("reads", &totals.reads),
            ("writes", &totals.writes),
            ("all", &totals.all),
            ("flushes", &totals.flushes),
            ("trims", &totals.trims),
            ("zone resets", &totals.zone_resets),
            ("zone finishes", &totals.zone_finishes),
        ]
        .into_iter()
        .filter_map(|(name, side)| Some((name, side.as_ref()?)))
    }
}

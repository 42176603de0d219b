//! A run as it is kept: what was asked for, of which drive, and what came of it. A run's `run.json` is this.

use crate::figures::{Side, Totals};
use crate::plan::{Plan, WorkloadRecord};
use crate::play::PlayError;
use fathom_block::{DriveStats, IoErrorKind, Wear};
use fathom_iosched::QueueStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the host waited for room. The mean over all original writes is `total_ns` over their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostWait {
    /// Original writes that waited at all.
    pub waited: u64,
    /// The sum of what they waited, in nanoseconds.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
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

/// A whole run: what was asked, of which drive, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Fathom's version.
    pub fathom: String,
    /// What was asked for, with what a first pass over the workload has found.
    pub plan: Plan<WorkloadRecord>,
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

impl RunRecord {
    /// The kinds of access that the run had, with their names; "all" are reads and writes.
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, &Side)> {
        let totals = &self.totals;
        [
            ("reads", &totals.reads),
            ("writes", &totals.writes),
            ("all", &totals.all),
            ("flushes", &totals.flushes),
            ("trims", &totals.trims),
        ]
        .into_iter()
        .filter_map(|(name, side)| Some((name, side.as_ref()?)))
    }
}

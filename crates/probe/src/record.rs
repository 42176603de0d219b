//! The raw record: every sample of a run, so that the answers can be computed again without the drive.
//!
//! A run is a list of steps. A step is the unit of resuming: the record holds all of it or nothing. Every sample belongs to
//! a step. This module does no file I/O (`fathom-lab` does).

use crate::{Method, Parameter, Reported, Series};
use fathom_block::DriveLog;
use serde::{Deserialize, Serialize};

/// How much time and how many bytes a probe may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// At most two minutes and 4 GiB written for the whole run; each probe measures as little as gives an answer.
    Quick,
    /// As long as each probe takes.
    #[default]
    Full,
}

impl Level {
    fn is_full(&self) -> bool {
        *self == Level::Full
    }
}

/// The operation that a sample timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timed {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A write and the flush after it.
    WriteFlush,
    /// A flush.
    Flush,
    /// A write that is durable when it completes (forced unit access).
    WriteThrough,
    /// A trim.
    Trim,
    /// A pause of the host.
    Idle,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The step that it belongs to (index into [`Record::steps`]).
    pub step: u32,
    /// The parameter that was being measured.
    pub parameter: Parameter,
    /// The series: one line of a plot.
    pub series: Series,
    /// The x coordinate on that line, in bytes: usually the request size (see [`crate::about::X`]).
    pub x: u64,
    /// The number of the repetition.
    pub rep: u32,
    /// The operation that was timed.
    pub timed: Timed,
    /// The offset on the drive, in bytes.
    pub offset: u64,
    /// The number of bytes moved in `ns`; several requests may be timed together.
    pub bytes: u64,
    /// The duration, in nanoseconds.
    pub ns: u64,
    /// The start, on the drive's clock, in nanoseconds.
    pub at_ns: u64,
}

/// The cost of a step, an answer or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes written to the drive, preparation included.
    pub bytes_written: u64,
    /// Bytes read from the drive.
    pub bytes_read: u64,
    /// The number of requests.
    pub requests: u64,
    /// The time spent, on the drive's clock, in nanoseconds.
    pub device_ns: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.bytes_written += other.bytes_written;
        self.bytes_read += other.bytes_read;
        self.requests += other.requests;
        self.device_ns += other.device_ns;
    }
}

/// A complete piece of work: a preparation or a batch of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The parameter that the step belongs to.
    pub parameter: Parameter,
    /// The name, unique among the steps of its parameter: `init`, `sweep 4096`.
    pub name: String,
    /// The cost of the step.
    pub cost: Cost,
    /// What the drive's own log said during the step, in order of time; at the end of a parameter, what it said then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<DriveLog>,
    /// What was wrong with the drive during the parameter that the step belongs to.
    #[serde(default, skip_serializing_if = "Marks::is_none")]
    pub marks: Marks,
}

/// What was wrong with a drive while it was measured ([`crate::condition`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// It was too hot, by its own log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hot: bool,
    /// It was slower than at the beginning of the run, by the reference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slow: bool,
}

impl Marks {
    /// Returns true if nothing was wrong.
    pub fn is_none(&self) -> bool {
        *self == Marks::default()
    }

    /// Returns what was wrong in words, such as `hot and slow`; empty if nothing was.
    pub fn words(self) -> &'static str {
        match (self.hot, self.slow) {
            (true, true) => "hot and slow",
            (true, false) => "hot",
            (false, true) => "slow",
            (false, false) => "",
        }
    }

    /// Returns the marks of two together.
    #[must_use]
    pub(crate) fn with(self, other: Marks) -> Marks {
        Marks {
            hot: self.hot || other.hot,
            slow: self.slow || other.slow,
        }
    }
}

/// The same few reads and writes, taken at the beginning of a run and after each parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The parameter that was measured before it; `None` at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Parameter>,
    /// When it began, on the drive's clock, in nanoseconds.
    pub at_ns: u64,
    /// The times of reads, in nanoseconds.
    pub read_ns: Vec<u64>,
    /// The times of writes, in nanoseconds; empty if nothing may be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_ns: Vec<u64>,
    /// What it cost.
    pub cost: Cost,
}

/// The measured drive, as it describes itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The name that the user gave: `model:ssd-a`, a path.
    pub name: String,
    /// Model, serial number and firmware of a real drive; the name of the preset of a modelled one.
    pub identity: String,
    /// Whether the drive is a model with simulated time.
    pub modelled: bool,
    /// The capacity, in bytes.
    pub capacity_bytes: u64,
    /// The logical block, in bytes: the unit of addresses and lengths.
    pub logical_block_bytes: u32,
    /// The longest request, in bytes.
    pub max_request_bytes: u64,
    /// The largest number of requests in flight.
    pub queue_depth: u32,
    /// Whether the drive reports a volatile cache.
    pub volatile_cache: bool,
    /// The resolved drive file of a modelled drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// What a real drive and the kernel reported when the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
}

fn as_printed() -> u32 {
    1
}

/// What a first look at a drive found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The largest number of requests in flight.
    pub queue_depth: u32,
    /// Whether the drive reports that it supports TRIM.
    pub trim: bool,
    /// Whether it has a head that seeks, if it tells; a drive whose small random reads are faster than a revolution has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// The length of the region to measure, in bytes.
    pub region_bytes: u64,
    /// The time of small writes at random places, with the flush after them, in percent of that of the same writes in order.
    /// Median of the rounds; absent if nothing may be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scatter_percent: Option<u64>,
    /// The median latency of a small random read at depth 1, in nanoseconds.
    pub read_ns: u64,
    /// The rate of small random reads at depth 32, or at the drive's own depth if that is less, in percent of the rate at
    /// depth 1.
    pub gain_percent: u64,
    /// What the look cost.
    pub cost: Cost,
}

/// The settings of a run, enough to repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordMeta {
    /// The version of Fathom that wrote the record.
    pub fathom: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// How the parameters were measured.
    pub method: Method,
    /// The parameters: those that were asked for and those that they need.
    pub parameters: Vec<Parameter>,
    /// Whether the run writes nothing to the drive.
    pub read_only: bool,
    /// The most bytes that the run may write; `None` if the user set no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_bytes: Option<u64>,
    /// The longest that the run may take, in nanoseconds of the drive's clock; `None` if the user set no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// The part of the drive that the run uses, in bytes, as `[start, end)`; `None` for the whole drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<[u64; 2]>,
    /// By how much the papers' grids are thinned: 1 is as printed, 4 takes every fourth size and a quarter of the
    /// repetitions.
    #[serde(default = "as_printed")]
    pub thin: u32,
    /// Whether the cheapest parameter came first and each was measured in only the part of the region that it needs. This is
    /// the default under a budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cheapest_first: bool,
    /// How much time and how many bytes a probe may take.
    #[serde(default, skip_serializing_if = "Level::is_full")]
    pub level: Level,
    /// Whether only the parameters that fit the drive are measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fitting: bool,
    /// What the first look at the drive found, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// What the drive's own log said when the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<DriveLog>,
    /// The references, in the order in which they were taken; empty if none was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// The measured drive.
    pub target: Target,
    /// Whether the run finished.
    pub complete: bool,
}

/// Everything that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The settings of the run.
    pub meta: RecordMeta,
    /// Complete steps, in the order in which they ran, and the entries of [`crate::session::marks`].
    pub steps: Vec<Step>,
    /// Samples, in the order in which they were taken.
    pub samples: Vec<Sample>,
}

impl Record {
    /// Returns the samples of one series of one parameter.
    pub fn series(&self, parameter: Parameter, series: Series) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(move |s| s.parameter == parameter && s.series == series)
    }

    /// Returns the total cost of the steps of one parameter.
    pub fn cost_of(&self, parameter: Parameter) -> Cost {
        let mut cost = Cost::default();
        self.steps
            .iter()
            .filter(|s| s.parameter == parameter)
            .for_each(|s| cost += s.cost);
        cost
    }
}

//! The raw record: every sample that was taken, so that solving again needs no drive.
//!
//! A run is a list of steps. A step is the unit of resuming: it is in the record whole or not at all. Samples
//! belong to steps; nothing here is read from or written to a file (that is `fathom-lab`).

use crate::{Parameter, Series};
use serde::{Deserialize, Serialize};

/// Robust statistics (the default), or the papers' procedures as printed.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Tests against explicit null models, with adaptive sampling.
    #[default]
    Robust,
    /// Procedures 1-6 of `parameter-aware-io` and the experiment of `greedy-space` IV.A.
    Paper,
}

/// What a sample timed.
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
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The step that it belongs to (index into [`Record::steps`]).
    pub step: u32,
    /// For which parameter.
    pub parameter: Parameter,
    /// Which line of the plot.
    pub series: Series,
    /// Where on the line: the request size in bytes.
    pub x: u64,
    /// Which repetition.
    pub rep: u32,
    /// What was timed.
    pub timed: Timed,
    /// Where on the drive, in bytes.
    pub offset: u64,
    /// How many bytes were moved in `ns` (several requests may be timed together).
    pub bytes: u64,
    /// How long it took, in nanoseconds.
    pub ns: u64,
    /// When it began, on the drive's clock, in nanoseconds.
    pub at_ns: u64,
}

/// What a step, an answer or a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes written to the drive, preparation included.
    pub bytes_written: u64,
    /// Bytes read from the drive.
    pub bytes_read: u64,
    /// Requests made.
    pub requests: u64,
    /// Time on the drive's clock, in nanoseconds.
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

/// A whole piece of work: a preparation or a batch of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// For which parameter.
    pub parameter: Parameter,
    /// What it did, unique within the run: `init`, `sweep 4096`.
    pub name: String,
    /// What it cost.
    pub cost: Cost,
}

/// Which drive was measured, as it tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// As named by the user: `model:ssd-a`, a path.
    pub name: String,
    /// Model, serial number and firmware of a real drive; the preset's name of a modelled one.
    pub identity: String,
    /// Whether time was simulated.
    pub modelled: bool,
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// The unit of address and length, in bytes.
    pub logical_block_bytes: u32,
    /// The longest request, in bytes.
    pub max_request_bytes: u64,
    /// Requests that may be in flight.
    pub queue_depth: u32,
    /// Whether it reports a volatile cache.
    pub volatile_cache: bool,
    /// The resolved drive file of a modelled drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
}

fn as_printed() -> u32 {
    1
}

/// What makes a run repeatable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordMeta {
    /// The version of Fathom that wrote it.
    pub fathom: String,
    /// Of every random choice.
    pub seed: u64,
    /// How the parameters were measured.
    pub method: Method,
    /// What was asked after.
    pub parameters: Vec<Parameter>,
    /// Whether nothing was written to the drive.
    pub read_only: bool,
    /// The most bytes that the run may write, if bounded by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_bytes: Option<u64>,
    /// The longest that the run may take, in nanoseconds of the drive's clock, if bounded by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// The part of the drive that the run uses, from its first byte to the one after its last; the whole drive
    /// where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<[u64; 2]>,
    /// How much thinner than printed the papers' grids are: 1 is as printed, 4 takes every fourth size and a
    /// quarter of the repetitions.
    #[serde(default = "as_printed")]
    pub thin: u32,
    /// Whether the cheapest parameter came first, and each was measured in the part of the region that it needs: so it is
    /// under a budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cheapest_first: bool,
    /// Which drive.
    pub target: Target,
    /// Whether the run came to its end.
    pub complete: bool,
}

/// Everything that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What makes it repeatable.
    pub meta: RecordMeta,
    /// Whole steps, in the order in which they ran.
    pub steps: Vec<Step>,
    /// Samples, in the order in which they were taken.
    pub samples: Vec<Sample>,
}

impl Record {
    /// The samples of one line of one parameter's plot.
    pub fn series(&self, parameter: Parameter, series: Series) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(move |s| s.parameter == parameter && s.series == series)
    }

    /// What one parameter cost.
    pub fn cost_of(&self, parameter: Parameter) -> Cost {
        let mut cost = Cost::default();
        self.steps
            .iter()
            .filter(|s| s.parameter == parameter)
            .for_each(|s| cost += s.cost);
        cost
    }
}

//! What a rate of I/Os takes: drives, adapters and processors, as plain data and as text for the terminal.

mod text;
mod unreached;

pub use text::text;
pub use unreached::Unreached;

use crate::platform::Limit;
use serde::{Deserialize, Serialize};

/// A smaller rise of the saturated rate does not tell what saturates first, in percent.
const RISE_MIN: f64 = 1.0;

/// What a rate takes on a platform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// Version of Fathom.
    pub fathom: String,
    /// Name of the platform.
    pub platform: String,
    /// The drive.
    pub drive: String,
    /// Its capacity in the model, in bytes; a larger solid state drive is made smaller.
    pub drive_bytes: u64,
    /// The highest rate of one drive without a host, in I/Os per second.
    pub drive_iops: f64,
    /// I/Os per second that are wanted.
    pub wanted_iops: f64,
    /// The highest mean latency, in nanoseconds; `None` for any.
    pub latency_max_ns: Option<u64>,
    /// Length of an I/O, in bytes.
    pub block_bytes: u64,
    /// The seed of all random choices.
    pub seed: u64,
    /// How far the search goes.
    pub bounds: Bounds,
    /// What the platform file has.
    pub has: Counts,
    /// What it takes; `None` if the rate is not reached.
    pub takes: Option<Takes>,
    /// Why the rate is not reached; `None` if it is.
    pub unreached: Option<Unreached>,
    /// What one change would do.
    pub changes: Vec<Change>,
    /// How the saturated rate depends on each input, the largest change first.
    pub sensitivity: Vec<Sensitivity>,
}

/// How far a search goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Most drives, and so most adapters.
    pub drives: u32,
    /// Most processors.
    pub cores: u32,
    /// Most I/Os in flight of each drive.
    pub depth: u32,
    /// Most I/Os in flight.
    pub in_flight: u32,
}

/// Numbers of things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of drives.
    pub drives: u32,
    /// Number of adapters.
    pub adapters: u32,
    /// Number of processors.
    pub cores: u32,
}

/// The resources of a rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Takes {
    /// Number of drives.
    pub drives: u32,
    /// Number of adapters.
    pub adapters: u32,
    /// Most drives of an adapter; the last adapter may have fewer.
    pub drives_per_adapter: u32,
    /// Number of processors.
    pub cores: u32,
    /// Number of threads that have the I/Os in flight.
    pub threads: u32,
    /// I/Os in flight.
    pub in_flight: u32,
    /// I/Os per second with these.
    pub iops: f64,
    /// Clocks of an I/O.
    pub clocks: f64,
    /// Mean latency, in nanoseconds.
    pub latency_ns: f64,
    /// The latency below which 99 % of the I/Os are, in nanoseconds.
    pub p99_ns: f64,
    /// The I/Os in flight with which the machine does most.
    pub saturated_in_flight: u32,
    /// I/Os per second with these: the saturated rate.
    pub saturated_iops: f64,
    /// The resources; adapters without a ceiling are left out.
    pub used: Vec<Used>,
}

/// How far a resource is used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The resource.
    pub of: Limit,
    /// The share of it that the rate uses, from 0 to 1; `None` for I/Os in flight.
    pub share: Option<f64>,
    /// Change of the saturated rate, in percent, if the resource were a tenth faster; for I/Os in flight, a tenth more.
    pub rise_percent: Option<f64>,
}

/// What a change would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The change.
    pub what: String,
    /// What the same bytes per second then take; `None` if they are not reached.
    pub takes: Option<Takes>,
    /// Why they are not reached; `None` if they are.
    pub unreached: Option<Unreached>,
}

/// How the rate depends on an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// The input: a key of the platform file, a number of things, or the speed of the drive.
    pub input: String,
    /// Its change, such as `+10 %` or `6 to 7`.
    pub change: String,
    /// Change of the saturated rate, in percent.
    pub percent: f64,
}

impl Takes {
    /// The resource that saturates first when the load rises: the one whose being a tenth faster raises the saturated rate
    /// most. `None` if none raises it by 1 %.
    pub fn first(&self) -> Option<Used> {
        let known = |used: &Used| Some((*used, used.rise_percent?));
        let all = self.used.iter().filter_map(known);
        let most = all.max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, rise)| *rise >= RISE_MIN)
            .map(|(used, _)| used)
    }
}

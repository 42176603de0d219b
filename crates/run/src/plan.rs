//! The plan of a run: the workload, the drive, and everything else that is needed to repeat it.

use crate::prepare::Precondition;
use fathom_iosched::QueueConfig;
use fathom_platform::Platform;
use fathom_workload::step::Arrival;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::num::NonZeroU32;

/// The settings of a run, apart from the drive file. A run is started with a workload that can be opened, and recorded
/// with a [`WorkloadRecord`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan<W> {
    /// The user's name for the drive.
    pub target: String,
    /// The workload, which supplies the accesses.
    pub workload: W,
    /// How accesses are submitted.
    pub arrival: Arrival,
    /// How the drive is prepared before the run.
    pub precondition: Precondition,
    /// The seed of all random choices.
    pub seed: u64,
    /// The block layer above the drive. Without one, accesses go to the drive unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueConfig>,
    /// Maximum number of accesses in flight without a block layer, which has a depth of its own. Default and upper
    /// bound: the depth of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<NonZeroU32>,
    /// The host whose time is charged for every access. Without one, the host takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
}

impl<W> Plan<W> {
    /// Returns the same plan with another workload.
    pub fn with<V>(&self, workload: V) -> Plan<V> {
        Plan {
            workload,
            target: self.target.clone(),
            arrival: self.arrival,
            precondition: self.precondition,
            seed: self.seed,
            queue: self.queue.clone(),
            depth: self.depth,
            platform: self.platform.clone(),
        }
    }
}

/// The settings of a workload as plain data. A reader of a record needs neither the trace nor the code that reads it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkloadRecord(Map<String, Value>);

/// The key of the workload's name.
const NAME: &str = "name";
/// A workload with one of these keys is a program.
const PROGRAMS: [&str; 3] = ["jobs", "job", "program"];

impl WorkloadRecord {
    /// Creates the record of a workload, with the same keys.
    ///
    /// # Errors
    /// The workload cannot be represented as JSON, such as a path that is not UTF-8.
    pub fn of(workload: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::from_value(serde_json::to_value(workload)?)
    }

    /// Parses the workload.
    ///
    /// # Errors
    /// A key does not belong to such a workload.
    pub fn parse<W: DeserializeOwned>(&self) -> Result<W, serde_json::Error> {
        serde_json::from_value(Value::Object(self.0.clone()))
    }

    /// The name of the workload, or an empty string.
    pub fn name(&self) -> &str {
        self.0.get(NAME).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns true for a program, which submits its accesses itself.
    pub fn is_program(&self) -> bool {
        PROGRAMS.iter().any(|key| self.0.contains_key(*key))
    }

    /// Returns true if both give the same accesses with the same seed. Names are ignored.
    pub(crate) fn same_accesses(&self, other: &Self) -> bool {
        let of = |record: &Self| {
            let mut keys = record.0.clone();
            keys.remove(NAME);
            keys
        };
        of(self) == of(other)
    }
}

//! What is run: a workload, the drive, and everything else that is needed to repeat it.

use crate::prepare::Precondition;
use fathom_iosched::QueueConfig;
use fathom_workload::step::Arrival;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::num::NonZeroU32;

/// What to run, beside the drive. A run is started from a workload that can be opened, and recorded with a [`WorkloadRecord`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan<W> {
    /// What the user calls the drive.
    pub target: String,
    /// The accesses.
    pub workload: W,
    /// How they are handed over.
    pub arrival: Arrival,
    /// What is done to the drive before.
    pub precondition: Precondition,
    /// Of every random choice.
    pub seed: u64,
    /// The block layer above the drive; accesses go to the drive as they are where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueConfig>,
    /// Where there is no block layer: accesses that the drive has at a time; its own depth where it says nothing, or more.
    /// A block layer has a depth of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<NonZeroU32>,
}

impl<W> Plan<W> {
    /// The same with another workload.
    pub fn with<V>(&self, workload: V) -> Plan<V> {
        Plan {
            workload,
            target: self.target.clone(),
            arrival: self.arrival,
            precondition: self.precondition,
            seed: self.seed,
            queue: self.queue.clone(),
            depth: self.depth,
        }
    }
}

/// A workload as it was asked for, as plain data: whoever reads a record needs no trace, nor what reads one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkloadRecord(Map<String, Value>);

/// Where the name stands.
const NAME: &str = "name";
/// Of these, a program has one.
const PROGRAMS: [&str; 3] = ["jobs", "job", "program"];

impl WorkloadRecord {
    /// Of a workload, whose keys become those of the record.
    ///
    /// # Errors
    /// Where it cannot be put as JSON, such as a path that is not UTF-8.
    pub fn of(workload: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::from_value(serde_json::to_value(workload)?)
    }

    /// The workload again.
    ///
    /// # Errors
    /// Where a key is not one of such a workload.
    pub fn parse<W: DeserializeOwned>(&self) -> Result<W, serde_json::Error> {
        serde_json::from_value(Value::Object(self.0.clone()))
    }

    /// What it is called; empty where it has no name.
    pub fn name(&self) -> &str {
        self.0.get(NAME).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it is a program, which hands its accesses over itself.
    pub fn is_program(&self) -> bool {
        PROGRAMS.iter().any(|key| self.0.contains_key(*key))
    }

    /// Whether both give the same accesses with the same seed. What they are called does not matter.
    pub(crate) fn same_accesses(&self, other: &Self) -> bool {
        let of = |record: &Self| {
            let mut keys = record.0.clone();
            keys.remove(NAME);
            keys
        };
        of(self) == of(other)
    }
}

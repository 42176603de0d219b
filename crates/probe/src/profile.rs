//! The profile: what is known of a drive, each answer with its interval, its verdict and its cost.

use crate::record::{Method, Target};
use fathom_base::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a probe asks after. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// The internal unit of read and write; a partly written one is read, modified and written
    /// (`parameter-aware-io` 4.1.1, Procedure 1).
    ClusteredPage,
    /// The internal unit of erase (`parameter-aware-io` 4.1.2, Procedure 2).
    ClusteredBlock,
    /// The aligned write size at which random and sequential throughput meet (`irbw` 4.1, `greedy-space` IV.A).
    LogicalBlock,
    /// The capacity of the read buffer (`parameter-aware-io` 4.2.5, Procedures 3 and 4).
    ReadBuffer,
    /// The capacity of the write buffer (`parameter-aware-io` 4.2.6, Procedures 5 and 6).
    WriteBuffer,
    /// Whether the drive reads ahead (`parameter-aware-io` 4.3).
    Prefetch,
    /// Whether memory for writes is a FIFO buffer or a cache (`parameter-aware-io` 4.3).
    WritePolicy,
}

impl Parameter {
    /// All of them, in the order in which they are measured (later ones use earlier answers).
    pub const ALL: [Parameter; 7] = [
        Parameter::ClusteredPage,
        Parameter::ClusteredBlock,
        Parameter::LogicalBlock,
        Parameter::ReadBuffer,
        Parameter::WriteBuffer,
        Parameter::Prefetch,
        Parameter::WritePolicy,
    ];

    /// The name in profiles, options and `--json`.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::ClusteredPage => "clustered_page",
            Parameter::ClusteredBlock => "clustered_block",
            Parameter::LogicalBlock => "logical_block",
            Parameter::ReadBuffer => "read_buffer",
            Parameter::WriteBuffer => "write_buffer",
            Parameter::Prefetch => "prefetch",
            Parameter::WritePolicy => "write_policy",
        }
    }

    /// The parameter of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// The unit of its value: `B`, or empty for a choice.
    pub const fn unit(self) -> &'static str {
        match self {
            Parameter::Prefetch | Parameter::WritePolicy => "",
            _ => "B",
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far an answer may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The value is known, within its interval.
    Identified,
    /// The drive has no such thing.
    Absent,
    /// The drive may have it, but it cannot be seen from outside.
    NotIdentifiable,
    /// The budget is spent or the noise too high; more measuring may settle it.
    Inconclusive,
}

impl Verdict {
    /// For people: `identified`, `absent`, `not identifiable`, `inconclusive`.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Identified => "identified",
            Verdict::Absent => "absent",
            Verdict::NotIdentifiable => "not identifiable",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A value: bytes, or one of a few words (`buffer`, `cache`; `read-ahead`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A size in bytes.
    Bytes(u64),
    /// A choice.
    Choice(String),
}

impl Value {
    /// The size, where it is one.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Value::Bytes(bytes) => Some(*bytes),
            Value::Choice(_) => None,
        }
    }
}

/// A size in the largest unit that it is a multiple of, or the word.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bytes(bytes) => Bytes(*bytes).fmt(f),
            Value::Choice(word) => f.write_str(word),
        }
    }
}

/// What an answer cost.
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

/// Why an answer is what it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// One or two sentences for people.
    pub reason: String,
    /// The figures behind it, by name (the unit ends the name: `drop_ns`, `bic_gain`, `ratio`).
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
}

/// One parameter's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value; only where the verdict is *identified*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Of `value`, `low` and `high`: `B`, or empty for a choice.
    pub unit: String,
    /// Lower end of the interval, in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<u64>,
    /// Upper end of the interval, in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<u64>,
    /// How far to trust it.
    pub verdict: Verdict,
    /// How it was found.
    pub method: Method,
    /// What it cost.
    pub cost: Cost,
    /// Why.
    pub evidence: Evidence,
}

impl Estimate {
    /// An answer without a value.
    pub fn without_value(
        parameter: Parameter,
        method: Method,
        verdict: Verdict,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            value: None,
            unit: parameter.unit().to_owned(),
            low: None,
            high: None,
            verdict,
            method,
            cost: Cost::default(),
            evidence: Evidence {
                reason: reason.into(),
                figures: BTreeMap::new(),
            },
        }
    }

    /// An identified value; a size has itself as its interval until [`Estimate::between`] says otherwise.
    pub fn identified(
        parameter: Parameter,
        method: Method,
        value: Value,
        reason: impl Into<String>,
    ) -> Self {
        let bytes = value.bytes();
        Self {
            value: Some(value),
            low: bytes,
            high: bytes,
            ..Self::without_value(parameter, method, Verdict::Identified, reason)
        }
    }

    /// With an interval, in the unit of the value.
    #[must_use]
    pub fn between(mut self, low: u64, high: u64) -> Self {
        (self.low, self.high) = (Some(low), Some(high));
        self
    }

    /// With one more figure of evidence; its unit ends its name.
    #[must_use]
    pub fn figure(mut self, name: &str, value: f64) -> Self {
        self.evidence.figures.insert(name.to_owned(), value);
        self
    }
}

/// What is known of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The version of Fathom that wrote it.
    pub fathom: String,
    /// Of every random choice in the run.
    pub seed: u64,
    /// How the parameters were measured.
    pub method: Method,
    /// Which drive.
    pub target: Target,
    /// Everything that the run cost.
    pub cost: Cost,
    /// The answers.
    pub parameters: BTreeMap<Parameter, Estimate>,
}

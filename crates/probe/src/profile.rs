//! The profile: what is known of a drive, each answer with its interval, its verdict and its cost.

use crate::record::Target;
use crate::value::Scalar;
use crate::{Cost, Method, Parameter, Unit, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

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
#[serde(try_from = "Read")]
pub struct Estimate {
    /// The value; only where the verdict is *identified*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Of `value`, `low` and `high`.
    pub unit: Unit,
    /// Lower end of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Value>,
    /// Upper end of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Value>,
    /// How far to trust it.
    pub verdict: Verdict,
    /// How it was found.
    pub method: Method,
    /// What it cost.
    pub cost: Cost,
    /// Why.
    pub evidence: Evidence,
}

/// An answer as it is read: its numbers mean something together with the unit.
#[derive(Deserialize)]
struct Read {
    value: Option<Scalar>,
    unit: Unit,
    low: Option<Scalar>,
    high: Option<Scalar>,
    verdict: Verdict,
    method: Method,
    cost: Cost,
    evidence: Evidence,
}

impl TryFrom<Read> for Estimate {
    type Error = String;

    fn try_from(read: Read) -> Result<Self, String> {
        let unit = read.unit;
        let of = |scalar: Option<Scalar>| scalar.map(|scalar| scalar.with(unit)).transpose();
        Ok(Self {
            value: of(read.value)?,
            unit,
            low: of(read.low)?,
            high: of(read.high)?,
            verdict: read.verdict,
            method: read.method,
            cost: read.cost,
            evidence: read.evidence,
        })
    }
}

/// A probe says what it found. Unit, method and cost are filled in by who asks it ([`crate::run::answer`]).
impl Estimate {
    /// An answer without a value.
    pub fn without_value(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            value: None,
            unit: Unit::Word,
            low: None,
            high: None,
            verdict,
            method: Method::default(),
            cost: Cost::default(),
            evidence: Evidence {
                reason: reason.into(),
                figures: BTreeMap::new(),
            },
        }
    }

    /// The drive has no such thing, and why that follows.
    pub(crate) fn absent(reason: impl Into<String>) -> Self {
        Self::without_value(Verdict::Absent, reason)
    }

    /// It cannot be seen from outside, and why.
    pub(crate) fn not_identifiable(reason: impl Into<String>) -> Self {
        Self::without_value(Verdict::NotIdentifiable, reason)
    }

    /// It is not settled, and why.
    pub(crate) fn inconclusive(reason: impl Into<String>) -> Self {
        Self::without_value(Verdict::Inconclusive, reason)
    }

    /// An identified value; a number has itself as its interval until [`Estimate::between`] says otherwise.
    pub fn identified(value: Value, reason: impl Into<String>) -> Self {
        let point = value.number().map(|_| value.clone());
        Self {
            unit: value.unit(),
            value: Some(value),
            low: point.clone(),
            high: point,
            ..Self::without_value(Verdict::Identified, reason)
        }
    }

    /// With an interval.
    #[must_use]
    pub fn between(mut self, low: Value, high: Value) -> Self {
        (self.low, self.high) = (Some(low), Some(high));
        self
    }

    /// Both ends, or the value itself where an end is missing: what may be compared with another answer in the same unit.
    pub fn interval(&self) -> Option<(&Value, &Value)> {
        let value = self.value.as_ref().filter(|value| value.number().is_some());
        Some((self.low.as_ref().or(value)?, self.high.as_ref().or(value)?))
    }

    /// The identified size, in bytes.
    pub fn bytes(&self) -> Option<u64> {
        self.value.as_ref()?.bytes()
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

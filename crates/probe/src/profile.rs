//! The profile of a drive: every answer with its interval, its verdict and its cost.

use crate::record::{Marks, Target};
use crate::value::Scalar;
use crate::{Cost, Method, Parameter, Unit, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How far an answer can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The value is known, within its interval.
    Identified,
    /// The drive does not have the property.
    Absent,
    /// The drive may have the property, but it cannot be observed from outside.
    NotIdentifiable,
    /// The budget was spent or the noise was too high; more measuring may settle it.
    Inconclusive,
}

impl Verdict {
    /// The verdict in words: `identified`, `absent`, `not identifiable`, `inconclusive`.
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

/// The reasons for an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// One or two sentences for the reader.
    pub reason: String,
    /// Supporting figures by name. The name ends with the unit: `drop_ns`, `bic_gain`, `ratio`.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
}

/// The answer of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Read")]
pub struct Estimate {
    /// The value; present only if the verdict is *identified*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The unit of `value`, `low` and `high`.
    pub unit: Unit,
    /// Lower end of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Value>,
    /// Upper end of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Value>,
    /// How far the answer can be trusted.
    pub verdict: Verdict,
    /// The method that found it.
    pub method: Method,
    /// The cost of measuring it.
    pub cost: Cost,
    /// The reasons for the answer.
    pub evidence: Evidence,
}

/// An answer as deserialized: its numbers get their type from the unit.
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
        let [value, low, high] = [of(read.value)?, of(read.low)?, of(read.high)?];
        within(value.as_ref(), low.as_ref(), high.as_ref())?;
        above_0(value.as_ref())?;
        Ok(Self {
            value,
            unit,
            low,
            high,
            verdict: read.verdict,
            method: read.method,
            cost: read.cost,
            evidence: read.evidence,
        })
    }
}

/// Checks that an interval is one, and that the value lies in it.
fn within(value: Option<&Value>, low: Option<&Value>, high: Option<&Value>) -> Result<(), String> {
    let number = |value: Option<&Value>| value.and_then(Value::number);
    if let (Some(low), Some(high)) = (low, high)
        && number(Some(low)) > number(Some(high))
    {
        let [low, high] = [low, high].map(Value::plain);
        return Err(format!("`{low}` begins an interval that ends at {high}"));
    }
    let Some(value) = value.filter(|value| value.number().is_some()) else {
        return Ok(());
    };
    let below = low.filter(|low| number(Some(value)) < number(Some(low)));
    let above = high.filter(|high| number(Some(value)) > number(Some(high)));
    let (end, side) = match (below, above) {
        (Some(low), _) => (low, "begins"),
        (None, Some(high)) => (high, "ends"),
        (None, None) => return Ok(()),
    };
    Err(format!(
        "`{}` is outside of its interval, which {side} at {}: change both, or neither",
        value.plain(),
        end.plain()
    ))
}

/// Checks that no size, count or throughput is 0: a drive without one is *absent*.
fn above_0(value: Option<&Value>) -> Result<(), String> {
    let kind = match value {
        Some(Value::Bytes(0)) => "size",
        Some(Value::Count(0)) => "count",
        Some(Value::BytesPerSecond(0)) => "throughput",
        _ => return Ok(()),
    };
    Err(format!(
        "`0` is no {kind}: a drive without one has the verdict `absent` and no value"
    ))
}

/// Constructors for probes. The caller ([`crate::run::answer`]) fills in unit, method and cost.
impl Estimate {
    /// Returns an answer without a value.
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

    /// Returns *absent*: the drive does not have the property; `reason` says why that follows.
    pub(crate) fn absent(reason: impl Into<String>) -> Self {
        Self::without_value(Verdict::Absent, reason)
    }

    /// Returns *not identifiable*: the property cannot be observed from outside; `reason` says why.
    pub(crate) fn not_identifiable(reason: impl Into<String>) -> Self {
        Self::without_value(Verdict::NotIdentifiable, reason)
    }

    /// Returns *inconclusive*: the answer is not settled; `reason` says why.
    pub(crate) fn inconclusive(reason: impl Into<String>) -> Self {
        Self::without_value(Verdict::Inconclusive, reason)
    }

    /// Returns an identified value. The interval of a number is the number itself until [`Estimate::between`] sets another.
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

    /// Sets the interval, which has the value in it.
    #[must_use]
    pub fn between(mut self, low: Value, high: Value) -> Self {
        let (mut low, mut high) = (low, high);
        if let Some(value) = &self.value {
            low = if *value < low { value.clone() } else { low };
            high = if *value > high { value.clone() } else { high };
        }
        (self.low, self.high) = (Some(low), Some(high));
        self
    }

    /// Returns both ends of the interval, with the value itself in the place of a missing end. `None` without a number.
    /// Intervals of answers in the same unit may be compared.
    pub fn interval(&self) -> Option<(&Value, &Value)> {
        let value = self.value.as_ref().filter(|value| value.number().is_some());
        Some((self.low.as_ref().or(value)?, self.high.as_ref().or(value)?))
    }

    /// Returns the identified size in bytes; `None` if there is no value or it is not a size.
    pub fn bytes(&self) -> Option<u64> {
        self.value.as_ref()?.bytes()
    }

    /// Adds a figure of evidence; its name ends with its unit.
    #[must_use]
    pub fn figure(mut self, name: &str, value: f64) -> Self {
        self.evidence.figures.insert(name.to_owned(), value);
        self
    }
}

/// The answers for one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The version of Fathom that wrote the record.
    pub fathom: String,
    /// The seed of every random choice in the run.
    pub seed: u64,
    /// How the parameters were measured.
    pub method: Method,
    /// The measured drive.
    pub target: Target,
    /// The total cost of the run.
    pub cost: Cost,
    /// The answer of each parameter.
    pub parameters: BTreeMap<Parameter, Estimate>,
    /// The parameters that were not measured because the question does not fit the drive, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<Parameter, String>,
    /// What was wrong with the drive while a parameter was measured; only those with which something was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marked: BTreeMap<Parameter, Marks>,
}

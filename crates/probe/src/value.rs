//! The value of a parameter: a number with its unit, or a word.
//!
//! A profile keeps the number, and one unit for value and interval. Bytes, counts, nanoseconds and bytes per second are
//! integers. Ratios and events per second are floating-point numbers.

use fathom_base::{Bytes, Dur, Rate};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A value. It is serialized without its unit, which is [`Value::unit`].
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A size in bytes.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// A quotient of two quantities of the same kind.
    Ratio(f64),
    /// A time in nanoseconds.
    Nanoseconds(u64),
    /// A throughput in bytes per second.
    BytesPerSecond(u64),
    /// Events per second.
    PerSecond(f64),
    /// One of a few words: `buffer` or `cache`.
    Word(String),
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Bytes, for sizes.
    #[serde(rename = "B")]
    Bytes,
    /// A plain number, for counts.
    #[serde(rename = "count")]
    Count,
    /// A plain number, for quotients.
    #[serde(rename = "ratio")]
    Ratio,
    /// Nanoseconds, for times.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Bytes per second, for throughputs.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Events per second, for rates.
    #[serde(rename = "1/s")]
    PerSecond,
    /// No unit, for words.
    #[serde(rename = "")]
    Word,
}

impl Unit {
    /// Returns the symbol used in profiles and `--json`: `B`, `count`, `ratio`, `ns`, `B/s`, `1/s`; empty for a word.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Bytes => "B",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
            Unit::Nanoseconds => "ns",
            Unit::BytesPerSecond => "B/s",
            Unit::PerSecond => "1/s",
            Unit::Word => "",
        }
    }
}

/// A value as deserialized, before its unit is known.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "it takes a number or a word")]
pub(crate) enum Scalar {
    Whole(u64),
    /// A negative number, kept apart so that a message shows it as it was written.
    Below(i64),
    Real(f64),
    Word(String),
}

/// Writes what a file has.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Whole(n) => n.fmt(f),
            Scalar::Below(n) => n.fmt(f),
            Scalar::Real(x) => write!(f, "{x:?}"),
            Scalar::Word(word) => f.write_str(word),
        }
    }
}

impl Scalar {
    /// Converts it to a value in that unit.
    ///
    /// # Errors
    /// A message, if it is not a valid value in that unit.
    pub(crate) fn with(self, unit: Unit) -> Result<Value, String> {
        let symbol = unit.symbol();
        Ok(match (unit, self) {
            (Unit::Bytes, Scalar::Whole(n)) => Value::Bytes(n),
            (Unit::Count, Scalar::Whole(n)) => Value::Count(n),
            (Unit::Nanoseconds, Scalar::Whole(n)) => Value::Nanoseconds(n),
            (Unit::BytesPerSecond, Scalar::Whole(n)) => Value::BytesPerSecond(n),
            (Unit::Ratio, Scalar::Real(x)) if x.is_finite() => Value::Ratio(x),
            (Unit::PerSecond, Scalar::Real(x)) if x.is_finite() => Value::PerSecond(x),
            (Unit::Ratio, Scalar::Whole(n)) => Value::Ratio(n as f64),
            (Unit::PerSecond, Scalar::Whole(n)) => Value::PerSecond(n as f64),
            (Unit::Ratio, Scalar::Below(n)) => Value::Ratio(n as f64),
            (Unit::PerSecond, Scalar::Below(n)) => Value::PerSecond(n as f64),
            (Unit::Word, Scalar::Word(word)) => Value::Word(word),
            // TOML has infinity and NaN.
            (Unit::Ratio | Unit::PerSecond, scalar @ Scalar::Real(_)) => {
                return Err(format!(
                    "`{scalar}` is not finite, and the unit is {symbol}"
                ));
            }
            // What is in backticks is the value, by which a reader of the file finds the key.
            (Unit::Word, scalar) => return Err(format!("`{scalar}` is a number without a unit")),
            (Unit::Ratio | Unit::PerSecond, Scalar::Word(word)) => {
                return Err(format!("`{word}` is no number, and the unit is {symbol}"));
            }
            (_, scalar) => {
                return Err(format!(
                    "`{scalar}` is no whole number of at least 0, which the unit {symbol} takes"
                ));
            }
        })
    }
}

impl Value {
    /// Returns the unit of the value.
    pub const fn unit(&self) -> Unit {
        match self {
            Value::Bytes(_) => Unit::Bytes,
            Value::Count(_) => Unit::Count,
            Value::Ratio(_) => Unit::Ratio,
            Value::Nanoseconds(_) => Unit::Nanoseconds,
            Value::BytesPerSecond(_) => Unit::BytesPerSecond,
            Value::PerSecond(_) => Unit::PerSecond,
            Value::Word(_) => Unit::Word,
        }
    }

    /// Returns the size in bytes, or `None` if the value is not a size.
    pub const fn bytes(&self) -> Option<u64> {
        match self {
            Value::Bytes(bytes) => Some(*bytes),
            _ => None,
        }
    }

    /// Returns the number in [`Value::unit`], rounded to an `f64`, or `None` for a word.
    pub const fn number(&self) -> Option<f64> {
        match self {
            Value::Bytes(n)
            | Value::Count(n)
            | Value::Nanoseconds(n)
            | Value::BytesPerSecond(n) => Some(*n as f64),
            Value::Ratio(x) | Value::PerSecond(x) => Some(*x),
            Value::Word(_) => None,
        }
    }

    /// Returns the number as profiles write it, without its unit, or the word.
    pub fn plain(&self) -> String {
        match self {
            Value::Bytes(n)
            | Value::Count(n)
            | Value::Nanoseconds(n)
            | Value::BytesPerSecond(n) => n.to_string(),
            Value::Ratio(x) | Value::PerSecond(x) => x.to_string(),
            Value::Word(word) => word.clone(),
        }
    }
}

/// Writes the exact value, in the largest unit of which it is a multiple.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bytes(n) => Bytes(*n).fmt(f),
            Value::Nanoseconds(n) => Dur(*n).fmt(f),
            Value::BytesPerSecond(n) => match Rate::new(*n) {
                Some(rate) => rate.fmt(f),
                None => f.write_str("0B/s"),
            },
            Value::PerSecond(x) => write!(f, "{x}/s"),
            Value::Count(_) | Value::Ratio(_) | Value::Word(_) => f.write_str(&self.plain()),
        }
    }
}

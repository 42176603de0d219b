//! The right answers to a question, and how much of a thing can be seen.

use fathom_probe::Value;
use serde::Serialize;
use std::fmt;

/// The least effect that makes a thing identifiable, as a share of the time of the accesses that show it.
pub(super) const EFFECT_MIN: f64 = 0.1;

/// How much of a thing can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// It is there, and some access takes at least a tenth longer for it: it must be found.
    Identifiable,
    /// It is there, and no access takes a tenth longer for it: it may be found or not.
    Faint,
    /// It is there and makes no difference.
    Hidden,
    /// It is not there.
    Missing,
}

/// An answer that is right.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// This value.
    Is(Value),
    /// Anything from the first to the second, in one unit.
    Between(Value, Value),
}

/// What there is to find of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Truth {
    /// How much of it can be seen.
    pub sight: Sight,
    /// The right answers; the first is the one that the definition names. Where it cannot be seen or is not there,
    /// what would still not be wrong.
    pub right: Vec<Right>,
    /// Why it is so, where it is not plain.
    pub why: &'static str,
}

impl Truth {
    /// Of a target that has none of it: whatever is identified is wrong.
    pub fn missing() -> Truth {
        Truth {
            sight: Sight::Missing,
            right: Vec::new(),
            why: "",
        }
    }

    pub(super) fn new(sight: Sight, right: Vec<Right>, why: &'static str) -> Truth {
        Truth { sight, right, why }
    }

    /// Identifiable or faint, by the largest effect that it has.
    pub(super) fn by_effect(effect: f64, right: Vec<Right>, why: &'static str) -> Truth {
        match effect >= EFFECT_MIN {
            true => Truth::new(Sight::Identifiable, right, ""),
            false => Truth::new(Sight::Faint, right, why),
        }
    }

    /// Whether a probe must find it.
    pub fn is_identifiable(&self) -> bool {
        self.sight == Sight::Identifiable
    }

    /// The size that the definition names, where there is one.
    pub fn bytes(&self) -> Option<u64> {
        match self.right.first()? {
            Right::Is(value) | Right::Between(_, value) => value.bytes(),
        }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let right: Vec<String> = self.right.iter().map(Right::to_string).collect();
        let right = right.join(" or ");
        match (self.sight, right.is_empty()) {
            (Sight::Identifiable, _) => f.write_str(&right),
            (Sight::Faint, _) => write!(f, "{right}, faint: {}", self.why),
            (Sight::Hidden, true) => write!(f, "hidden: {}", self.why),
            (Sight::Hidden, false) => write!(f, "{right}, hidden: {}", self.why),
            (Sight::Missing, true) => f.write_str("nothing"),
            (Sight::Missing, false) => write!(f, "nothing; {right} is not wrong: {}", self.why),
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Right::Is(value) => f.write_str(&value.plain()),
            Right::Between(low, high) => write!(f, "{} to {}", low.plain(), high.plain()),
        }
    }
}

/// A size in bytes.
pub(super) fn size(bytes: u64) -> Right {
    Right::Is(Value::Bytes(bytes))
}

/// A word.
pub(super) fn word(name: &str) -> Right {
    Right::Is(Value::Word(name.to_owned()))
}

/// Any size from the first to the second, in bytes.
pub(super) fn between(low: u64, high: u64) -> Right {
    Right::Between(Value::Bytes(low), Value::Bytes(high))
}

/// Sizes, each once.
pub(super) fn sizes(all: &[u64]) -> Vec<Right> {
    let mut right: Vec<Right> = Vec::new();
    for bytes in all {
        if !right.contains(&size(*bytes)) {
            right.push(size(*bytes));
        }
    }
    right
}

/// A capacity in whole logical blocks, in which alone it can be filled.
pub(super) fn capacity(bytes: u64, logical_block: u64) -> Right {
    size(bytes - bytes % logical_block)
}

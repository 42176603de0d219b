//! The correct answers about a parameter, and how visible the parameter is.

use fathom_probe::Value;
use serde::Serialize;
use std::fmt;

/// Minimum effect of an identifiable parameter, as a share of the time of the accesses that show it.
pub(super) const EFFECT_MIN: f64 = 0.1;

/// Visibility of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// Present, and some access takes at least a tenth longer because of it: it must be found.
    Identifiable,
    /// Present, but no access takes a tenth longer because of it: it may or may not be found.
    Faint,
    /// Present, but without any effect.
    Hidden,
    /// Not present.
    Missing,
}

/// A correct answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Exactly this value.
    Is(Value),
    /// Any value from the first to the second, both in the same unit.
    Between(Value, Value),
}

/// Ground truth of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Truth {
    /// Visibility of the parameter.
    pub sight: Sight,
    /// The correct answers; the first is the one that the definition names. For a hidden or missing parameter, the answers
    /// that would not be wrong.
    pub right: Vec<Right>,
    /// The reason, where it is not obvious.
    pub why: &'static str,
}

impl Truth {
    /// Returns the truth of a target without the parameter: any identification is wrong.
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

    /// Returns an identifiable or faint truth, depending on the largest effect of the parameter.
    pub(super) fn by_effect(effect: f64, right: Vec<Right>, why: &'static str) -> Truth {
        match effect >= EFFECT_MIN {
            true => Truth::new(Sight::Identifiable, right, ""),
            false => Truth::new(Sight::Faint, right, why),
        }
    }

    /// Returns true if a probe must find the parameter.
    pub fn is_identifiable(&self) -> bool {
        self.sight == Sight::Identifiable
    }

    /// Returns the size that the definition names, in bytes; `None` if there is none.
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

/// Any size from `low` to `high`, in bytes.
pub(super) fn between(low: u64, high: u64) -> Right {
    Right::Between(Value::Bytes(low), Value::Bytes(high))
}

/// The sizes, without duplicates.
pub(super) fn sizes(all: &[u64]) -> Vec<Right> {
    let mut right: Vec<Right> = Vec::new();
    for bytes in all {
        if !right.contains(&size(*bytes)) {
            right.push(size(*bytes));
        }
    }
    right
}

/// A capacity rounded down to whole logical blocks, because a buffer fills only in whole ones.
pub(super) fn capacity(bytes: u64, logical_block: u64) -> Right {
    size(bytes - bytes % logical_block)
}

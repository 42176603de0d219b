//! What there is to find in a drive, from its drive file alone.
//!
//! Each parameter has a rule that follows from the mechanism; no answer of a probe enters one. A rule says what is there
//! and how large the largest difference is that it makes to the time of the same accesses, by the drive's own times
//! without noise: what makes a tenth or more is *identifiable*, what makes less is *faint*, and what makes none is
//! *hidden*. Noise hides nothing: it only takes more samples. In doubt a thing counts as identifiable.
//!
//! The rules stand in the modules below, each with its reason; docs/accuracy.md lists them.
//! `crates/lab/tests/oracle` holds them against accesses to the modelled drives themselves, with their noise taken out.

mod block;
mod page;
mod read;
mod speeds;
mod write;

pub use page::{mapping_unit, read_unit};

use fathom_probe::{Parameter, Value};
use fathom_ssd::Spec;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The least effect that makes a thing identifiable, as a share of the time of the accesses that show it.
pub const EFFECT_MIN: f64 = 0.1;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// This value.
    Is(Value),
    /// Any size from the first to the second, in bytes.
    Between(u64, u64),
}

/// What there is to find of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// Of every parameter.
    pub fn all(spec: &Spec) -> BTreeMap<Parameter, Truth> {
        let of = |parameter| (parameter, Truth::of(spec, parameter));
        Parameter::ALL.into_iter().map(of).collect()
    }

    /// Of one parameter.
    pub fn of(spec: &Spec, parameter: Parameter) -> Truth {
        match parameter {
            Parameter::ClusteredPage => page::clustered_page(spec),
            Parameter::ClusteredBlock => block::clustered_block(spec),
            Parameter::LogicalBlock => block::logical_block(spec),
            Parameter::ReadBuffer => read::buffer(spec),
            Parameter::Prefetch => read::prefetch(spec),
            Parameter::WriteBuffer => write::buffer(spec),
            Parameter::WritePolicy => write::policy(spec),
        }
    }

    /// Of a target that has none of it: whatever is identified is wrong.
    pub fn missing() -> Truth {
        Truth {
            sight: Sight::Missing,
            right: Vec::new(),
            why: "",
        }
    }

    fn new(sight: Sight, right: Vec<Right>, why: &'static str) -> Truth {
        Truth { sight, right, why }
    }

    /// Identifiable or faint, by the largest effect that it has.
    fn by_effect(effect: f64, right: Vec<Right>, why: &'static str) -> Truth {
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
            Right::Is(value) => value.bytes(),
            Right::Between(_, high) => Some(*high),
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
            Right::Is(Value::Bytes(bytes)) => write!(f, "{bytes}"),
            Right::Is(Value::Word(choice)) => f.write_str(choice),
            Right::Between(low, high) => write!(f, "{low} to {high}"),
        }
    }
}

fn size(bytes: u64) -> Right {
    Right::Is(Value::Bytes(bytes))
}

fn choice(name: &str) -> Right {
    Right::Is(Value::Word(name.to_owned()))
}

/// Sizes, each once.
fn sizes(all: &[u64]) -> Vec<Right> {
    let mut right: Vec<Right> = Vec::new();
    for bytes in all {
        if !right.contains(&size(*bytes)) {
            right.push(size(*bytes));
        }
    }
    right
}

/// A capacity in whole logical blocks, in which alone it can be filled.
fn capacity(bytes: u64, logical_block: u64) -> Right {
    size(bytes - bytes % logical_block)
}

#[cfg(test)]
mod tests;

//! What a benchmark counts.

use fathom_base::Dur;

/// Something that was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counter {
    /// What.
    pub name: &'static str,
    /// How much.
    pub value: f64,
    /// Of what; empty for a number of things.
    pub unit: &'static str,
}

impl Counter {
    /// A number of things, or bytes.
    pub fn count(name: &'static str, value: u64, unit: &'static str) -> Self {
        let value = value as f64;
        Self { name, value, unit }
    }

    /// A time in seconds.
    pub fn seconds(name: &'static str, value: Dur) -> Self {
        let value = value.as_secs_f64();
        Self {
            name,
            value,
            unit: "s",
        }
    }
}

//! The counters of a benchmark.

use fathom_base::Dur;

/// A counter with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counter {
    /// The name of the counter.
    pub name: &'static str,
    /// The value.
    pub value: f64,
    /// The unit; empty for a number of things.
    pub unit: &'static str,
}

impl Counter {
    /// Creates a counter of things or bytes.
    pub fn count(name: &'static str, value: u64, unit: &'static str) -> Self {
        let value = value as f64;
        Self { name, value, unit }
    }

    /// Creates a counter of a time in seconds.
    pub fn seconds(name: &'static str, value: Dur) -> Self {
        let (value, unit) = (value.as_secs_f64(), "s");
        Self { name, value, unit }
    }
}

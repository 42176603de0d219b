//! Probes that decide by explicit null models and sample until the answer is settled or the budget is gone.

use super::Probe;

/// In the order of [`crate::Parameter::ALL`].
pub const PROBES: &[&dyn Probe] = &[];

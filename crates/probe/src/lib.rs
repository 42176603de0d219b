//! Measures from outside what a drive hides: probes, the statistics that answer from their samples, the record
//! of what was measured and the profile of what is known.
//!
//! Sees a drive only through [`fathom_block::Device`]. Depends on no model: the black box stays black.

pub mod profile;
pub mod record;

pub use profile::{Cost, Estimate, Parameter, Profile, Value, Verdict};
pub use record::{Method, Record, RecordMeta, Sample, Series, Step};

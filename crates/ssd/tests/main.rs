//! The tests of the solid state drive model.
//!
//! They are one program, because each separate file would be linked on its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arbitration;
mod buffer;
mod buffered;
mod che;
mod common;
mod conformance;
mod determinism;
mod dftl;
mod drain;
mod fast;
mod fill;
mod gc_oracle;
mod hybrid;
mod oracle;
mod parallel;
mod placement;
mod power_cut;
mod replacement;
mod reshape;
mod shared_logs;
mod spec;
mod striping;
mod suite;
mod superblock;
mod wear;
mod zoned;

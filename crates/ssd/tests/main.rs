//! The tests of the solid state drive model.
//!
//! They are one program, because each separate file would be linked on its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod age;
mod arbitration;
mod buffer;
mod buffered;
mod che;
mod common;
mod compression;
mod conformance;
mod copy_runs;
mod determinism;
mod dftl;
mod drain;
mod fast;
mod fast_cache;
mod fill;
mod gc_oracle;
mod host_memory;
mod hybrid;
mod log;
mod oracle;
mod parallel;
mod parity;
mod placement;
mod power_cut;
mod queues;
mod replacement;
mod reshape;
mod shared_logs;
mod spec;
mod striping;
mod suite;
mod superblock;
mod thermal;
mod wear;
mod zoned;

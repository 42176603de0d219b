//! The tests of the hard disk model.
//!
//! They are one program, because each separate file would be linked on its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caches;
mod common;
mod conformance;
mod figure7;
mod oracle;
mod properties;
mod spec;
mod time;

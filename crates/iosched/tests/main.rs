//! The tests of the block layer and its schedulers.
//!
//! They are one program, because a program for each file would be linked for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod common;
mod conformance;
mod ending;
mod kernel;
mod kernel_trace;
mod linux;
mod merge;
mod pass;
mod placement;
mod queue;
mod work;

//! Tests of sessions, runs and budgets of probes over a fake drive.
//!
//! They form one program, because a program for each file would have to be linked for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod budget;
mod fake;
mod paper;
mod rules;
mod run;
mod session;
mod writes;

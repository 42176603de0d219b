//! Integration tests of drives, runs, studies and campaigns.
//!
//! They are a single program, because separate programs would each have to be linked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ab;
mod accuracy;
mod bits;
mod blocks;
mod budget;
mod cut_short;
mod examples;
mod front;
mod fuzz;
mod host_wait;
mod memories;
#[path = "oracle/main.rs"]
mod oracle;
mod play;
mod presets;
mod read_only;
mod store;
mod study;
mod units;

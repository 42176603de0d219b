//! Tests of the command `fathom`, run as a user would run it.
//!
//! They form one program, because separate test files would each have to be linked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accuracy;
mod capture;
mod common;
mod compare;
mod convert;
mod filebench;
mod files;
mod front;
mod full_disk;
mod hints;
mod image;
mod input;
mod jobs;
mod kernel;
mod killed;
mod kinds;
mod misplaced;
mod plan;
mod platform;
mod platform_measured;
mod processes;
mod queue;
mod real;
mod reproduce;
mod resume;
mod schema;
mod screen;
mod state;
mod study;
mod tune;
mod twin;
mod usage;
mod write_cost;
mod zoned;

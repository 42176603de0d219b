//! The integration tests of this crate.
//!
//! They form one program, because each additional program would have to be linked separately.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it skips"
)]

#[path = "fio/main.rs"]
mod fio;
mod fio_compare;
mod generate_config;
mod generate_iometer;
mod generate_likes;
mod generate_statistics;
#[path = "../../platform/tests/program/mod.rs"]
mod program;
mod program_filebench;
mod program_filebench_language;
mod program_filebench_recorded;
mod program_golden;
mod program_postmark;
#[path = "../../fs/tests/recorded.rs"]
mod recorded;
mod step_by_hand;
mod step_properties;
mod step_real;

//! The tests of workloads.
//!
//! They are one program, because a program for each file would be linked for each file.

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
mod program_postmark;
mod step_by_hand;
mod step_properties;
mod step_real;

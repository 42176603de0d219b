//! Tests of fio's job files: the options that are supported and refused, and the resulting accesses.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod docs;
pub(crate) mod harness;
mod options;
mod parse;
mod play;
mod times;
mod verify;
mod zones;

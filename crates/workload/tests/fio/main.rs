//! Job files of fio: what is read, what is refused, and what is done.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod docs;
pub(crate) mod harness;
mod options;
mod parse;
mod play;
mod times;
mod verify;

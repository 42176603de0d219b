//! The integration tests of this crate.
//!
//! They form one program, because each additional program would have to be linked separately.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it skips"
)]

mod allocators;
mod choice;
mod golden;
mod log;
mod recorded;
mod reiser;
mod sync;

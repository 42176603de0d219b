//! The integration tests of this crate: real images, judged by e2fsck and by the kernel.
//!
//! They form one program, because each additional program would have to be linked separately.

#![cfg(feature = "libext2fs")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it skips"
)]

mod common;
mod crash;
mod foreign;
mod golden;
#[path = "../../fs/tests/recorded.rs"]
mod recorded;
mod refused;
mod streams;

//! The integration tests of this crate: the machine under programs of file operations.
//!
//! They form one program, because each additional program would have to be linked separately.

#![allow(
    clippy::unwrap_used,
    reason = "test helpers have nothing to hand an error to"
)]

mod cache;
mod list;
mod measured;
mod model;
mod moves;
mod placement;
mod program;
mod raid;
mod random;
mod sync;

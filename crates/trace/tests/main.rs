//! The integration tests of this crate.
//!
//! They form one program, because each additional program would have to be linked separately.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compressed;
mod errors;
mod formats;
mod parquet;
mod random;
mod real;

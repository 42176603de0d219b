//! What drives are asked to do: accesses read from traces, steps that shape them, generators, and programs.
//!
//! Everything here streams: an access comes in, an access goes out, in constant memory. Nothing here opens a
//! file, reads a clock or knows a drive; bytes come from a `Read` that the caller has opened, and randomness
//! from the `Rng` it hands in.

mod access;
pub mod generate;
pub mod program;
pub mod step;
pub mod trace;

pub use access::Access;

//! What drives are asked to do: generators, steps that shape accesses, and programs.
//!
//! Everything here streams: an access comes in, an access goes out, in constant memory. Nothing here opens a
//! file, reads a clock or knows a drive; randomness comes from the `Rng` that the caller hands in. Traces are read by
//! `fathom-trace`.

pub mod generate;
pub mod program;
pub mod step;

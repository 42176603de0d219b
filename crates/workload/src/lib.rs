//! What drives are asked to do: generators, steps that shape accesses, and programs.
//!
//! Everything here streams: an access comes in, an access goes out, in constant memory. Nothing here opens a
//! file, reads a clock or knows a drive; randomness comes from the `Rng` that the caller hands in. Traces are read by
//! `fathom-trace`.
//!
//! For callers that choose in code and not in a study file:
//! - [`generate::Permutation`] and [`generate::Zipf`], from which places are drawn.
//! - Postmark's settings ([`type_a`](program::postmark::type_a), [`type_b`](program::postmark::type_b),
//!   [`fixed`](program::postmark::fixed)) and filebench's ([`webserver`](program::filebench::webserver),
//!   [`fileserver`](program::filebench::fileserver), [`oltp`](program::filebench::oltp)). Overrides are laid over them by
//!   `onto`; `build` makes the program, for files as a [`Server`](program::filebench::Server).
//! - The tables of fio's options that the tests compare with fio and with the documentation:
//!   [`OPTIONS`](program::fio::OPTIONS), [`IGNORED`](program::fio::IGNORED), [`REFUSED`](program::fio::REFUSED) and
//!   [`HARMLESS`](program::fio::HARMLESS).

pub mod generate;
pub mod program;
pub mod step;

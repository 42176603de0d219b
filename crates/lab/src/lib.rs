//! Targets, run records on disk, campaigns: the only crate that knows every layer.
//!
//! For programs that measure with the library, [`store::save_run`] writes a finished run as `fathom probe` does.
//!
//! Prints nothing and reads no clock; what it opens and what it writes is named by its caller.

pub mod ab;
pub mod accuracy;
pub mod parse;
pub mod queue;
pub mod replay;
pub mod reproduce;
pub mod source;
pub mod store;
pub mod study;
pub mod target;
pub mod text;

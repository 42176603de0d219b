//! Measurement targets, run records on disk, workload replay, studies and accuracy campaigns. This is the only crate that
//! knows every layer.
//!
//! A program that measures with the library stores a finished run with [`store::save_run`], as `fathom probe` does.
//!
//! The crate prints nothing and reads no clock. The caller names every file that it opens or writes.

pub mod ab;
pub mod accuracy;
mod advice;
pub mod parse;
pub mod platform;
pub mod queue;
pub mod replay;
pub mod reported;
pub mod reproduce;
pub mod source;
pub mod store;
pub mod study;
pub mod target;
pub mod text;
pub mod tune;
pub mod twin;

//! The tests of the model of a disk.
//!
//! They are one program, because a program for each file would be linked for each file.

mod caches;
mod common;
mod conformance;
mod figure7;
mod oracle;
mod properties;
mod spec;
mod time;

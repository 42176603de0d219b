//! The tests of the readers and writers of traces.
//!
//! They are one program, because a program for each file would be linked for each file.

mod compressed;
mod errors;
mod formats;
mod parquet;
mod random;
mod real;

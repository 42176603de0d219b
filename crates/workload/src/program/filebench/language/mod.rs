//! A subset of filebench's workload model language (1.5-alpha3), described in docs/filebench.md.
//!
//! [`Model::parse`] reads a text, [`Model::set`] changes its variables, and [`Model::workload`] checks it. An unknown
//! statement, attribute, operation or variable is an error with its line and the known ones; so is a part of filebench that
//! is not supported, unless it has no effect here. Not supported: `randvar`, composite flowops, directories as objects,
//! `O_DIRECT`, raw devices and several machines.

mod amount;
mod attributes;
mod check;
mod error;
mod flow;
mod lexer;
mod model;
mod parser;
mod random;
mod tables;
mod workload;

pub use amount::{Amount, Distribution, Shape};
pub use error::{ModelError, Problem};
pub use model::{Model, Value};
pub use workload::{FileSet, Flowop, Kind, Quit, Threads, Workload};

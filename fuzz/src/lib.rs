//! What the fuzz targets try: a module for each, whose `try_one` takes an input and panics where it finds a fault.
//!
//! It is no part of the targets themselves, so that the tests of the workspace can feed it on the stable compiler, too
//! (crates/lab/tests/fuzz.rs).

pub mod drive_file;
pub mod filebench_file;
pub mod job_file;
pub mod study_file;
pub mod trace_detect;
pub mod trace_format;
pub mod trace_parquet;

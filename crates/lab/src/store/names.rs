//! Names of the stored files.

use std::fs;
use std::path::Path;

/// The raw record: the measurements.
pub const RECORD_FILE: &str = "record.parquet";
/// The answers.
pub const PROFILE_FILE: &str = "profile.toml";
/// A workload run: its plan and its measurements.
pub const RUN_FILE: &str = "run.json";
/// Every access of such a run.
pub const REQUESTS_FILE: &str = "requests.parquet";
/// The report for people.
pub const REPORT_FILE: &str = "report.html";
/// An A/B comparison of two block layers: all measurements.
pub const AB_FILE: &str = "ab.json";
/// The findings of a study, as text.
pub const SUMMARY_FILE: &str = "summary.txt";
/// The rows of a study, as comma-separated values.
pub const CELLS_FILE: &str = "cells.csv";
/// A reproduced paper: all measurements.
pub const RESULTS_FILE: &str = "results.json";
/// The write-cost model of a drive: everything measured.
pub const COST_FILE: &str = "write-cost.json";
/// What an I/O costs a machine: everything measured or modelled.
pub const PLATFORM_FILE: &str = "platform.json";
/// The platform file of a measured machine.
pub const PLATFORM_TOML: &str = "platform.toml";
/// The samples of such a measurement.
pub const SAMPLES_FILE: &str = "samples.parquet";
/// The twin of a measured drive: a drive file.
pub(crate) const TWIN_FILE: &str = "twin.toml";
/// The sums of the files beside it.
pub const SUMS_FILE: &str = "sums.txt";
/// A trace before it is renamed.
pub(crate) const TRACE_FILE: &str = "trace";

/// All names that a file can have in a staging directory.
pub(super) const NAMES: [&str; 15] = [
    RECORD_FILE,
    PROFILE_FILE,
    RUN_FILE,
    REQUESTS_FILE,
    REPORT_FILE,
    AB_FILE,
    SUMMARY_FILE,
    CELLS_FILE,
    RESULTS_FILE,
    COST_FILE,
    PLATFORM_FILE,
    PLATFORM_TOML,
    SAMPLES_FILE,
    TWIN_FILE,
    TRACE_FILE,
];

/// Returns true if a directory, including its subdirectories, holds only files with Fathom's names.
pub(super) fn is_ours(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        let known = name
            .to_str()
            .is_some_and(|n| n == SUMS_FILE || NAMES.contains(&n));
        match entry.file_type() {
            Ok(kind) if kind.is_file() => known,
            Ok(kind) if kind.is_dir() => is_ours(&entry.path()),
            _ => false,
        }
    })
}

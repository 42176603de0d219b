//! The names of the files that are kept.

use std::fs;
use std::path::Path;

/// The raw record: what was measured.
pub const RECORD_FILE: &str = "record.parquet";
/// The answers.
pub const PROFILE_FILE: &str = "profile.toml";
/// A run of a workload: what was asked for and what was measured.
pub const RUN_FILE: &str = "run.json";
/// Every access of such a run.
pub const REQUESTS_FILE: &str = "requests.parquet";
/// The report for people.
pub const REPORT_FILE: &str = "report.html";
/// Two block layers in turn: everything that was measured.
pub const AB_FILE: &str = "ab.json";
/// What a study found, as text.
pub const SUMMARY_FILE: &str = "summary.txt";
/// The rows of a study as comma-separated values.
pub const CELLS_FILE: &str = "cells.csv";
/// A paper that was run again: everything that was measured.
pub const RESULTS_FILE: &str = "results.json";
/// The sums of the files beside it.
pub const SUMS_FILE: &str = "sums.txt";
/// A trace before it has its name.
pub(crate) const TRACE_FILE: &str = "trace";

/// Every name that a file of a set has while it is made.
pub(super) const NAMES: [&str; 10] = [
    RECORD_FILE,
    PROFILE_FILE,
    RUN_FILE,
    REQUESTS_FILE,
    REPORT_FILE,
    AB_FILE,
    SUMMARY_FILE,
    CELLS_FILE,
    RESULTS_FILE,
    TRACE_FILE,
];

/// Whether there is nothing in a directory but files with names of Fathom's, and directories of that kind.
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

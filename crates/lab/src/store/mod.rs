//! A run on disk: `record.parquet`, `profile.toml` and `report.html` of a measurement, or `run.json`,
//! `requests.parquet` and `report.html` of a workload, in one directory.
//!
//! Files are written whole or not at all: every file of a set is complete on the medium under a temporary name
//! before the first one takes its place. A record is checked against its own checksum when it is read, so that a
//! damaged one is an error and never a wrong answer. This module measures nothing and answers nothing.

mod codec;
mod error;
mod outcome;
pub(crate) mod whole;

pub use error::StoreError;
pub use outcome::{load_outcome, load_responses, save_outcome};
pub use whole::{make_dir, write_whole};

use fathom_probe::{Profile, Record};
use std::path::{Path, PathBuf};

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

/// The record as the bytes of a Parquet file; equal records give equal bytes.
///
/// # Errors
/// [`StoreError::Encode`] when the record cannot be expressed, which no record that a run makes is.
pub fn encode_record(record: &Record) -> Result<Vec<u8>, StoreError> {
    codec::encode(record).map_err(|detail| StoreError::Encode {
        what: RECORD_FILE,
        detail,
    })
}

/// The profile as TOML; equal profiles give equal text.
///
/// # Errors
/// [`StoreError::Encode`] for a seed above 2^63 - 1, which TOML cannot hold.
pub fn encode_profile(profile: &Profile) -> Result<String, StoreError> {
    toml::to_string_pretty(profile).map_err(|e| StoreError::Encode {
        what: PROFILE_FILE,
        detail: e.to_string(),
    })
}

/// Reads the record of a run's directory, or a record file itself.
///
/// # Errors
/// Any [`StoreError`] but `Encode` and `Occupied`: what is wrong with the file, and what to do.
pub fn load_record(run: &Path) -> Result<Record, StoreError> {
    codec::decode(&file_of(run, RECORD_FILE))
}

/// Reads the profile of a run's directory, or a profile file itself.
///
/// # Errors
/// [`StoreError::Io`], [`StoreError::Missing`] or [`StoreError::Profile`] with the line and the key.
pub fn load_profile(run: &Path) -> Result<Profile, StoreError> {
    let path = file_of(run, PROFILE_FILE);
    let text = std::fs::read_to_string(&path).map_err(|e| StoreError::reading(&path, e))?;
    toml::from_str(&text).map_err(|e| StoreError::Profile {
        path,
        line: e.span().map(|s| line_of(&text, s.start)),
        detail: e.message().to_owned(),
    })
}

/// Writes a finished run: record, profile and report, all or none.
///
/// # Errors
/// [`StoreError::Io`] when a file cannot be written; nothing half-written stays.
pub fn save_run(
    dir: &Path,
    record: &Record,
    profile: &Profile,
    report_html: &str,
) -> Result<(), StoreError> {
    let record = encode_record(record)?;
    let profile = encode_profile(profile)?;
    write_whole(
        dir,
        &[
            (RECORD_FILE, &record),
            (PROFILE_FILE, profile.as_bytes()),
            (REPORT_FILE, report_html.as_bytes()),
        ],
    )
}

/// Writes the record alone, as an interrupted run leaves it, and takes away answers that no longer belong to it.
///
/// # Errors
/// [`StoreError::Io`] when the file cannot be written; the record that stood there before then stays.
pub fn save_record(dir: &Path, record: &Record) -> Result<(), StoreError> {
    write_whole(dir, &[(RECORD_FILE, &encode_record(record)?)])?;
    for stale in [PROFILE_FILE, REPORT_FILE] {
        let path = dir.join(stale);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path, e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks, before a run, that its results can be written to `dir`: that it is or can become a directory, that files
/// can be made in it, and that it holds no measurement that cannot be had again.
///
/// A record of a modelled drive may be replaced, because its seed repeats it; one of a real drive may not.
///
/// # Errors
/// [`StoreError::Io`], [`StoreError::NotADirectory`] or [`StoreError::Occupied`].
pub fn check_output(dir: &Path) -> Result<(), StoreError> {
    whole::check_writable(dir)?;
    let path = dir.join(RECORD_FILE);
    if !path.exists() {
        return Ok(());
    }
    match load_record(dir) {
        Ok(record) if record.meta.target.modelled => Ok(()),
        Ok(record) => Err(StoreError::Occupied {
            path,
            complete: record.meta.complete,
        }),
        Err(_) => Err(StoreError::Occupied {
            path,
            complete: true,
        }),
    }
}

fn file_of(run: &Path, name: &str) -> PathBuf {
    if run.is_file() {
        run.to_owned()
    } else {
        run.join(name)
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())]
        .iter()
        .filter(|&&b| b == b'\n')
        .count()
        + 1
}

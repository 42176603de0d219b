//! The results of a measurement on disk, as much of them as there is room for.
//!
//! The report is many times as long as the record and can be made of it again; the record of a real drive cannot be had
//! again. Where the whole set cannot be written, the record is, with the profile if there is room for both.

use crate::failure::Failure;
use crate::out;
use fathom_lab::store::{self, PROFILE_FILE, RECORD_FILE, REPORT_FILE, SUMS_FILE, StoreError};
use fathom_probe::{Profile, Record};
use std::path::Path;

/// Writes record, profile and report, and gives their names. Where that fails, the record and the profile are written, or
/// the record alone, and the files of an older run that do not belong to them are removed.
///
/// # Errors
/// The error of the whole set, also where a part of it was written; the message names that part.
pub(super) fn measurement(
    dir: &Path,
    record: &Record,
    profile: &Profile,
) -> Result<Vec<&'static str>, Failure> {
    let (encoded, toml) = (
        store::encode_record(record)?,
        store::encode_profile(profile)?,
    );
    let html = fathom_report::html::render(record, profile);
    let all: [(&'static str, &[u8]); 3] = [
        (RECORD_FILE, &encoded),
        (PROFILE_FILE, toml.as_bytes()),
        (REPORT_FILE, html.as_bytes()),
    ];
    let names = all.map(|(name, _)| name);
    let Err(whole) = store::put(dir, &all, &[]) else {
        return Ok(names.to_vec());
    };
    for count in [2, 1] {
        if store::put(dir, &all[..count], &names[count..]).is_ok() {
            return Err(short(whole, dir, names.split_at(count)));
        }
    }
    Err(whole.into())
}

/// The error of the whole set where only the files `kept` were written.
fn short(whole: StoreError, dir: &Path, (kept, missing): (&[&str], &[&str])) -> Failure {
    let (shown, kept, missing) = (out::shown(dir), kept.join(", "), missing.join(" and "));
    let command = match kept.contains(PROFILE_FILE) {
        true => "report",
        false => "solve",
    };
    let message = format!(
        "{missing} could not be written; the rest of the run is in {shown}: {kept}, {SUMS_FILE}"
    );
    Failure::input("fathom::io", message)
        .because(whole)
        .help(format!(
            "make room, then write {missing} with: fathom {command} {shown}"
        ))
}

/// What is said of files that were written, with the sums that are written beside them.
pub(super) fn written(dir: &Path, files: &[&str]) -> String {
    let files = files.join(", ");
    format!("Written to {}: {files}, {SUMS_FILE}", out::shown(dir))
}

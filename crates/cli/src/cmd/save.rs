//! Saves the results of a measurement, as far as there is space.
//!
//! The report is many times as large as the record and can be rebuilt from it; a real drive's record cannot be measured
//! again. If the whole set does not fit, the record is written, with the profile if both fit.

use crate::failure::{Exit, Failure};
use crate::out;
use fathom_lab::store::{self, PROFILE_FILE, RECORD_FILE, REPORT_FILE, SUMS_FILE, StoreError};
use fathom_probe::{Profile, Record};
use serde::Serialize;
use std::path::Path;

/// Writes record, profile and report, and returns their names. If that fails, writes the record and the profile, or only the
/// record, and removes files of an older run that do not belong to them.
///
/// # Errors
/// The error of writing the whole set, also if a part of it was written; the message then names that part.
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

/// Returns the error of the whole set for the case that only the files `kept` were written.
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

/// Returns the message on the files written, including their checksums.
pub(super) fn written(dir: &Path, files: &[&str]) -> String {
    let files = files.join(", ");
    format!("Written to {}: {files}, {SUMS_FILE}", out::shown(dir))
}

/// Prints a result that may have been saved: as JSON, or as text with the message on its files. Prints it even if it could not
/// be saved.
///
/// # Errors
/// It cannot be printed, or could not be saved.
pub(super) fn shown<T: Serialize>(
    json: bool,
    found: &T,
    text: impl FnOnce() -> String,
    saved: Option<Result<String, Failure>>,
) -> Result<Exit, Failure> {
    let after = match &saved {
        Some(Ok(message)) => format!("\n{message}\n"),
        _ => String::new(),
    };
    match json {
        true => out::json(found)?,
        false => out::text(&(text() + &after))?,
    }
    saved.transpose()?;
    Ok(Exit::Done)
}

//! Stores runs on disk. The directory of a measurement holds `record.parquet`, `profile.toml` and `report.html`; that of a
//! workload run holds `run.json`, `requests.parquet` and `report.html`.
//!
//! The files of a run are a set. They are written in a separate directory ([`Staging`]) and take their places together,
//! with the CRC-32C of each in `sums.txt`. A file is checked against its sum when it is read, so that damage is an error
//! and never a wrong answer. Leftovers of a killed process are removed by the next process that writes there. This module
//! does no measuring and computes no answers.

mod codec;
mod commit;
mod disk;
mod error;
mod kept;
mod names;
mod passing;
mod run_record;
mod set_kind;
mod settle;
mod single;
mod staging;
mod sums;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use kept::Loaded;
pub use names::{
    AB_FILE, CELLS_FILE, COST_FILE, PLATFORM_FILE, PLATFORM_TOML, PROFILE_FILE, RECORD_FILE,
    REPORT_FILE, REQUESTS_FILE, RESULTS_FILE, RUN_FILE, SAMPLES_FILE, SUMMARY_FILE, SUMS_FILE,
};
pub(crate) use names::{TRACE_FILE, TWIN_FILE};
pub use passing::Passing;
pub use run_record::{load_run, load_run_record, save_run_record};
pub use set_kind::SetKind;
pub use single::single;
pub use staging::{StagedFile, Staging};

use fathom_probe::{Parameter, Profile, Record, Verdict};
use kept::{Kept, place_of};
use std::ffi::OsStr;
use std::path::Path;
use sums::Sums;
pub(crate) use sums::regular;

/// Encodes the record as a Parquet file. Equal records give equal bytes.
///
/// # Errors
/// [`StoreError::Encode`] if the record cannot be expressed, which does not happen for a record made by a run.
pub fn encode_record(record: &Record) -> Result<Vec<u8>, StoreError> {
    codec::encode(record).map_err(|detail| StoreError::Encode {
        what: RECORD_FILE,
        detail,
    })
}

/// Encodes the profile as TOML. Equal profiles give equal text.
///
/// # Errors
/// [`StoreError::Encode`] if the profile cannot be expressed, which does not happen for a profile made by a run.
pub fn encode_profile(profile: &Profile) -> Result<String, StoreError> {
    toml::to_string_pretty(profile).map_err(|e| StoreError::Encode {
        what: PROFILE_FILE,
        detail: e.to_string(),
    })
}

/// Reads the record in a run's directory, or a record file itself.
///
/// # Errors
/// Any [`StoreError`] except `Encode`, `Occupied` and `Unreadable`. It says what is wrong with the file and what to do.
pub fn load_record(run: &Path) -> Result<Loaded<Record>, StoreError> {
    let (dir, name) = place_of(run, RECORD_FILE);
    Kept::with(dir, |kept| record_in(kept, name))
}

fn record_in(kept: &Kept, name: &OsStr) -> Result<Loaded<Record>, StoreError> {
    let (bytes, opened) = kept.read(name)?;
    // A record has a checksum of its own, which suffices unless it is of the first format.
    let (value, note) = codec::decode(&opened.path, bytes)?;
    let note = note.filter(|_| !opened.checked);
    Ok(Loaded {
        value,
        notes: note.into_iter().collect(),
    })
}

/// Reads the profile in a run's directory, or a profile file itself.
///
/// # Errors
/// [`StoreError::Io`], [`StoreError::Missing`], [`StoreError::Damaged`], or [`StoreError::Profile`] with the line and the
/// key.
pub fn load_profile(run: &Path) -> Result<Loaded<Profile>, StoreError> {
    let (dir, name) = place_of(run, PROFILE_FILE);
    Kept::with(dir, |kept| profile_in(kept, name))
}

fn profile_in(kept: &Kept, name: &OsStr) -> Result<Loaded<Profile>, StoreError> {
    let (bytes, opened) = kept.read(name)?;
    let wrong = |line, detail| StoreError::Profile {
        path: opened.path.clone(),
        line,
        detail,
    };
    let text = String::from_utf8(crate::text::unmarked(&bytes).to_vec())
        .map_err(|e| wrong(None, format!("it is no text: {e}")))?;
    let value = crate::parse::from_toml(&text).map_err(|(line, detail)| wrong(line, detail))?;
    if let Some((parameter, detail)) = contradiction(&value) {
        let key = ["parameters".to_owned(), parameter.to_string()];
        return Err(wrong(crate::parse::line_of(&text, &key), detail));
    }
    Ok(Loaded {
        value,
        notes: opened.note().into_iter().collect(),
    })
}

/// Returns the first answer of an edited profile that is identified without a value, or has one although it is not.
fn contradiction(profile: &Profile) -> Option<(Parameter, String)> {
    profile.parameters.iter().find_map(|(parameter, answer)| {
        let identified = answer.verdict == Verdict::Identified;
        let words = answer.verdict.words();
        let detail = match &answer.value {
            None if identified => format!("`{parameter}` is {words} and has no `value`"),
            Some(value) if !identified => {
                let value = value.plain();
                format!("`{parameter}` has the value `{value}` although it is {words}")
            }
            _ => return None,
        };
        Some((*parameter, detail))
    })
}

/// Reads a measurement: the record and the profile of the same run. An interrupted run has no profile.
///
/// # Errors
/// Those of [`load_record`] and [`load_profile`].
pub fn load_measurement(dir: &Path) -> Result<Loaded<(Record, Option<Profile>)>, StoreError> {
    Kept::with(dir, |kept| {
        let mut record = record_in(kept, OsStr::new(RECORD_FILE))?;
        let profile = match profile_in(kept, OsStr::new(PROFILE_FILE)) {
            Err(StoreError::Missing { .. }) => None,
            Err(error @ StoreError::Gone { .. }) => {
                record
                    .notes
                    .push(format!("{error}; the record is answered again"));
                None
            }
            profile => {
                let profile = profile?;
                record.notes.extend(profile.notes);
                Some(profile.value)
            }
        };
        Ok(record.map(|record| (record, profile)))
    })
}

/// Returns true unless the file is certainly missing from the directory.
pub fn holds(dir: &Path, name: &str) -> bool {
    let open = |kept: &Kept| kept.open(name).map(drop);
    !matches!(Kept::with(dir, open), Err(StoreError::Missing { .. }))
}

/// Writes files that take their places together. Other files in the directory are left alone.
///
/// # Errors
/// [`StoreError::Io`] or [`StoreError::NotADirectory`]; the previous files stay in place.
pub fn write_whole(dir: &Path, files: &[(&'static str, &[u8])]) -> Result<(), StoreError> {
    put(dir, files, &[])
}

/// Like [`write_whole`], and removes the files named in `gone` from the set.
///
/// # Errors
/// Those of [`write_whole`].
pub fn put(dir: &Path, files: &[(&'static str, &[u8])], gone: &[&str]) -> Result<(), StoreError> {
    let mut set = Staging::new(dir)?;
    for (name, bytes) in files {
        set.add(name, bytes)?;
    }
    set.commit(gone)
}

/// Writes a finished run: record, profile and report, all or none.
///
/// # Errors
/// [`StoreError::Io`] if a file cannot be written; no partial file is left behind.
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

/// Writes the record alone, for an interrupted run, and removes a profile and report that do not belong to it.
///
/// # Errors
/// [`StoreError::Io`] if the file cannot be written; the previous record stays.
pub fn save_record(dir: &Path, record: &Record) -> Result<(), StoreError> {
    let files = [(RECORD_FILE, &*encode_record(record)?)];
    put(dir, &files, &[PROFILE_FILE, REPORT_FILE])
}

/// Removes a record that was stored alone, and its directory if that is then empty.
pub fn forget(dir: &Path) {
    for name in [RECORD_FILE, SUMS_FILE] {
        if std::fs::remove_file(dir.join(name)).is_err() {
            return;
        }
    }
    // This fails, as intended, if the directory holds anything else.
    let _stays = std::fs::remove_dir(dir);
}

/// Checks, before a run, that its results can be written to `dir`: it is a directory or can become one, files can be
/// created in it, and it holds neither a measurement that cannot be repeated nor a set of another kind. Also removes the
/// leftovers of killed processes in it, and those made for it in the directory above.
///
/// A record of a modelled drive may be replaced, because its seed reproduces it; one of a real drive may not.
///
/// # Errors
/// [`StoreError::Io`], [`StoreError::NotADirectory`], [`StoreError::NotAFile`], [`StoreError::Occupied`],
/// [`StoreError::Unreadable`] or [`StoreError::OtherKind`].
pub fn check_output(dir: &Path, kind: SetKind) -> Result<(), StoreError> {
    begin(dir, kind).map(drop)
}

/// Checks that a directory holds no measurement that cannot be repeated.
///
/// # Errors
/// [`StoreError::Occupied`] or [`StoreError::Unreadable`].
pub(crate) fn check_free(dir: &Path) -> Result<(), StoreError> {
    let path = dir.join(RECORD_FILE);
    let stands = |dir: &Path| dir.join(RECORD_FILE).exists();
    match load_record(dir) {
        Err(StoreError::Missing { .. }) => Ok(()),
        // There is no record; some other file is damaged.
        Err(_) if !stands(dir) && !stands(&dir.join(settle::NEXT)) => Ok(()),
        Ok(record) if record.value.meta.target.modelled => Ok(()),
        Ok(record) => {
            let complete = record.value.meta.complete;
            Err(StoreError::Occupied { path, complete })
        }
        Err(why) => {
            let source = Box::new(why);
            Err(StoreError::Unreadable { path, source })
        }
    }
}

/// Removes the leftovers of killed processes in a directory, and in the one above it, where they are made while the
/// directory does not exist.
pub fn clear(dir: &Path) {
    if let Ok((existing, missing)) = staging::split(dir) {
        staging::clear(&existing);
        if missing.is_empty()
            && let Some(above) = dir.parent()
            && let Ok((above, _)) = staging::split(above)
        {
            staging::clear(&above);
        }
    }
}

/// Checks that a set can be written to `dir` ([`check_output`]), and begins the set.
///
/// # Errors
/// Those of [`check_output`].
pub fn begin(dir: &Path, kind: SetKind) -> Result<Staging, StoreError> {
    clear(dir);
    let set = Staging::new(dir)?;
    check_free(dir)?;
    // A directory in the place of a file would be found only when all is measured.
    let names = kind.files().iter().chain(&[REPORT_FILE, SUMS_FILE]);
    let mut places = names.map(|name| dir.join(name));
    if let Some(path) = places.find(|path| path.is_dir()) {
        let what = "a directory";
        return Err(StoreError::NotAFile { path, what });
    }
    let others = kinds_in(dir);
    match others.into_iter().find(|there| *there != kind) {
        None => Ok(set),
        Some(there) => Err(StoreError::OtherKind {
            path: dir.to_owned(),
            there,
            wanted: kind,
        }),
    }
}

/// Returns the kinds of set in a directory, as far as they can be determined.
pub fn kinds_in(dir: &Path) -> Vec<SetKind> {
    // Damaged sums count as absent. Without sums, as in older versions, the files themselves tell the kind.
    let sums = Sums::read(dir).ok().flatten();
    let there = |name: &&str| match &sums {
        Some(sums) => sums.files.contains_key(*name),
        None => dir.join(name).is_file(),
    };
    let marked = |kind: &SetKind| kind.files().iter().any(&there);
    let found: Vec<SetKind> = SetKind::MARKED.into_iter().filter(marked).collect();
    match found.is_empty() && sums.is_some() && there(&REPORT_FILE) {
        true => vec![SetKind::Comparison],
        false => found,
    }
}

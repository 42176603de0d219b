//! Stores a workload run: `run.json`, and the part of `requests.parquet` that a comparison needs.

use super::kept::{Kept, Loaded, place_of};
use super::{REPORT_FILE, REQUESTS_FILE, RUN_FILE, Staging, StoreError};
use crate::replay::read_responses;
use crate::text::unmarked;
use fathom_run::RunRecord;
use fathom_run::compare::Responses;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::Path;

/// Format version of `run.json`; a file without the key has version 1.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Saved<'a> {
    format: u32,
    #[serde(flatten)]
    record: &'a RunRecord,
}

/// The keys that distinguish a run from other JSON, and its format version.
#[derive(Deserialize)]
struct Head {
    format: Option<u32>,
    plan: Option<serde::de::IgnoredAny>,
    totals: Option<serde::de::IgnoredAny>,
}

/// Puts a workload run in place: `run.json`, the report if there is one, and `requests.parquet` if the set has it.
///
/// # Errors
/// [`StoreError::Io`] if it cannot be written; no partial file is left behind.
pub fn save_run_record(
    mut set: Staging,
    record: &RunRecord,
    report_html: Option<&str>,
) -> Result<(), StoreError> {
    let saved = Saved {
        format: FORMAT,
        record,
    };
    let text = serde_json::to_string_pretty(&saved).map_err(|e| StoreError::Encode {
        what: RUN_FILE,
        detail: e.to_string(),
    })?;
    set.add(RUN_FILE, (text + "\n").as_bytes())?;
    if let Some(html) = report_html {
        set.add(REPORT_FILE, html.as_bytes())?;
    }
    // A report or accesses of the previous run do not belong to this one.
    let gone = [REPORT_FILE, REQUESTS_FILE].into_iter();
    let gone: Vec<&str> = gone.filter(|name| !set.has(name)).collect();
    set.commit(&gone)
}

/// Reads a workload run from a directory, or a `run.json` itself.
///
/// # Errors
/// [`StoreError::Missing`], [`StoreError::Io`], [`StoreError::NotARun`] for another file, [`StoreError::Damaged`] with line
/// and column, [`StoreError::Newer`].
pub fn load_run_record(run: &Path) -> Result<Loaded<RunRecord>, StoreError> {
    let (dir, name) = place_of(run, RUN_FILE);
    Kept::with(dir, |kept| record_in(kept, name))
}

/// Reads a workload run with the response time of every access. These are `None` if the run kept no accesses, if a
/// `run.json` was named without its directory, or if they are damaged; in the last case a note says so.
///
/// # Errors
/// Those of [`load_run_record`].
pub fn load_run(run: &Path) -> Result<Loaded<(RunRecord, Option<Responses>)>, StoreError> {
    let (dir, name) = place_of(run, RUN_FILE);
    Kept::with(dir, |kept| {
        let Loaded {
            value: record,
            mut notes,
        } = record_in(kept, name)?;
        let responses = match run.is_file() {
            true => None,
            false => responses_in(kept, &mut notes).unwrap_or_else(|error| {
                notes.push(format!("{error}; its accesses are not paired"));
                None
            }),
        };
        let value = (record, responses);
        Ok(Loaded { value, notes })
    })
}

fn record_in(kept: &Kept, name: &OsStr) -> Result<Loaded<RunRecord>, StoreError> {
    let (bytes, opened) = kept.read(name)?;
    let path = &opened.path;
    let not_a_run = |detail: &str| StoreError::NotARun {
        path: path.clone(),
        detail: detail.to_owned(),
    };
    let bytes = unmarked(&bytes);
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Err(not_a_run("it is no JSON object"));
    }
    let damaged = |error: serde_json::Error| StoreError::Damaged {
        path: path.clone(),
        detail: error.to_string(),
    };
    let head: Head = serde_json::from_slice(bytes).map_err(damaged)?;
    let found = head.format.unwrap_or(FORMAT);
    if found > FORMAT {
        return Err(StoreError::Newer {
            path: path.clone(),
            found,
            known: FORMAT,
        });
    }
    if head.plan.is_none() || head.totals.is_none() {
        return Err(not_a_run("it has no `plan` and `totals`"));
    }
    Ok(Loaded {
        value: serde_json::from_slice(bytes).map_err(damaged)?,
        notes: opened.note().into_iter().collect(),
    })
}

fn responses_in(kept: &Kept, notes: &mut Vec<String>) -> Result<Option<Responses>, StoreError> {
    let opened = match kept.open(REQUESTS_FILE) {
        Err(StoreError::Missing { .. }) => return Ok(None),
        opened => opened?,
    };
    notes.extend(opened.note());
    let path = opened.path;
    read_responses(opened.file)
        .map(Some)
        .map_err(|detail| StoreError::Damaged { path, detail })
}

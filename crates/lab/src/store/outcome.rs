//! A run of a workload on disk: `run.json`, and of `requests.parquet` what a comparison needs.

use super::{REQUESTS_FILE, RUN_FILE, StoreError, file_of, write_whole};
use crate::compare::Responses;
use crate::replay::{Outcome, read_responses};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;

/// The format of `run.json`; a file without the key has the first.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Saved<'a> {
    format: u32,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

/// What tells a run from other JSON, and its format.
#[derive(Deserialize)]
struct Head {
    format: Option<u32>,
    plan: Option<serde::de::IgnoredAny>,
    totals: Option<serde::de::IgnoredAny>,
}

/// Writes a run of a workload.
///
/// # Errors
/// [`StoreError::Io`] when it cannot be written; nothing half-written stays.
pub fn save_outcome(dir: &Path, outcome: &Outcome) -> Result<(), StoreError> {
    let saved = Saved {
        format: FORMAT,
        outcome,
    };
    let text = serde_json::to_string_pretty(&saved).map_err(|e| StoreError::Encode {
        what: RUN_FILE,
        detail: e.to_string(),
    })?;
    write_whole(dir, &[(RUN_FILE, (text + "\n").as_bytes())])
}

/// Reads the run of a workload: of a directory, or a `run.json` itself.
///
/// # Errors
/// [`StoreError::Missing`], [`StoreError::Io`], [`StoreError::NotARun`] for another file,
/// [`StoreError::Damaged`] with line and column, [`StoreError::Newer`].
pub fn load_outcome(run: &Path) -> Result<Outcome, StoreError> {
    let path = file_of(run, RUN_FILE);
    let bytes = std::fs::read(&path).map_err(|e| StoreError::reading(&path, e))?;
    let not_a_run = |detail: &str| StoreError::NotARun {
        path: path.clone(),
        detail: detail.to_owned(),
    };
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Err(not_a_run("it is no JSON object"));
    }
    let damaged = |error: serde_json::Error| StoreError::Damaged {
        path: path.clone(),
        detail: error.to_string(),
    };
    let head: Head = serde_json::from_slice(&bytes).map_err(damaged)?;
    let found = head.format.unwrap_or(FORMAT);
    if found > FORMAT {
        return Err(StoreError::Newer {
            path,
            found,
            known: FORMAT,
        });
    }
    if head.plan.is_none() || head.totals.is_none() {
        return Err(not_a_run("it has no `plan` and `totals`"));
    }
    serde_json::from_slice(&bytes).map_err(damaged)
}

/// The response time of every access of a run's directory; `None` where the run kept no accesses, or a `run.json`
/// without its directory was named.
///
/// # Errors
/// [`StoreError::Io`] or [`StoreError::Damaged`].
pub fn load_responses(run: &Path) -> Result<Option<Responses>, StoreError> {
    let path = run.join(REQUESTS_FILE);
    match std::fs::File::open(&path) {
        Ok(file) => read_responses(file)
            .map(Some)
            .map_err(|detail| StoreError::Damaged { path, detail }),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(StoreError::io("read", &path, e)),
    }
}

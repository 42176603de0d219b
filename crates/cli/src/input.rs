//! Checks the files named on the command line ([`fathom_lab::text`]) before anything is opened. Files named within such a
//! file are checked where they are read.

use crate::failure::Failure;
use crate::file_kind::FileKind;
use crate::out;
use fathom_base::Bytes;
use fathom_lab::store::{PROFILE_FILE, RECORD_FILE, REQUESTS_FILE, RUN_FILE, SUMS_FILE, kinds_in};
use fathom_lab::target::{TargetError, TargetName};
use fathom_lab::text::BYTES_MAX;
use std::path::Path;

/// Maximum size of `run.json`, which contains the figures of a run and the results per process.
const RUN_BYTES_MAX: Bytes = Bytes::mib(64);

/// The files of a run that are read.
const FILES: [&str; 5] = [
    SUMS_FILE,
    PROFILE_FILE,
    RUN_FILE,
    RECORD_FILE,
    REQUESTS_FILE,
];

/// Checks that a path from the user is a regular text file of at most 4 MiB.
///
/// # Errors
/// An input failure. A missing file is no error here; its reader reports it.
pub(crate) fn text(path: &Path) -> Result<(), Failure> {
    check(path, Some(BYTES_MAX))
}

/// Checks a run named by the user: the files of its directory, or one of its files.
///
/// # Errors
/// As for [`text`].
pub(crate) fn run(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let mut files = FILES.iter();
        return files.try_for_each(|name| file_of_run(&path.join(name)));
    }
    file_of_run(path)?;
    match FileKind::of(path) {
        kind @ (FileKind::Drive
        | FileKind::Study
        | FileKind::Workload
        | FileKind::Jobs
        | FileKind::Model) => Err(kind.misplaced(path, "stored run")),
        FileKind::Stored | FileKind::Toml | FileKind::Other => {
            file_of_run(&path.with_file_name(SUMS_FILE))
        }
    }
}

/// As [`run`], for a run of `fathom probe` or its profile.
///
/// # Errors
/// As for [`text`]; also another file of a run.
pub(crate) fn profile(path: &Path) -> Result<(), Failure> {
    run(path)?;
    match FileKind::of(path) {
        FileKind::Stored if !path.ends_with(PROFILE_FILE) => {
            Err(FileKind::Stored.misplaced(path, "profile"))
        }
        _ => Ok(()),
    }
}

fn file_of_run(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let bytes_max = match ending {
        // Samples and accesses, of any number.
        Some("parquet") => None,
        Some("json") => Some(RUN_BYTES_MAX),
        _ => Some(BYTES_MAX),
    };
    check(path, bytes_max)
}

/// Parses the name of a drive, and checks its drive file if it has one.
///
/// # Errors
/// As for [`text`]; also a malformed name, or a file of another kind than a drive file.
pub(crate) fn target(text: &str) -> Result<TargetName, Failure> {
    let other = |path: &Path| match FileKind::of(path) {
        kind @ (FileKind::Study
        | FileKind::Workload
        | FileKind::Jobs
        | FileKind::Model
        | FileKind::Stored) => Some(kind.misplaced(path, "drive")),
        FileKind::Drive | FileKind::Toml | FileKind::Other => None,
    };
    let name = TargetName::parse(text).map_err(|error| match &error {
        TargetError::Unprefixed { path } => other(path).unwrap_or_else(|| error.into()),
        _ => error.into(),
    })?;
    match &name {
        TargetName::DriveFile(path) => {
            self::text(path)?;
            other(path).map_or(Ok(()), Err)?;
        }
        TargetName::Real(path) if path.is_file() => other(path).map_or(Ok(()), Err)?,
        // A scratch file in a directory of results is rarely meant, and is large.
        TargetName::Real(path) if !kinds_in(path).is_empty() => return Err(results(path)),
        TargetName::Real(_) | TargetName::Preset(_) | TargetName::Held(_) => {}
    }
    Ok(name)
}

fn results(path: &Path) -> Failure {
    let dir = out::shown(path);
    let said = format!("{dir} is a stored run, and a drive is asked for");
    Failure::input("fathom::input::run", said).help(format!(
        "name a drive, or a directory on it that holds no run; `fathom report {dir}` shows the run"
    ))
}

fn check(path: &Path, bytes_max: Option<Bytes>) -> Result<(), Failure> {
    fathom_lab::text::look(path, bytes_max).map_err(|why| {
        let message = format!("{} is not read: {why}", path.display());
        Failure::input("fathom::input", message).help(why.help())
    })
}

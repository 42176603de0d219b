//! Files that a command line names, looked at ([`fathom_lab::text`]) before anything is opened. What such a file names in turn is
//! looked at where it is read.

use crate::failure::Failure;
use crate::file_kind::FileKind;
use fathom_base::Bytes;
use fathom_lab::store::{PROFILE_FILE, RECORD_FILE, REQUESTS_FILE, RUN_FILE, SUMS_FILE};
use fathom_lab::target::{TargetError, TargetName};
use fathom_lab::text::BYTES_MAX;
use std::path::Path;

/// The longest `run.json`, which has the lines of a run's figures and what each process got.
const RUN_BYTES_MAX: Bytes = Bytes::mib(64);

/// The files of a run that are read.
const FILES: [&str; 5] = [
    SUMS_FILE,
    PROFILE_FILE,
    RUN_FILE,
    RECORD_FILE,
    REQUESTS_FILE,
];

/// Checks that a text that a user names is a regular file of at most 4 MiB.
///
/// # Errors
/// Input. What is not there is left to who reads it.
pub(crate) fn text(path: &Path) -> Result<(), Failure> {
    check(path, Some(BYTES_MAX))
}

/// Checks a run that a user names: the files of its directory, or a file of it by itself.
///
/// # Errors
/// As [`text`].
pub(crate) fn run(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let mut files = FILES.iter();
        return files.try_for_each(|name| file_of_run(&path.join(name)));
    }
    file_of_run(path)?;
    file_of_run(&path.with_file_name(SUMS_FILE))
}

fn file_of_run(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let bytes_max = match ending {
        // Samples and accesses: as many as there are.
        Some("parquet") => None,
        Some("json") => Some(RUN_BYTES_MAX),
        _ => Some(BYTES_MAX),
    };
    check(path, bytes_max)
}

/// Reads the name of a drive, and checks its drive file if it has one.
///
/// # Errors
/// As [`text`], those of the name, and a file that is known to be something else than a drive file.
pub(crate) fn target(text: &str) -> Result<TargetName, Failure> {
    let other = |path: &Path| match FileKind::of(path) {
        kind @ (FileKind::Study | FileKind::Workload | FileKind::Jobs) => {
            Some(kind.misplaced(path, "drive"))
        }
        FileKind::Drive | FileKind::Toml | FileKind::Other => None,
    };
    let name = TargetName::parse(text).map_err(|error| match &error {
        TargetError::Unprefixed { path } => other(path).unwrap_or_else(|| error.into()),
        _ => error.into(),
    })?;
    if let TargetName::DriveFile(path) = &name {
        self::text(path)?;
        other(path).map_or(Ok(()), Err)?;
    }
    Ok(name)
}

fn check(path: &Path, bytes_max: Option<Bytes>) -> Result<(), Failure> {
    fathom_lab::text::look(path, bytes_max).map_err(|why| {
        let message = format!("{} is not read: {why}", path.display());
        Failure::input("fathom::input", message).help(why.help())
    })
}

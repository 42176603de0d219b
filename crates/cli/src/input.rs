//! Files that a user names, looked at before anything reads them: a pipe that nobody writes to hangs the command, a device
//! gives bytes for ever, and a text of gigabytes is none that somebody wrote.
//!
//! Traces are not looked at here: they are read as streams of any length, and refused at the first line that is none.

use crate::failure::Failure;
use fathom_base::Bytes;
use fathom_lab::store::{PROFILE_FILE, RECORD_FILE, REQUESTS_FILE, RUN_FILE, SUMS_FILE};
use fathom_lab::target::TargetName;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The longest text: drives, workloads, jobs, studies and profiles have some thousand bytes.
const TEXT_BYTES_MAX: Bytes = Bytes::mib(4);
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
    check(path, Some(TEXT_BYTES_MAX))
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
        _ => Some(TEXT_BYTES_MAX),
    };
    check(path, bytes_max)
}

/// Reads the name of a drive, and checks its drive file if it has one.
///
/// # Errors
/// As [`text`], and those of the name.
pub(crate) fn target(text: &str) -> Result<TargetName, Failure> {
    let name = TargetName::parse(text)?;
    if let TargetName::DriveFile(path) = &name {
        self::text(path)?;
    }
    Ok(name)
}

fn check(path: &Path, bytes_max: Option<Bytes>) -> Result<(), Failure> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    let kind = metadata.file_type();
    let wrong = |what: String, help: &str| {
        let message = format!("{} {what}", path.display());
        Err(Failure::input("fathom::input", message).help(help))
    };
    if !kind.is_file() {
        let what = match kind {
            kind if kind.is_dir() => "a directory",
            kind if kind.is_fifo() => "a pipe",
            kind if kind.is_char_device() => "a character device",
            kind if kind.is_block_device() => "a block device",
            _ => "a socket",
        };
        return wrong(
            format!("is {what} and no regular file"),
            "name a regular file; put what a pipe gives into one",
        );
    }
    match bytes_max {
        Some(bytes_max) if metadata.len() > bytes_max.0 => wrong(
            format!(
                "has {}; at most {} are read",
                Bytes(metadata.len()).human(),
                bytes_max.human()
            ),
            "see whether it is the file that is meant",
        ),
        _ => Ok(()),
    }
}

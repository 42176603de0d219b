//! Layout of a program's files on its part of a drive, before the program starts.

use crate::generate::Range;
use fathom_base::{BadValue, Bytes, want};
use fathom_fs::files::{FileId, LEAST_BYTES, Sizes, Volume};

/// Makes the file system on the program's part of a drive, with its directories.
pub(super) fn volume(
    range: Option<Range>,
    capacity: u64,
    directories: u64,
) -> Result<Volume, BadValue> {
    let range = range.unwrap_or(Range::from_zero(Bytes(capacity)));
    let said = format!("{} from {}", range.len, range.start);
    want(
        range.start.0.saturating_add(range.len.0) <= capacity,
        "range",
        &said,
        || format!("must end within the drive of {capacity} bytes"),
    )?;
    want(
        range.len.0 >= LEAST_BYTES && range.len.0 < 1 << 43,
        "range",
        &said,
        || "must be at least 16MiB and below 8TiB long".into(),
    )?;
    Volume::new(range.start, range.len, directories as usize).map_err(|full| {
        let problem = format!("no room for the journal and {directories} directories: {full}");
        BadValue::new("range", said, problem)
    })
}

/// Creates a file of `bytes` bytes that exists before the run.
pub(super) fn place(volume: &mut Volume, directory: usize, bytes: u64) -> Result<FileId, BadValue> {
    let placed = volume.create(directory).and_then(|(file, _)| {
        volume.grow(file, bytes)?;
        Ok(file)
    });
    placed.map_err(|full| {
        BadValue::new(
            "files",
            "",
            format!("the files do not fit the drive: {full}"),
        )
    })
}

/// Validates a range of file lengths.
pub(super) fn check_sizes(sizes: Sizes, key: &'static str) -> Result<(), BadValue> {
    want(
        0 < sizes.min.0 && sizes.min <= sizes.max && sizes.max.0 < 1 << 40,
        key,
        format!("{} to {}", sizes.min, sizes.max),
        || "`min` must be at least one byte, and `max` at least `min` and below 1TiB".into(),
    )
}

/// Validates the utilisation of the drive before the start.
pub(super) fn check_utilisation(percent: f64) -> Result<(), BadValue> {
    let holds = (0.0..100.0).contains(&percent);
    want(holds, "utilisation-percent", percent, || {
        "must be at least 0 and below 100".into()
    })
}

/// Checks that values are above zero.
pub(super) fn check_positive(values: &[(u64, &'static str)]) -> Result<(), BadValue> {
    let mut values = values.iter();
    values.try_for_each(|&(value, key)| want(value > 0, key, 0, || "must be above zero".into()))
}

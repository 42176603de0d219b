//! Layout of a program's files on its part of a drive, before the program starts.

use crate::generate::Range;
use fathom_base::{BadValue, Bytes, Rng, want};
use fathom_fs::{BLOCK_BYTES, FileId, FileSystem, FsError, ROOT, Sizes};
use fathom_platform::Mount;

/// Length of the names of directories, in bytes.
const NAME_BYTES: usize = 4;

/// Makes the file system on the program's part of a drive, with its directories (at least one).
pub(super) fn mount(
    file_system: &FileSystem,
    range: Option<Range>,
    capacity: u64,
    directories: u64,
) -> Result<Mount, BadValue> {
    file_system.check().map_err(|bad| bad.of("file-system"))?;
    let range = range.unwrap_or(Range::from_zero(Bytes(capacity)));
    let said = format!("{} from {}", range.len, range.start);
    want(
        range.start.0.saturating_add(range.len.0) <= capacity,
        "range",
        &said,
        || format!("must end within the drive of {capacity} bytes"),
    )?;
    want(range.len.0 < 1 << 43, "range", &said, || {
        "must be below 8TiB long".into()
    })?;
    want(
        range.start.0.is_multiple_of(BLOCK_BYTES),
        "range",
        &said,
        || "must begin at a multiple of 4KiB".into(),
    )?;
    let no_room = |error: FsError| {
        let problem = format!("no room for the file system and {directories} directories: {error}");
        BadValue::new("range", &said, problem)
    };
    let mut volume = file_system.volume(range.len).map_err(no_room)?;
    let made = (0..directories.max(1)).map(|_| volume.create(ROOT, NAME_BYTES, true));
    let directories = made.collect::<Result<Vec<_>, _>>().map_err(no_room)?;
    volume.forget_changes().map_err(no_room)?;
    Ok(Mount {
        volume,
        start: range.start,
        delayed: file_system.is_delayed(),
        directories,
    })
}

/// Fills the file system before the run. Returns the files.
pub(super) fn fill(
    mount: &mut Mount,
    percent: f64,
    sizes: Sizes,
    seed: u64,
) -> Result<Vec<FileId>, BadValue> {
    let share = percent / 100.0;
    let filled = mount
        .volume
        .age(&mount.directories, share, sizes, Rng::new(seed, 0));
    let files = filled.map_err(|error| {
        let problem = format!("the drive cannot be filled that far: {error}");
        BadValue::new("utilisation-percent", percent, problem)
    })?;
    want(
        percent == 0.0 || !files.is_empty(),
        "utilisation-percent",
        percent,
        || {
            let Sizes { min, max } = sizes;
            format!("the drive stays empty: no file of {min} to {max} fits that part of it")
        },
    )?;
    Ok(files)
}

/// Creates a file of `bytes` bytes that exists before the run.
pub(super) fn place(mount: &mut Mount, directory: usize, bytes: u64) -> Result<FileId, BadValue> {
    let volume = &mut mount.volume;
    let parent = mount.directories.get(directory).copied().unwrap_or(ROOT);
    let pages = bytes.div_ceil(BLOCK_BYTES) as u32;
    let placed = volume.create(parent, NAME_BYTES, false).and_then(|file| {
        volume.set_size(file, bytes)?;
        volume.allocate(file, 0, pages)?;
        volume.open(file, false)?;
        volume.forget_changes()?;
        Ok(file)
    });
    placed.map_err(|error| {
        BadValue::new(
            "files",
            "",
            format!("the files do not fit the drive: {error}"),
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

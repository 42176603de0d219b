//! What the tests share: images, recorded operations, e2fsck, and what files must contain.

pub(crate) mod kernel;

use fathom_ext::{Format, Image, Settings, fill, format};
use fathom_fs::Operation;
use fathom_fs::ext::Version;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) const VERSIONS: [Version; 3] = [Version::Ext2, Version::Ext3, Version::Ext4];
/// The time of all changes: in 2023.
pub(crate) const NOW: i64 = 1_700_000_000;
pub(crate) const LOGICAL_BLOCK: u64 = 4 << 20;

pub(crate) fn layout(version: Version) -> Format {
    Format {
        version,
        identity: *b"0123456789abcdef",
        now: NOW,
    }
}

pub(crate) fn settings(allocator: &str) -> Settings {
    let mut settings = Settings::new(allocator, LOGICAL_BLOCK, NOW).unwrap();
    settings.durable = false;
    settings
}

/// Returns the number of cases of a test: `few` in every run, `many` if the environment variable `FATHOM_LONG` is set.
pub(crate) fn cases(few: usize, many: usize) -> usize {
    match std::env::var_os("FATHOM_LONG") {
        Some(_) => many,
        None => few,
    }
}

/// A directory for images: in memory where there is room.
pub(crate) fn scratch() -> tempfile::TempDir {
    match Path::new("/dev/shm").is_dir() {
        true => tempfile::tempdir_in("/dev/shm").unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// Makes an image of a number of MiB.
pub(crate) fn made(dir: &Path, version: Version, mib: u64) -> PathBuf {
    let path = dir.join("image");
    format(&path, Some(mib << 20), None, &layout(version)).unwrap();
    path
}

pub(crate) fn opened(path: &Path, allocator: &str) -> Image {
    Image::open(path, settings(allocator)).unwrap()
}

/// Runs e2fsck; `None` if it is not there, which the caller's test says.
pub(crate) fn e2fsck(mode: &str, image: &Path) -> Option<Output> {
    match Command::new("e2fsck").arg(mode).arg(image).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: e2fsck is not there ({error})");
            None
        }
    }
}

/// Requires an image to be clean.
pub(crate) fn clean(image: &Path, what: &str) {
    if let Some(output) = e2fsck("-fn", image) {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{what}: {text}");
    }
}

/// The lengths of all files after operations.
pub(crate) fn lengths(operations: &str) -> BTreeMap<String, u64> {
    let mut files = BTreeMap::new();
    for line in operations.lines() {
        apply(&mut files, &line.parse().unwrap());
    }
    files
}

pub(crate) fn apply(files: &mut BTreeMap<String, u64>, operation: &Operation) {
    match operation {
        Operation::Create(path, bytes) => {
            files.insert(path.clone(), *bytes);
        }
        Operation::Append(path, bytes) => *files.get_mut(path).unwrap() += bytes,
        Operation::Delete(path) => {
            files.remove(path);
        }
        _ => {}
    }
}

/// Requires the contents of a file to be those of its name.
pub(crate) fn right(name: &str, contents: &[u8]) {
    let mut expected = vec![0; contents.len()];
    fill(name, 0, &mut expected);
    let wrong = contents.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(
        wrong,
        None,
        "{name}: the first wrong byte of {}",
        contents.len()
    );
}

/// A mixture of operations in a few directories, without a recording: `count` of them, with a sync every `sync`.
pub(crate) fn mixture(count: u64, sync: u64, most: u64) -> String {
    let mut rng = fathom_base::Rng::new(5, 0);
    let mut lines: Vec<String> = (0..6).map(|index| format!("M d{index}")).collect();
    let mut files: Vec<String> = Vec::new();
    for number in 0..count {
        let index = (files.len() > 60).then(|| rng.below(files.len() as u64) as usize);
        match (rng.below(5), index) {
            (0 | 1, Some(index)) => lines.push(format!("D {}", files.swap_remove(index))),
            (2, Some(index)) => {
                lines.push(format!("A {} {}", files[index], 1 + rng.below(most)));
            }
            (3, Some(index)) => lines.push(format!("R {} {most}", files[index])),
            _ => {
                let name = format!("d{}/file{number}", rng.below(6));
                lines.push(format!("C {name} {}", rng.below(most)));
                files.push(name);
            }
        }
        if number % sync == sync - 1 {
            lines.push("S".into());
        }
    }
    lines.join("\n")
}

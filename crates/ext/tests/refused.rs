//! What is refused, with its error, and that a refused image is as it was, to the byte.

use crate::common::kernel::{Mounted, can_mount};
use crate::common::{LOGICAL_BLOCK, clean, layout, made, opened, scratch, settings};
use fathom_ext::{ExtError, Image, format};
use fathom_fs::ext::Version;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

/// Opens what must be refused, and requires that nothing was written.
fn refused(path: &Path) -> ExtError {
    let before = fs::read(path).unwrap();
    let error = Image::open(path, settings("greedy-space")).unwrap_err();
    assert!(before == fs::read(path).unwrap(), "written to: {error}");
    error
}

fn patch(path: &Path, at: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

#[test]
fn an_image_that_is_none_or_damaged_is_refused() {
    let dir = scratch();
    let path = dir.path().join("foreign");
    for bytes in [0, 100, 4096, 1 << 20] {
        fs::write(&path, vec![0x5a; bytes]).unwrap();
        assert!(matches!(refused(&path), ExtError::Foreign(_)));
    }
    let path = made(dir.path(), Version::Ext4, 64);
    // The number of free inodes, in the super block at 1,024.
    patch(&path, 1024 + 16, &[1, 2, 3]);
    let error = refused(&path);
    assert!(matches!(error, ExtError::Corrupt { .. }), "{error}");
    assert!(matches!(
        Image::open(dir.path(), settings("ext4-mballoc")),
        Err(ExtError::Foreign(_))
    ));
    assert!(matches!(
        Image::open(Path::new("/does/not/exist"), settings("ext4-mballoc")),
        Err(ExtError::Host(_))
    ));
}

#[test]
fn damage_behind_the_super_block_is_found_before_a_write() {
    for version in [Version::Ext2, Version::Ext3, Version::Ext4] {
        let dir = scratch();
        let path = made(dir.path(), version, 64);
        // The place of the inode table in the descriptor of the first group, in the second block.
        patch(&path, 4096 + 8, &[0xff; 4]);
        let error = refused(&path);
        assert!(matches!(error, ExtError::Corrupt { .. }), "{error}");
    }
}

#[test]
fn a_journal_that_must_be_replayed_is_refused_until_it_is() {
    for version in [Version::Ext2, Version::Ext3, Version::Ext4] {
        let dir = scratch();
        let path = made(dir.path(), version, 64);
        let mut image = opened(&path, "greedy-space");
        image.make_directory("d").unwrap();
        image.sync().unwrap();
        drop(image);
        let error = refused(&path);
        assert!(error.to_string().contains("e2fsck -fy"), "{error}");
        let Ok(repaired) = Command::new("e2fsck").arg("-fy").arg(&path).output() else {
            eprintln!("skipped: e2fsck is not there");
            return;
        };
        assert!(repaired.status.code().is_some_and(|code| code <= 1));
        let mut image = opened(&path, "greedy-space");
        assert!(matches!(
            image.make_directory("d"),
            Err(ExtError::Exists(_))
        ));
        image.close().unwrap();
        clean(&path, "after the replay");
    }
}

#[test]
fn an_image_in_use_is_refused() {
    let dir = scratch();
    let path = made(dir.path(), Version::Ext3, 64);
    let image = opened(&path, "greedy-space");
    assert!(matches!(refused(&path), ExtError::InUse { .. }));
    assert!(matches!(
        Image::read_only(&path),
        Err(ExtError::InUse { .. })
    ));
    image.close().unwrap();
    if can_mount(dir.path()) {
        let mounted = Mounted::new(&path, dir.path(), "rw").unwrap();
        let error = Image::open(&path, settings("greedy-space")).unwrap_err();
        assert!(matches!(error, ExtError::Host(_)), "{error}");
        let destroy = path.to_str();
        let error = format(&path, None, destroy, &layout(Version::Ext2)).unwrap_err();
        assert!(matches!(error, ExtError::Host(_)), "{error}");
        mounted.end();
        clean(&path, "after being mounted");
    }
}

#[test]
fn formatting_needs_leave_and_room() {
    let dir = scratch();
    let path = dir.path().join("image");
    fs::write(&path, b"precious").unwrap();
    let layout = layout(Version::Ext4);
    let error = format(&path, Some(64 << 20), None, &layout).unwrap_err();
    assert!(matches!(error, ExtError::Occupied { .. }));
    let error = format(&path, Some(64 << 20), Some("other"), &layout).unwrap_err();
    assert!(matches!(error, ExtError::Occupied { .. }));
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    let error = format(&path, Some(1 << 20), Some("image"), &layout).unwrap_err();
    assert!(matches!(error, ExtError::Size { large: false, .. }));
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    format(&path, Some(64 << 20), Some("image"), &layout).unwrap();
    clean(&path, "over a file");
}

#[test]
fn an_operation_that_cannot_be_done_changes_nothing() {
    let dir = scratch();
    let path = made(dir.path(), Version::Ext3, 64);
    let mut image = opened(&path, "greedy-space");
    let operations = "M d\nC d/a 5000\nC b 10\nM e\nS";
    image.run(operations, LOGICAL_BLOCK, &mut |_| {}).unwrap();
    let free = image.free_blocks();
    let mut fails = |line: &str| {
        let error = image.run(line, LOGICAL_BLOCK, &mut |_| {}).unwrap_err();
        match error {
            ExtError::AtOperation { number: 1, source } => *source,
            error => error,
        }
    };
    let missing = ["A d/x 1", "R x 1", "D x", "m x", "C x/y 1", "D x/y"];
    for line in missing {
        assert!(matches!(fails(line), ExtError::Missing(_)), "{line}");
    }
    for line in ["D d", "A d 1", "R d 1", "m b", "C b/c 1"] {
        assert!(matches!(fails(line), ExtError::Kind { .. }), "{line}");
    }
    assert!(matches!(fails("m d"), ExtError::NotEmpty(_)));
    for line in ["C d/a 1", "M d", "M d/a"] {
        assert!(matches!(fails(line), ExtError::Exists(_)), "{line}");
    }
    let long = "x".repeat(256);
    for line in [
        format!("C {long} 1"),
        format!("M {long}"),
        format!("C d/{long} 1"),
    ] {
        assert!(matches!(fails(&line), ExtError::Name(_)));
    }
    assert!(matches!(fails("C big 100000000"), ExtError::Full { .. }));
    assert!(matches!(
        fails("C huge 99999999999999"),
        ExtError::TooLong(_)
    ));
    assert!(matches!(fails("what"), ExtError::Operation { line: 1, .. }));
    for name in ["big", "huge", "x"] {
        assert!(
            matches!(image.size(name), Err(ExtError::Missing(_))),
            "{name}"
        );
    }
    image.sync().unwrap();
    assert_eq!(image.free_blocks(), free);
    image.close().unwrap();
    clean(&path, "after refused operations");
}

#[test]
fn a_full_image_keeps_what_it_has() {
    for version in [Version::Ext2, Version::Ext3, Version::Ext4] {
        for allocator in fathom_ext::ALLOCATORS {
            let dir = scratch();
            let path = made(dir.path(), version, 32);
            let mut image = opened(&path, allocator);
            let mut files = 0;
            let full = loop {
                let line = format!("C f{files} 300000");
                match image.run(&line, LOGICAL_BLOCK, &mut |_| {}) {
                    Ok(_) => files += 1,
                    Err(error) => break error,
                }
            };
            let ExtError::AtOperation { source, .. } = full else {
                panic!("{full}");
            };
            assert!(matches!(*source, ExtError::Full { .. }), "{source}");
            assert!(files > 10);
            image
                .run("D f0\nC g 290000\nA g 5\nS", LOGICAL_BLOCK, &mut |_| {})
                .unwrap();
            image.close().unwrap();
            clean(&path, &format!("a full {version:?} with {allocator}"));
        }
    }
}

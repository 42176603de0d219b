//! Streams of operations on each member of the family with each allocator: e2fsck finds nothing wrong, and every byte can
//! be read again.

use crate::common::kernel::{Mounted, can_mount};
use crate::common::{
    LOGICAL_BLOCK, VERSIONS, clean, lengths, made, mixture, opened, right, scratch,
};
use crate::recorded::recorded;
use fathom_ext::{ALLOCATORS, Image};
use fathom_fs::ext::Version;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// Reads all files of a closed image.
fn verify(path: &Path, operations: &str) {
    let mut image = Image::read_only(path).unwrap();
    for (name, bytes) in lengths(operations) {
        let mut contents = Vec::new();
        let read = image.read(&name, u64::MAX, &mut |_, part| {
            contents.extend_from_slice(part);
            Ok(())
        });
        assert_eq!(read.unwrap(), bytes, "{name}");
        right(&name, &contents);
    }
}

fn play(version: Version, allocator: &str, mib: u64, operations: &str) {
    let dir = scratch();
    let path = made(dir.path(), version, mib);
    let mut image = opened(&path, allocator);
    image.run(operations, LOGICAL_BLOCK, &mut |_| {}).unwrap();
    image.close().unwrap();
    clean(&path, &format!("{version:?}, {allocator}"));
    verify(&path, operations);
}

/// What `dumpe2fs -h` says, without what differs between any two images.
fn described(path: &Path) -> Option<Vec<String>> {
    let output = Command::new("dumpe2fs").arg("-h").arg(path).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let differs = |line: &&str| {
        let always = ["UUID", "Seed", "time", "checked", "created", "Checksum:"];
        // mke2fs writes the latter two; the kernel computes one, and counts the other from a mount on.
        let left_out = ["Overhead clusters", "Lifetime writes"];
        always
            .iter()
            .chain(&left_out)
            .any(|word| line.contains(word))
    };
    let lines = text.lines().filter(|line| !differs(line));
    Some(lines.map(str::to_owned).collect())
}

#[test]
fn a_new_image_is_clean_and_is_as_mke2fs_makes_it() {
    for version in VERSIONS {
        for mib in [513, 2048, 8192] {
            let dir = scratch();
            let path = made(dir.path(), version, mib);
            clean(&path, &format!("{version:?} of {mib} MiB"));
            let theirs = dir.path().join("theirs");
            File::create(&theirs).unwrap().set_len(mib << 20).unwrap();
            let kind = format!("{version:?}").to_lowercase();
            let made = Command::new("mke2fs")
                .args(["-q", "-F", "-t", &kind])
                .arg(&theirs)
                .status();
            match (made, described(&path)) {
                (Ok(status), Some(ours)) if status.success() => {
                    assert_eq!(Some(ours), described(&theirs), "{version:?} of {mib} MiB");
                }
                _ => eprintln!("skipped: mke2fs or dumpe2fs is not there"),
            }
            opened(&path, "greedy-space").close().unwrap();
            clean(&path, &format!("{version:?} of {mib} MiB, mounted once"));
        }
    }
}

#[test]
fn the_recorded_small_stream_leaves_every_image_clean() {
    let Some(operations) = recorded("tiny.sync200.ops.xz") else {
        return;
    };
    for version in VERSIONS {
        for allocator in ALLOCATORS {
            play(version, allocator, 256, &operations);
        }
    }
}

#[test]
fn the_kernel_reads_every_byte() {
    let dir = scratch();
    if !can_mount(dir.path()) {
        return;
    }
    let operations = recorded("postmark_cvfs.sync1000.ops.xz");
    // Postmark deletes all its files at the end: before that, there are thousands.
    let operations = operations.map_or_else(
        || mixture(3000, 200, 300_000),
        |all| {
            let lines: Vec<&str> = all.lines().take(40_000).collect();
            lines.join("\n")
        },
    );
    let expected = lengths(&operations);
    assert!(expected.len() > 500);
    for (version, allocator) in
        VERSIONS
            .into_iter()
            .zip(["greedy-local", "greedy-space", "ext4-mballoc"])
    {
        let path = made(dir.path(), version, 1024);
        let mut image = opened(&path, allocator);
        image.run(&operations, LOGICAL_BLOCK, &mut |_| {}).unwrap();
        image.close().unwrap();
        let mounted = Mounted::new(&path, dir.path(), "rw").unwrap();
        for (name, bytes) in &expected {
            let contents = std::fs::read(mounted.at.join(name)).unwrap();
            assert_eq!(contents.len() as u64, *bytes, "{name}");
            right(name, &contents);
        }
        // What the kernel makes and removes fits to what is there.
        std::fs::write(mounted.at.join("new"), [7; 100_000]).unwrap();
        let victim = expected.keys().next().unwrap();
        std::fs::remove_file(mounted.at.join(victim)).unwrap();
        mounted.end();
        clean(&path, &format!("{version:?} after the kernel"));
        // And the other way round.
        let mut image = opened(&path, allocator);
        image.delete("new").unwrap();
        assert!(image.size(victim).is_err());
        image.close().unwrap();
        clean(&path, &format!("{version:?} after the kernel and us"));
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_mixture_of_operations_leaves_every_image_clean() {
    let operations = mixture(2000, 150, 200_000);
    for version in VERSIONS {
        for allocator in ALLOCATORS {
            play(version, allocator, 512, &operations);
        }
    }
}

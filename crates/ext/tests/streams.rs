//! Streams of operations on each member of the family with each allocator: e2fsck finds nothing wrong, and every byte can
//! be read again.

use crate::common::{
    LOGICAL_BLOCK, VERSIONS, clean, layout, lengths, made, mixture, opened, recorded, right, scratch,
};
use fathom_ext::{ALLOCATORS, Image, format};
use fathom_fs::ext::Version;
use std::path::Path;

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

#[test]
fn a_new_image_is_clean_and_has_the_features_of_mke2fs() {
    for version in VERSIONS {
        for mib in [64, 300, 2048] {
            let dir = scratch();
            let path = made(dir.path(), version, mib);
            clean(&path, &format!("{version:?} of {mib} MiB"));
            opened(&path, "greedy-space").close().unwrap();
            clean(&path, &format!("{version:?} of {mib} MiB, mounted once"));
        }
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

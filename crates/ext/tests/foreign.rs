//! Images that mke2fs and the kernel made: what is supported stays clean, what is not is refused by name.

use crate::common::kernel::{Mounted, can_mount};
use crate::common::{LOGICAL_BLOCK, clean, made, mixture, opened, right, scratch, settings};
use fathom_ext::{ExtError, Image};
use fathom_fs::alloc::{Allocator, Want};
use fathom_fs::ext::Version;
use fathom_fs::{Extent, Space};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Formats an image with mke2fs; `None` if that is not there or does not know an option.
fn by_mke2fs(dir: &Path, kib: u64, options: &str) -> Option<PathBuf> {
    let path = dir.join("image");
    File::create(&path).unwrap().set_len(kib << 10).unwrap();
    let mut command = Command::new("mke2fs");
    command.args(["-q", "-F"]).args(options.split(' '));
    match command.arg(&path).output() {
        Ok(output) if output.status.success() => Some(path),
        other => {
            eprintln!("skipped: mke2fs {options}: {other:?}");
            None
        }
    }
}

#[test]
fn images_of_mke2fs_stay_clean() {
    let operations = mixture(600, 60, 60_000);
    // Groups whose bitmaps are not initialised, with copies of the super block in them or without; no journal; other
    // sizes of inodes and descriptors; sizes that end in the middle of a group or of a block.
    for (kib, options) in [
        (600_000, "-t ext4 -b 4096 -O ^flex_bg"),
        (600_000, "-t ext2 -b 4096 -O metadata_csum"),
        (300_000, "-t ext4 -b 4096 -O ^has_journal"),
        (300_000, "-t ext4 -b 4096 -O ^metadata_csum,uninit_bg"),
        (300_000, "-t ext4 -b 4096 -O ^64bit -I 128"),
        (300_001, "-t ext4 -b 4096 -O metadata_csum_seed,orphan_file"),
        (600_003, "-t ext3 -b 4096 -O ^resize_inode,^sparse_super"),
    ] {
        let dir = scratch();
        let Some(path) = by_mke2fs(dir.path(), kib, options) else {
            continue;
        };
        // One directory: only what belongs to it changes in its group.
        let mut image = opened(&path, "greedy-space");
        image.run("M s", LOGICAL_BLOCK, &mut |_| {}).unwrap();
        image.close().unwrap();
        clean(&path, &format!("{options}, one directory"));
        let mut image = opened(&path, "ext4-mballoc");
        image.run(&operations, LOGICAL_BLOCK, &mut |_| {}).unwrap();
        image.close().unwrap();
        clean(&path, options);
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for (options, name) in [
        ("-t ext4 -b 1024", "blocks of 1024 bytes"),
        ("-t ext3 -b 2048", "blocks of 2048 bytes"),
        ("-t ext4 -b 4096 -I 512", "inodes of 512 bytes"),
        ("-t ext4 -b 4096 -O bigalloc", "bigalloc"),
        ("-t ext4 -b 4096 -O inline_data", "inline_data"),
        ("-t ext4 -b 4096 -O encrypt", "encrypt"),
        ("-t ext4 -b 4096 -O casefold", "casefold"),
        ("-t ext4 -b 4096 -O sparse_super2", "sparse_super2"),
        ("-t ext4 -b 4096 -O quota", "quota"),
        ("-t ext4 -b 4096 -O verity", "verity"),
        ("-t ext4 -b 4096 -O mmp", "mmp"),
        ("-O journal_dev -b 4096", "journal_dev"),
    ] {
        let dir = scratch();
        let Some(path) = by_mke2fs(dir.path(), 200_000, options) else {
            continue;
        };
        let before = fs::read(&path).unwrap();
        let error = Image::open(&path, settings("greedy-space")).unwrap_err();
        assert!(matches!(error, ExtError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(before == fs::read(&path).unwrap(), "written to: {options}");
    }
}

/// The last free run, backwards: the last block of the file system comes first.
#[derive(Debug)]
struct Last;

impl Allocator for Last {
    fn allocate(&mut self, space: &mut Space, _want: &Want) -> Option<Extent> {
        let last = (0..space.blocks()).rev().find_map(|block| {
            let run = space.run(block, block + 1, 1);
            run.filter(|run| run.start == block)
        })?;
        space.take(last);
        Some(last)
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}

#[test]
fn the_last_block_is_taken_and_given_back() {
    for version in [Version::Ext2, Version::Ext3, Version::Ext4] {
        let dir = scratch();
        let path = made(dir.path(), version, 64);
        let open = || {
            let mut settings = settings("greedy-space");
            settings.allocator = Box::new(|_: &Space| Box::new(Last));
            Image::open(&path, settings).unwrap()
        };
        let mut image = open();
        let free = image.free_blocks();
        let mut last = 0;
        image
            .run("C a 100000\nS", LOGICAL_BLOCK, &mut |written| {
                last = written
                    .data
                    .iter()
                    .map(|extent| extent.end())
                    .max()
                    .unwrap_or(last);
            })
            .unwrap();
        assert_eq!(last, image.blocks(), "{version:?}");
        image.close().unwrap();
        clean(&path, &format!("{version:?} with its last block in use"));
        let mut image = open();
        image.run("D a\nS", LOGICAL_BLOCK, &mut |_| {}).unwrap();
        assert_eq!(image.free_blocks(), free);
        image.close().unwrap();
        clean(&path, &format!("{version:?} without its last block"));
    }
}

/// What a kernel makes that we do not: a directory with a hash index, hard links, holes, extended attributes.
fn fill(at: &Path) {
    fs::create_dir(at.join("d")).unwrap();
    for index in 0..3000 {
        fs::write(at.join(format!("d/a_file_with_number_{index}")), "x").unwrap();
    }
    fs::write(at.join("one"), "linked").unwrap();
    fs::hard_link(at.join("one"), at.join("d/two")).unwrap();
    let sparse = File::create(at.join("sparse")).unwrap();
    sparse.set_len(30_000_001).unwrap();
    for name in ["attributes", "shared", "d/shared"] {
        fs::write(at.join(name), "x").unwrap();
        // Two files with the same attributes share one block of them.
        let value = if name == "attributes" { "1" } else { "2" }.repeat(1000);
        let path = at.join(name);
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(path, "user.fathom", value.as_bytes(), flags).unwrap();
    }
    std::os::unix::fs::symlink("one", at.join("short")).unwrap();
    std::os::unix::fs::symlink("x".repeat(200), at.join("long")).unwrap();
}

const CHANGES: &str = "C d/new 5000\nD d/a_file_with_number_7\nA d/a_file_with_number_9 9000\nD short\nD long\n\
                       D d/two\nA sparse 10000\nD attributes\nD d/shared\nS\nM e\nC e/f 70\nD sparse";

#[test]
fn what_the_kernel_made_is_changed_and_stays_clean() {
    let dir = scratch();
    if !can_mount(dir.path()) {
        return;
    }
    for kind in ["ext2", "ext3", "ext4"] {
        let dir = scratch();
        let Some(path) = by_mke2fs(dir.path(), 200_000, &format!("-t {kind} -b 4096")) else {
            return;
        };
        let mounted = Mounted::new(&path, dir.path(), "rw").unwrap();
        fill(&mounted.at);
        mounted.end();
        clean(&path, &format!("{kind}, the kernel's"));
        let mut image = opened(&path, "greedy-space");
        image.run(CHANGES, LOGICAL_BLOCK, &mut |_| {}).unwrap();
        image.close().unwrap();
        clean(&path, &format!("{kind} of the kernel, changed"));
        let mounted = Mounted::new(&path, dir.path(), "rw").unwrap();
        right("d/new", &fs::read(mounted.at.join("d/new")).unwrap());
        assert_eq!(fs::read(mounted.at.join("one")).unwrap(), b"linked");
        let entries = fs::read_dir(mounted.at.join("d")).unwrap();
        assert_eq!(entries.count(), 3000, "one removed, one new");
        fs::write(mounted.at.join("d/kernel"), "x").unwrap();
        fs::remove_file(mounted.at.join("shared")).unwrap();
        mounted.end();
        clean(&path, &format!("{kind} after us and the kernel"));
    }
}

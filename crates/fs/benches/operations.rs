//! Measures file operations on a volume: `cargo bench -p fathom-fs`.
//!
//! A file is created with 1 to 20 pages, and an earlier one is deleted or appended to, as Postmark does; all is written
//! every 1,000 operations. Items are operations.
#![allow(clippy::unwrap_used, reason = "a benchmark stops at what is wrong")]

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_base::Rng;
use fathom_fs::alloc::{Allocator, Ext3, Ext4, Ext4Settings, GreedyLocal, GreedySpace, Reiser};
use fathom_fs::ext::{ExtFormat, Version};
use fathom_fs::log::LogFormat;
use fathom_fs::reiser::ReiserFormat;
use fathom_fs::{FileId, Formatting, Player, Space, Volume};

const OPERATIONS: u64 = 50_000;
/// Allocators over ext4, and the formats with allocators of their own.
const NAMES: [&str; 6] = [
    "ext3",
    "ext4",
    "greedy-space",
    "greedy-local",
    "reiserfs",
    "log-structured",
];

fn main() {
    divan::main();
}

fn allocator(name: &str, space: &Space) -> Box<dyn Allocator> {
    match name {
        "ext3" => Box::new(Ext3::default()),
        "ext4" => Box::new(Ext4::new(Ext4Settings::default())),
        "reiserfs" => Box::new(Reiser::default()),
        "greedy-local" => Box::new(GreedyLocal::new(space, 1024, 0)),
        _ => Box::new(GreedySpace::new(space, 1024, 0)),
    }
}

fn churn(player: &mut Player, most: u64) {
    let mut rng = Rng::new(1, 0);
    let directories: Vec<FileId> = (0..50).map(|_| player.make_directory(3).unwrap()).collect();
    let mut files: Vec<FileId> = Vec::new();
    for operation in 1..=OPERATIONS {
        let index = (files.len() > 1000).then(|| rng.below(files.len() as u64) as usize);
        match (rng.below(4), index) {
            (0, Some(index)) => player.delete(files.swap_remove(index)).unwrap(),
            (1, Some(index)) => player
                .append(files[index], 1 + rng.below(most / 2))
                .unwrap(),
            _ => {
                let directory = directories[rng.below(50) as usize];
                files.push(player.create(directory, 5, 1 + rng.below(most)).unwrap());
            }
        }
        if operation % 1000 == 0 {
            player.sync().unwrap();
        }
    }
}

/// Files of up to 10 KiB.
#[divan::bench(args = NAMES, sample_count = 5)]
fn small(bencher: Bencher, name: &str) {
    bench(bencher, name, 10_240);
}

/// Files of up to 320 KiB.
#[divan::bench(args = NAMES, sample_count = 5)]
fn large(bencher: Bencher, name: &str) {
    bench(bencher, name, 328_072);
}

fn bench(bencher: Bencher, name: &str, most: u64) {
    let format = match name {
        "reiserfs" => Formatting::from(ReiserFormat::default()),
        "log-structured" => Formatting::from(LogFormat::default()),
        _ => Formatting::from(ExtFormat {
            version: Version::Ext4,
            ..ExtFormat::default()
        }),
    };
    bencher
        .counter(ItemsCount::new(OPERATIONS))
        .with_inputs(|| {
            let volume = Volume::format(format, 4 << 20, |space| allocator(name, space));
            Player::new(volume.unwrap(), !["ext3", "reiserfs"].contains(&name))
        })
        .bench_local_refs(|player| churn(player, most));
}

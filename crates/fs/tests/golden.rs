//! Allocators against what kernels and another implementation did with the same file operations: the bytes of each sync,
//! and the logical blocks of 4 MiB that it touches.

use crate::recorded::recorded;
use fathom_base::Rng;
use fathom_fs::alloc::{Allocator, Ext3, Ext4, Ext4Settings, GreedyLocal, GreedySpace};
use fathom_fs::ext::{ExtFormat, Version};
use fathom_fs::{BLOCK_BYTES, Extent, FileId, Player, Purpose, Space, Volume, Write};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks of a logical block of 4 MiB.
pub(crate) const LOGICAL_BLOCK: u64 = 1024;
/// Blocks of the recorded volumes, of 8 GiB.
const BLOCKS: u64 = 2 << 20;

/// Plays recorded operations. Returns what each sync wrote.
pub(crate) fn play(player: &mut Player, operations: &str) -> Vec<Vec<Write>> {
    let mut files: BTreeMap<&str, FileId> = BTreeMap::new();
    let mut syncs = Vec::new();
    for line in operations.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        match words[0] {
            "M" => {
                let made = player.make_directory(words[1].len()).unwrap();
                files.insert(words[1], made);
            }
            "C" => {
                let (directory, name) = words[1].split_once('/').unwrap();
                let made = player.create(files[directory], name.len(), number(2));
                files.insert(words[1], made.unwrap());
            }
            "A" => player.append(files[words[1]], number(2)).unwrap(),
            "R" => {}
            "D" | "m" => player.delete(files.remove(words[1]).unwrap()).unwrap(),
            "S" => syncs.push(player.sync().unwrap()),
            _ => panic!("{line}"),
        }
    }
    syncs
}

pub(crate) fn data(sync: &[Write]) -> impl Iterator<Item = Extent> + '_ {
    let data = sync.iter().filter(|write| write.purpose == Purpose::Data);
    data.map(|write| write.extent)
}

/// The bytes of data of each sync, up to the last that wrote some.
pub(crate) fn bytes(syncs: &[Vec<Write>]) -> Vec<u64> {
    let of = |sync: &Vec<Write>| data(sync).map(|extent| extent.blocks).sum::<u64>() * BLOCK_BYTES;
    let mut bytes: Vec<u64> = syncs.iter().map(of).collect();
    while bytes.pop_if(|bytes| *bytes == 0).is_some() {}
    bytes
}

/// Mean number of logical blocks with data, over the syncs that wrote data.
pub(crate) fn touched(syncs: &[Vec<Write>]) -> f64 {
    mean_of(syncs, |write| write.purpose == Purpose::Data)
}

/// Mean number of logical blocks with writes of some purposes, over the syncs that had some.
pub(crate) fn mean_of(syncs: &[Vec<Write>], counts: impl Fn(&Write) -> bool) -> f64 {
    let of = |sync: &Vec<Write>| {
        let extents = sync
            .iter()
            .filter(|write| counts(write))
            .map(|write| write.extent);
        let blocks = extents
            .flat_map(|extent| extent.start / LOGICAL_BLOCK..=(extent.end() - 1) / LOGICAL_BLOCK);
        blocks.collect::<BTreeSet<u64>>().len()
    };
    let counts: Vec<usize> = syncs.iter().map(of).filter(|&count| count > 0).collect();
    counts.iter().sum::<usize>() as f64 / counts.len() as f64
}

fn ext4(_: &Space) -> Box<dyn Allocator> {
    Box::new(Ext4::new(Ext4Settings::default()))
}

pub(crate) fn greedy(space: &Space) -> Box<dyn Allocator> {
    Box::new(GreedySpace::new(space, LOGICAL_BLOCK, 0))
}

pub(crate) type Make = fn(&Space) -> Box<dyn Allocator>;

fn player(version: Version, allocator: Make, delayed: bool) -> Player {
    let format = ExtFormat {
        version,
        ..ExtFormat::default()
    };
    let volume = Volume::format(format, BLOCKS, allocator).unwrap();
    Player::new(volume, delayed)
}

/// Requires the logical blocks for each sync to lie within `percent` of the recorded number.
fn touches(mut player: Player, stream: &str, expected: f64, percent: f64) {
    let Some(operations) = recorded(stream) else {
        return;
    };
    let found = touched(&play(&mut player, &operations));
    let off = 100.0 * (found / expected - 1.0);
    eprintln!("{stream}: {found:.1} logical blocks, recorded {expected} ({off:+.1} %)");
    assert!(off.abs() < percent, "{found} instead of {expected}");
}

pub(crate) const CVFS_LARGE: &str = "postmark_cvfsl.sync1000.ops.xz";
pub(crate) const FSL: &str = "postmark_fsl.sync1000.ops.xz";

#[test]
fn ext3_of_linux_6_18_touches_as_many_logical_blocks() {
    // Linux serves it with the allocator of ext4. Blocks are allocated when a program writes, one by one.
    let new = || player(Version::Ext3, ext4, false);
    touches(new(), CVFS_LARGE, 214.3, 5.0);
    touches(new(), FSL, 85.0, 5.0);
}

#[test]
fn ext4_of_linux_6_18_touches_as_many_logical_blocks() {
    let new = || player(Version::Ext4, ext4, true);
    touches(new(), CVFS_LARGE, 192.0, 2.0);
    touches(new(), FSL, 77.0, 2.0);
}

#[test]
fn greedy_space_over_libext2fs_touches_as_many_logical_blocks() {
    let new = |version| player(version, greedy, true);
    touches(new(Version::Ext3), CVFS_LARGE, 158.5, 2.0);
    touches(new(Version::Ext4), CVFS_LARGE, 157.5, 2.0);
    touches(new(Version::Ext3), FSL, 75.4, 2.0);
}

/// The operations of a set, and the bytes of data that each of its recorded syncs wrote.
pub(crate) fn recorded_bytes(set: &str) -> Option<(String, Vec<u64>)> {
    let stream = recorded(&format!("postmark_{set}.sync1000.ops.xz"))?;
    let trace = recorded(&format!("gs_ext3_greedy_{set}.tr.xz"))?;
    let mut expected = Vec::new();
    for line in trace.lines() {
        let words: Vec<&str> = line.split(',').collect();
        match words[..] {
            ["S", ..] => expected.push(0),
            ["W", "d", ..] => {
                *expected.last_mut().unwrap() += words[3].parse::<u64>().unwrap() * 512
            }
            _ => {}
        }
    }
    Some((stream, expected))
}

#[test]
fn each_sync_writes_the_bytes_that_were_recorded() {
    for set in ["cvfs", "cvfsl", "fsl"] {
        let Some((stream, expected)) = recorded_bytes(set) else {
            return;
        };
        let found = play(&mut player(Version::Ext3, greedy, true), &stream);
        assert_eq!(bytes(&found), expected, "{set}");
    }
}

/// Files of 1 to 256 KiB up to 90 % of the volume, then thinned out to 70 %, with ext4.
fn aged(rng: &mut Rng) -> Player {
    let mut player = player(Version::Ext4, ext4, true);
    let directories: Vec<FileId> = (0..64).map(|_| player.make_directory(4).unwrap()).collect();
    let all = player.volume().space().free();
    let mut files = Vec::new();
    while player.volume().space().free() > all / 10 {
        let directory = directories[rng.below(64) as usize];
        let bytes = 1024 + rng.below(255 * 1024);
        files.push(player.create(directory, 8, bytes).unwrap());
        if files.len().is_multiple_of(1000) {
            player.sync().unwrap();
        }
    }
    player.sync().unwrap();
    while player.volume().space().free() < all * 3 / 10 {
        for _ in 0..100 {
            let victim = rng.below(files.len() as u64) as usize;
            player.delete(files.swap_remove(victim)).unwrap();
        }
        player.sync().unwrap();
    }
    player
}

/// The recorded factor is 345 to 183; which sizes and directories the files had there is not recorded.
#[test]
fn on_an_aged_volume_greedy_space_touches_about_half_the_logical_blocks() {
    let Some(operations) = recorded(CVFS_LARGE) else {
        return;
    };
    let counts = [ext4 as Make, greedy].map(|allocator| {
        let mut player = aged(&mut Rng::new(1, 0));
        player.mount(allocator);
        touched(&play(&mut player, &operations))
    });
    let [ext4, greedy] = counts;
    eprintln!("ext4 {ext4:.1} (345), Greedy-Space {greedy:.1} (183)");
    assert!(
        (ext4 / greedy / (345.0 / 183.0) - 1.0).abs() < 0.1,
        "{counts:?}"
    );
}

/// `greedy-space` V and VI: on FSL, Greedy-Space lacks locality. New blocks in what is rewritten anyway win it back.
#[test]
fn with_locality_greedy_space_touches_fewer_logical_blocks() {
    let local: Make = |space| Box::new(GreedyLocal::new(space, LOGICAL_BLOCK, 0));
    // With what ext4 of Linux 6.18 touched.
    for (stream, kernel) in [(CVFS_LARGE, 192.0), (FSL, 77.0)] {
        let Some(operations) = recorded(stream) else {
            return;
        };
        let of = |allocator| {
            touched(&play(
                &mut player(Version::Ext4, allocator, true),
                &operations,
            ))
        };
        let (greedy, local) = (of(greedy), of(local));
        eprintln!("{stream}: Greedy-Space {greedy:.1}, with locality {local:.1}");
        assert!(local < greedy && local < kernel, "{local}, {greedy}");
    }
}

/// Recorded with metadata, on a volume whose size is not recorded; 4 GiB is assumed.
#[test]
fn ext2_with_reservation_windows_touches_about_as_many_logical_blocks() {
    let windows: Make = |_| Box::new(Ext3::default());
    let recordings = [
        (CVFS_LARGE, windows, 229.0),
        (CVFS_LARGE, greedy, 210.0),
        (FSL, windows, 73.0),
        (FSL, greedy, 104.0),
    ];
    for (stream, allocator, expected) in recordings {
        let Some(operations) = recorded(stream) else {
            return;
        };
        let format = ExtFormat {
            version: Version::Ext2,
            ..ExtFormat::default()
        };
        let volume = Volume::format(format, BLOCKS / 2, allocator).unwrap();
        let found = mean_of(&play(&mut Player::new(volume, false), &operations), |_| {
            true
        });
        eprintln!("ext2, {stream}: {found:.1} logical blocks, recorded {expected}");
        assert!(
            (found / expected - 1.0).abs() < 0.1,
            "{found} instead of {expected}"
        );
    }
}

//! Against what a Greedy-Space over libext2fs of others wrote with the same operations: the bytes of data of each sync, and
//! the logical blocks of 4 MiB that it touches.

use crate::common::{LOGICAL_BLOCK, cases, clean, made, scratch, settings};
use crate::recorded::recorded;
use fathom_ext::{Image, Settings};
use fathom_fs::alloc::{Allocator, Want};
use fathom_fs::ext::Version;
use fathom_fs::{BLOCK_BYTES, Extent, Space};
use std::collections::BTreeSet;

/// MiB of the recorded images.
const MIB: u64 = 8 << 10;
const BLOCKS: u64 = LOGICAL_BLOCK / BLOCK_BYTES;

/// The data of each sync that wrote some.
type Syncs = Vec<Vec<Extent>>;

fn bytes(syncs: &Syncs) -> Vec<u64> {
    let of = |sync: &Vec<Extent>| sync.iter().map(|extent| extent.blocks * BLOCK_BYTES).sum();
    syncs.iter().map(of).collect()
}

/// Mean number of logical blocks of a sync.
fn touched(syncs: &Syncs) -> f64 {
    let of = |sync: &Vec<Extent>| {
        let blocks = sync
            .iter()
            .flat_map(|extent| extent.start / BLOCKS..=(extent.end() - 1) / BLOCKS);
        blocks.collect::<BTreeSet<u64>>().len()
    };
    syncs.iter().map(of).sum::<usize>() as f64 / syncs.len() as f64
}

fn of_trace(trace: &str) -> Syncs {
    let mut syncs: Syncs = Vec::new();
    for line in trace.lines() {
        let words: Vec<&str> = line.split(',').collect();
        match words[..] {
            ["S", ..] => syncs.push(Vec::new()),
            ["W", "d", sector, sectors] => {
                let [start, blocks] =
                    [sector, sectors].map(|word| word.parse::<u64>().unwrap() / 8);
                syncs.last_mut().unwrap().push(Extent::new(start, blocks));
            }
            _ => {}
        }
    }
    syncs.retain(|sync| !sync.is_empty());
    syncs
}

/// Plays a recorded stream, and compares with a recorded trace.
fn compare(version: Version, settings: Settings, set: &str, trace: &str) {
    let stream = recorded(&format!("postmark_{set}.sync1000.ops.xz"));
    let (Some(stream), Some(trace_text)) = (stream, recorded(trace)) else {
        return;
    };
    let expected = of_trace(&trace_text);
    let dir = scratch();
    let path = made(dir.path(), version, MIB);
    let mut image = Image::open(&path, settings).unwrap();
    let mut found: Syncs = Vec::new();
    let summary = image.run(&stream, LOGICAL_BLOCK, &mut |written| {
        found.push(written.data.clone())
    });
    image.close().unwrap();
    clean(&path, trace);
    found.retain(|sync| !sync.is_empty());
    assert_eq!(bytes(&found), bytes(&expected), "{trace}");
    let (ours, theirs) = (touched(&found), touched(&expected));
    assert_eq!(ours, summary.unwrap().touched_per_sync());
    let off = 100.0 * (ours / theirs - 1.0);
    eprintln!("{trace}: {ours:.1} logical blocks a sync, recorded {theirs:.1} ({off:+.1} %)");
    assert!(off.abs() < 5.0, "{trace}: {ours} instead of {theirs}");
}

/// Whether the tests may take long; says so if not.
fn long() -> bool {
    let long = cases(0, 1) == 1;
    if !long {
        eprintln!("skipped: writes GiB to an image; FATHOM_LONG=1 runs it");
    }
    long
}

#[test]
fn greedy_space_on_ext3_cvfs() {
    compare(
        Version::Ext3,
        settings("greedy-space"),
        "cvfs",
        "gs_ext3_greedy_cvfs.tr.xz",
    );
}

#[test]
fn greedy_space_on_ext3_cvfs_large() {
    compare(
        Version::Ext3,
        settings("greedy-space"),
        "cvfsl",
        "gs_ext3_greedy_cvfsl.tr.xz",
    );
}

#[test]
fn greedy_space_on_ext3_fsl() {
    if !long() {
        return;
    }
    compare(
        Version::Ext3,
        settings("greedy-space"),
        "fsl",
        "gs_ext3_greedy_fsl.tr.xz",
    );
}

#[test]
fn greedy_space_on_ext4_cvfs_large() {
    compare(
        Version::Ext4,
        settings("greedy-space"),
        "cvfsl",
        "gs_ext4_greedy_cvfsl.tr.xz",
    );
}

/// The first free run behind the page before, as the recording's baseline takes it. All its directories lie in the first
/// group, so files begin there.
#[derive(Debug)]
struct Goal;

impl Allocator for Goal {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        let goal = want.after.map_or(0, |block| block + 1);
        let run = space.run(goal, space.blocks(), want.blocks);
        let run = run.or_else(|| space.run(0, space.blocks(), want.blocks))?;
        space.take(run);
        Some(run)
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}

#[test]
fn goals_on_ext3_cvfs_large() {
    if !long() {
        return;
    }
    let mut settings = settings("greedy-space");
    settings.allocator = Box::new(|_: &Space| Box::new(Goal));
    compare(Version::Ext3, settings, "cvfsl", "gs_ext3_goal_cvfsl.tr.xz");
}

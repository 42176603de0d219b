//! The four loads that measure the speed of a drive, and the drives. Shared by the benchmark `epo` and the example
//! `performance`, which creates the table of docs/performance.md.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

use fathom_base::{Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::{Spec, Ssd, presets};

/// Page size of every drive here, in bytes.
pub(crate) const PAGE: u64 = 4096;
/// Queue depth.
pub(crate) const DEPTH: u64 = 32;
/// Blocks per plane of the drive `epo`.
const BLOCKS: u64 = 2048;
/// Blocks per plane that the model keeps in reserve, in addition to over-provisioning.
const RESERVE: u64 = 5;

/// The drive of the `epo` paper in the general engine: 48 elements of 8 planes.
pub(crate) fn epo() -> Spec {
    Spec::from_toml(presets::find("epo").unwrap().text).unwrap()
}

/// The same elements with `blocks` blocks per plane, of which the host can address 86.5 %, so that uniform random writes
/// have a write amplification near 4.
pub(crate) fn epo_tight(blocks: u64) -> Spec {
    let mut spec = epo();
    let share = (blocks as f64 * 0.865).round() as u64;
    spec.capacity.0 = share * 384 * spec.flash.clustered_block.0;
    let over = blocks - RESERVE - share;
    spec.mapping.over_provisioning_percent = over as f64 / share as f64 * 100.0;
    spec
}

/// The same elements with six times their blocks: 1 TiB.
pub(crate) fn tebibyte() -> Spec {
    let mut spec = epo();
    spec.name = "tebibyte".to_owned();
    spec.capacity.0 = 1 << 40;
    spec
}

/// Returns the blocks per plane of a drive with an `n`-th of the size of the paper's elements.
pub(crate) const fn blocks(n: u64) -> u64 {
    BLOCKS / n
}

/// Sends `n` requests with queue depth [`DEPTH`], and waits for all of them.
#[inline(always)]
fn run(drive: &mut impl Device, n: u64, mut request: impl FnMut(u64) -> Request) {
    let mut done = Vec::new();
    let (mut sent, mut finished) = (0, 0);
    while finished < n {
        while sent < n && sent - finished < DEPTH {
            drive.submit(request(sent)).unwrap();
            sent += 1;
        }
        done.clear();
        drive.wait(Time::MAX, &mut done);
        finished += done.len() as u64;
    }
}

/// Sends `n` random requests of one page. A separate function, so that instructions can be counted in it alone.
#[inline(never)]
pub(crate) fn measured(drive: &mut impl Device, op: Op, n: u64, seed: u64) {
    let pages = drive.info().capacity_bytes / PAGE;
    let mut rng = Rng::new(seed, 0);
    run(drive, n, |i| {
        Request::new(i, op, rng.below(pages) * PAGE, PAGE)
    });
}

/// Writes the whole drive once, sequentially.
pub(crate) fn fill(drive: &mut impl Device) {
    const LEN: u64 = 1 << 20;
    let capacity = drive.info().capacity_bytes;
    run(drive, capacity.div_ceil(LEN), |i| {
        let offset = i * LEN;
        Request::new(i, Op::Write, offset, LEN.min(capacity - offset))
    });
}

/// Returns a drive of the general engine with all pages written and in the steady state of garbage collection: it has
/// been overwritten at random, two and a half times its size in total.
pub(crate) fn steady(spec: &Spec) -> Ssd {
    let mut drive = Ssd::new(spec, 1).unwrap();
    fill(&mut drive);
    let pages = spec.capacity.0 / PAGE;
    let random = pages * 3 / 2;
    overwrite(&mut drive, random);
    drive
}

/// Like `measured`, for parts in which instructions are not counted.
fn overwrite(drive: &mut Ssd, n: u64) {
    let pages = drive.info().capacity_bytes / PAGE;
    let mut rng = Rng::new(99, 0);
    run(drive, n, |i| {
        Request::new(i, Op::Write, rng.below(pages) * PAGE, PAGE)
    });
}

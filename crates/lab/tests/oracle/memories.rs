//! Measurements of read and write buffers: the size from which on accesses wait for the flash array.

use super::rig::{Access, FLUSH, Rig};
use fathom_base::{Dur, Rng};
use fathom_block::Op;
use fathom_ssd::Spec;
use fathom_ssd::spec::Drain;

const MIB: u64 = 1 << 20;
/// Maximum number of pieces in which a write buffer is filled.
const PIECES_MAX: u64 = 4096;

/// Returns the relative excess in time of a first pass of reads over a second, for half the capacity and for twice the
/// capacity. `None` if the drive is too small for that many separate reads.
pub(crate) fn read_again(spec: &Spec) -> Option<(f64, f64)> {
    let buffer = spec.read_buffer.as_ref()?;
    let (line, block) = (buffer.line.0, spec.host.logical_block.0);
    let size = buffer.min_request.0.max(block).next_multiple_of(block);
    let step = size.next_multiple_of(line).next_multiple_of(block);
    let capacity = buffer.capacity.0;
    let unused = size > spec.host.max_request.0 || capacity < step;
    // The reads are not adjacent, so that nothing is prefetched.
    let apart = 3 * step;
    if unused || 8 * capacity / step * apart > spec.capacity.0 {
        return None;
    }
    let region = (8 * capacity / step * apart + 64 * MIB).min(spec.capacity.0) / MIB * MIB;
    let mut rig = Rig::quiet(spec);
    rig.fill(region);
    // The last writes may still be in the write buffer.
    rig.rest(Dur::ms(30_000));
    let of = |bytes: u64| {
        let mut places: Vec<u64> = (0..(bytes / step).max(1))
            .map(|i| i * apart)
            .filter(|at| at + size <= region)
            .collect();
        Rng::new(3, 3).shuffle(&mut places);
        let reads: Vec<Access> = places.iter().map(|at| (Op::Read, *at, size)).collect();
        let depths = [1, 32].map(|depth| {
            let mut rig = rig.clone();
            let first = rig.play(reads.iter().copied(), depth);
            first / rig.play(reads.iter().copied(), depth) - 1.0
        });
        depths[0].max(depths[1])
    };
    Some((of(capacity / 2), of(2 * capacity)))
}

/// Returns the largest relative difference between reads at consecutive and at random places.
pub(crate) fn consecutive(spec: &Spec) -> f64 {
    let Some(buffer) = &spec.read_buffer else {
        return 0.0;
    };
    let block = spec.host.logical_block.0;
    let line = buffer.line.0.max(block);
    let first = buffer.min_request.0.max(line).next_multiple_of(line);
    let mut rig = Rig::quiet(spec);
    let region = spec.capacity.0.min(128 * MIB) / MIB * MIB;
    rig.fill(region);
    let mut largest = 0.0f64;
    let mut size = first;
    while size <= spec.host.max_request.0.min(region / 256) {
        for depth in [1, 4] {
            let time = |places: Vec<u64>| {
                let reads = places.into_iter().map(|at| (Op::Read, at, size));
                rig.clone().play(reads, depth)
            };
            let mut random: Vec<u64> = (0..64).map(|i| i * 3 * size).collect();
            Rng::new(3, 3).shuffle(&mut random);
            let sequential = time((0..64).map(|i| i * size).collect());
            largest = largest.max(time(random) / sequential - 1.0);
        }
        size *= 2;
    }
    largest
}

/// Returns a drive whose write buffer was emptied by the means that its settings allow.
fn emptied(spec: &Spec, region: u64) -> Rig {
    let mut rig = Rig::quiet(spec);
    rig.fill(region);
    if let Some(buffer) = &spec.write_buffer {
        match (buffer.battery, buffer.drain) {
            (false, _) => drop(rig.play([FLUSH], 1)),
            (true, Drain::Idle) => rig.rest(buffer.idle_delay + Dur::ms(30_000)),
            (true, Drain::OnFull) => {
                // TRIM whole units: a unit that two requests trim in part keeps its data.
                let piece = (spec.host.max_request.0 / spec.unit()).max(1) * spec.unit();
                let end = |at: u64| (at + piece).min(spec.capacity.0);
                let starts = (0..region.div_ceil(piece)).map(|i| i * piece);
                let trims = starts.map(|at| (Op::Trim, at, end(at) - at));
                rig.play(trims, 1);
            }
        }
    }
    rig.rest(Dur::ms(10_000));
    rig
}

/// Returns the size of the pieces that fill a write buffer, and places for more of them than it holds.
fn pieces(spec: &Spec) -> Option<(u64, Vec<u64>)> {
    let capacity = spec.write_buffer.as_ref()?.capacity.0;
    let block = spec.host.logical_block.0;
    let size = (capacity / PIECES_MAX).next_multiple_of(block).max(block);
    let n = capacity / size + 64;
    // Far apart, so that no piece joins another.
    let step = (spec.capacity.0 / (n + 1)).min(8 * MIB) / size * size;
    (step >= size).then(|| (size, (0..n).map(|i| i * step).collect()))
}

/// Returns how many bytes of writes an empty buffer takes before a write waits for the flash array: a lower bound, and an
/// exclusive upper bound.
pub(crate) fn filled(spec: &Spec) -> Option<(u64, u64)> {
    let (size, places) = pieces(spec)?;
    let region = spec.capacity.0.min(2 * places.last()? + MIB) / MIB * MIB;
    let mut rig = emptied(spec, region);
    let depth = if spec.host.queue_depth > 1 { 2 } else { 1 };
    let begin = rig.now();
    let writes = places.iter().map(|at| (Op::Write, *at, size));
    let times = rig.completions(writes, depth);
    let mut before = begin;
    let gaps: Vec<f64> = times
        .iter()
        .map(|time| {
            let gap = time.since(before).0 as f64;
            before = *time;
            gap
        })
        .collect();
    let shortest = gaps.iter().copied().fold(f64::MAX, f64::min);
    let wait = spec.flash.program.0 as f64 / 2.0;
    let waited = gaps.iter().position(|gap| *gap > shortest + wait)? as u64;
    Some((waited * size, (waited + 1) * size))
}

/// Returns true if rewriting half of a write buffer's capacity ever waits for the flash array.
pub(crate) fn rewritten_waits(spec: &Spec) -> Option<bool> {
    let (size, places) = pieces(spec)?;
    let kept = (places.len() as u64 - 64).div_ceil(2).max(1) as usize;
    let region = spec.capacity.0.min(2 * places.last()? + MIB) / MIB * MIB;
    let mut rig = emptied(spec, region);
    let depth = if spec.host.queue_depth > 1 { 2 } else { 1 };
    let rounds = places[..kept].iter().cycle().take(8 * kept + 16);
    let times = rig.completions(rounds.map(|at| (Op::Write, *at, size)), depth);
    let gaps: Vec<f64> = times
        .windows(2)
        .map(|w| w[1].since(w[0]).0 as f64)
        .collect();
    let shortest = gaps.iter().copied().fold(f64::MAX, f64::min);
    let wait = spec.flash.program.0 as f64 / 2.0;
    Some(gaps.iter().any(|gap| *gap > shortest + wait))
}

//! Tells a limit of operations from one of bytes: reads of another length, made while the bucket is empty.
//!
//! Both limits let reads of one length pass at a constant rate. A limit of operations lets as many reads of another length
//! pass, and a limit of bytes as many bytes. Small reads are compared with those of twice the length, long ones with those of
//! half of it. Where the drive holds these back, the rate is neither, and the limit is the one that was looked for. Where the
//! rate is below both, a second limit has begun, and which of them was seen before it is open.

use super::measure::{Kind, read_bytes};
use crate::record::Timed;
use crate::session::Ask;
use crate::{Estimate, Record, Series, Session, Space, Stop};

/// Batches of reads of the other length.
pub(super) const OTHER: Series = Series::new("other_length");
/// The batches, the time of one in seconds, its least and most reads, and the reads in flight. The kernel lets reads pass in
/// slices of 0.1 s.
const BATCHES: u32 = 12;
const SECONDS: f64 = 0.2;
const READS: [u64; 2] = [16, 4096];
const DEPTH: u32 = 32;
/// How far the rates at both lengths may differ, as a share, if they are the same.
const SAME: f64 = 0.1;
/// Below this ratio to the least rate that either limit leaves, something else holds the reads back.
const LESS_MAX: f64 = 0.8;

/// Returns the length of the reads before and of the other ones, in bytes, if the drive takes such reads.
fn lengths(space: &Space, kind: Kind, longest: u64) -> Option<[u64; 2]> {
    let before = read_bytes(space, kind, longest);
    let other = match kind.bytes {
        true => before / 2 / space.block_bytes * space.block_bytes,
        false => 2 * before,
    };
    (other > 0 && other <= longest).then_some([before, other])
}

/// Reads in batches, right after the bucket was emptied by reads that came at so many a second.
pub(super) fn look(
    session: &mut Session<'_>,
    kind: Kind,
    reads_per_second: f64,
) -> Result<(), Stop> {
    let (space, longest) = (session.space(), session.info().max_request_bytes);
    let Some([_, len]) = lengths(&space, kind, longest) else {
        return Ok(());
    };
    let reads = ((SECONDS * reads_per_second) as u64).clamp(READS[0], READS[1]);
    session.step(kind.parameter, "reads of another length", |io| {
        let slots = (space.span() / len).max(1);
        for rep in 0..BATCHES {
            let mark = io.mark(space.region.start);
            let asks: Vec<Ask> = (0..reads)
                .map(|_| Ask::read(space.region.start + io.rng.below(slots) * len, len))
                .collect();
            io.serve(&asks, DEPTH)?;
            io.sample_since(&mark, Timed::Read, OTHER, len, rep);
        }
        Ok(())
    })
}

/// Returns the answer if the limit that was seen counts the other thing, or if another one follows it. `reads_per_second` is the rate of the reads before.
pub(super) fn counts_other(record: &Record, kind: Kind, reads_per_second: f64) -> Option<Estimate> {
    let longest = record.meta.target.max_request_bytes;
    let [before, other] = lengths(&Space::of(record), kind, longest)?.map(|len| len as f64);
    let samples = record.series(kind.parameter, OTHER);
    let (bytes, ns) = samples.fold((0, 0), |(bytes, ns), s| (bytes + s.bytes, ns + s.ns));
    if bytes == 0 {
        return None;
    }
    let reads = bytes as f64 / other / (ns.max(1) as f64 / 1e9);
    // What stays the same if the limit counts the other thing: reads where bytes were looked for, and the other way round.
    let same = match kind.bytes {
        true => reads / reads_per_second,
        false => reads * other / (reads_per_second * before),
    };
    let kib = |len: f64| len / 1024.0;
    if same < LESS_MAX {
        return Some(Estimate::inconclusive(format!(
            "reads of {} KiB come at {reads_per_second:.0} a second, and right after it those of {} KiB at only {reads:.0}: another \
             limit follows, whose burst lasts longer",
            kib(before),
            kib(other),
        )));
    }
    if (same - 1.0).abs() > SAME {
        return None;
    }
    let (found, not) = match kind.bytes {
        true => ("operations", "bytes"),
        false => ("bytes", "operations"),
    };
    Some(Estimate::absent(format!(
        "reads of {} KiB come at {reads_per_second:.0} a second at last, and those of {} KiB at {reads:.0}: the limit counts {found}, and \
         one of {not} with a larger burst would not show",
        kib(before),
        kib(other),
    )))
}

//! Tells a limit of operations from one of bytes: reads of twice the length, made while the bucket is empty.
//!
//! Both limits let reads of one length pass at a constant rate. A limit of operations lets as many reads of twice the length
//! pass, and a limit of bytes half as many: exactly the same bytes per second. Where the link holds longer reads back, more bytes
//! pass than before.

use super::law::Drop;
use super::measure::Kind;
use crate::record::Timed;
use crate::session::Ask;
use crate::{Estimate, Record, Series, Session, Space, Stop};
use fathom_stats::location::median;

/// Batches of reads of twice the length.
pub(super) const LONGER: Series = Series::new("longer");
/// How many times as long they are.
const TIMES: u64 = 2;
/// The batches, their reads, and the reads in flight.
const BATCHES: u32 = 12;
const READS: u64 = 128;
const DEPTH: u32 = 32;
/// How far the bytes per second of both lengths may differ, as a share, if a limit counts bytes.
const SAME: f64 = 0.1;

/// Returns the length of a read before, in bytes.
fn short(space: &Space, kind: Kind) -> u64 {
    kind.read.next_multiple_of(space.block_bytes)
}

/// Reads in batches, right after the bucket was emptied. Where bytes are counted, the length does not matter.
pub(super) fn look(session: &mut Session<'_>, kind: Kind) -> Result<(), Stop> {
    let space = session.space();
    let len = TIMES * short(&space, kind);
    if kind.bytes || len > session.info().max_request_bytes {
        return Ok(());
    }
    session.step(kind.parameter, "longer reads", |io| {
        let slots = (space.span() / len).max(1);
        for rep in 0..BATCHES {
            let mark = io.mark(space.region.start);
            let asks: Vec<Ask> = (0..READS)
                .map(|_| Ask::read(space.region.start + io.rng.below(slots) * len, len))
                .collect();
            io.serve(&asks, DEPTH)?;
            io.sample_since(&mark, Timed::Read, LONGER, len, rep);
        }
        Ok(())
    })
}

/// Returns the answer if the limit that was seen counts bytes.
pub(super) fn counts_bytes(record: &Record, kind: Kind, seen: &Drop) -> Option<Estimate> {
    let longer = record.series(kind.parameter, LONGER);
    let rates: Vec<f64> = longer
        .map(|sample| sample.bytes as f64 / (sample.ns as f64 / 1e9).max(1e-9))
        .collect();
    let len = short(&Space::of(record), kind);
    let before = seen.slow * len as f64;
    let ratio = median(&rates)? / before;
    ((ratio - 1.0).abs() <= SAME).then(|| {
        Estimate::absent(format!(
            "reads of {} KiB come at {:.0} a second at last, and those of twice the length at half of that: the limit counts \
             bytes, {:.1} MB/s of them",
            len >> 10,
            seen.slow,
            before / 1e6
        ))
    })
}

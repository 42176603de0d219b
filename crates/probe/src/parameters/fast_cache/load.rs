//! Reads and writes together at random places of the drive, which is full. No answer follows from their times: a twin is
//! fitted to them.

use super::measure::{Layout, PARAMETER, empty};
use super::series::{LOAD_READ, LOAD_WRITE};
use crate::{Ask, Session, Stop};
use fathom_base::Dur;
use fathom_block::Op;

/// The requests in flight of the loops, the requests of each, and the time on the drive's clock after which none begins.
const DEPTHS: [u32; 2] = [4, 16];
const REQUESTS: u64 = 16_384;
const LONGEST: Dur = Dur::ms(8_000);
/// The lengths of reads and writes in bytes; one request of so many is a write.
const READ: u64 = 8 << 10;
const WRITE: u64 = 16 << 10;
const WRITE_EVERY: u64 = 4;
/// The part of the drive that is used, in bytes.
const AREA: u64 = 1 << 30;

/// The most bytes that are written.
pub(super) fn bound(layout: &Layout) -> u64 {
    let region = &layout.region;
    DEPTHS.len() as u64 * REQUESTS * WRITE + (region.end - region.start)
}

/// Serves reads and writes with several numbers in flight, and leaves the drive filled in order again: what was written at
/// random changes the state of log blocks.
pub(super) fn measure(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    let most = session.info().queue_depth.max(1);
    let block = session.space().block_bytes;
    let [read, write] = [READ, WRITE].map(|len| len.next_multiple_of(block));
    let start = layout.region.start;
    let area = AREA.min(layout.region.end - start);
    let mut done = 0;
    for depth in DEPTHS.map(|depth| depth.min(most)) {
        if depth == done || area < write {
            continue;
        }
        done = depth;
        session.step(PARAMETER, &format!("load of {depth}"), |io| {
            let asks: Vec<Ask> = (0..REQUESTS)
                .map(|_| {
                    let writes = io.rng.below(WRITE_EVERY) == 0;
                    let len = if writes { write } else { read };
                    let at = start + io.rng.below(area / len) * len;
                    if writes {
                        Ask::write(at, len)
                    } else {
                        Ask::read(at, len)
                    }
                })
                .collect();
            let end = io.now() + LONGEST;
            let served = io.serve_until(&asks, depth, end)?;
            for (rep, one) in (0..).zip(&served) {
                let series = if one.ask.op == Op::Write {
                    LOAD_WRITE
                } else {
                    LOAD_READ
                };
                io.sample_served(series, u64::from(depth), rep, one);
            }
            Ok(())
        })?;
    }
    session.step(PARAMETER, "filled after the loads", |io| {
        empty(io, layout, Dur::ZERO)?;
        io.fill_sequential(layout.region.clone())
    })
}

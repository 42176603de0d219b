//! The steps that take the samples of the read unit: reads across multiples of many sizes.

use crate::parameters::stripe_unit::take::Near;
use crate::{Ask, Series, Session, Stop};

/// A read of two blocks across an odd multiple of `x`.
pub(crate) const STRADDLE: Series = Series::new("straddle");

/// The area that is written in order, in bytes, and the longest unit that is looked for.
pub(crate) const AREA: u64 = 256 << 20;
pub(crate) const UNIT_MAX: u64 = 2 << 20;
/// The reads of a size in a round, and of the size that was found.
const READS: u32 = 8;
const AGAIN: u32 = 96;

/// Reads two blocks across odd multiples of sizes, in random order.
pub(crate) fn straddles(
    session: &mut Session<'_>,
    name: &str,
    sizes: &[u64],
    near: &Near,
    reads: u32,
) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    session.step(near.manner.of, &near.manner.pace.name(name), |io| {
        let mut order: Vec<u64> = (0..reads).flat_map(|_| sizes.iter().copied()).collect();
        io.rng.shuffle(&mut order);
        for (rep, size) in (0..).zip(order) {
            // An odd one of the multiples.
            let multiples = near.multiples(size);
            let halves = multiples.start / 2..(multiples.end / 2).max(multiples.start / 2 + 1);
            let odd = 2 * (halves.start + io.rng.below(halves.end - halves.start)) + 1;
            // Half of a unit of an odd number of blocks ends within one.
            let at = near.origin + odd * size / block * block - block;
            near.manner.before(io, &[at], 2 * block)?;
            if let Some(one) = io.serve(&[Ask::read(at, 2 * block)], 1)?.first() {
                io.sample_served(STRADDLE, size, rep, one);
            }
        }
        Ok(())
    })
}

pub(crate) fn round(
    session: &mut Session<'_>,
    round: u32,
    sizes: &[u64],
    near: &Near,
) -> Result<(), Stop> {
    straddles(
        session,
        &format!("straddles, round {round}"),
        sizes,
        near,
        READS,
    )
}

pub(crate) fn again(session: &mut Session<'_>, size: u64, near: &Near) -> Result<(), Stop> {
    // Halfway between the ends of units no read may be slow.
    let sizes = [size, size / 2];
    straddles(
        session,
        &format!("straddles of {size}"),
        &sizes,
        near,
        AGAIN,
    )
}

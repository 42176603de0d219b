//! The steps that take the samples of the flush.

use super::{CLEAN, DIRTY, FUA, PLAIN};
use crate::record::Level;
use crate::{Io, Parameter, Session, Space, Stop};

pub(super) const PARAMETER: Parameter = Parameter::Flush;
/// The length of a small write, in bytes, if the logical block is not longer.
const SMALL: u64 = 4096;
/// The bytes that are written before a flush, and the most of them at each level.
const SIZES: [u64; 5] = [SMALL, 32 << 10, 256 << 10, 1 << 20, 4 << 20];
const QUICK_MAX: u64 = 1 << 20;
/// The rounds of a batch, and the batches of each level.
const ROUNDS: u32 = 8;
const BATCHES: [u32; 2] = [3, 8];

/// What is flushed in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    Clean,
    Fua,
    Dirty(u64),
}

/// Returns the bytes that are written before a flush, ascending.
pub(super) fn sizes(space: &Space) -> Vec<u64> {
    let most = match space.level {
        Level::Quick => QUICK_MAX,
        Level::Full => u64::MAX,
    };
    let most = most.min(space.span() / 8);
    let mut sizes: Vec<u64> = SIZES.iter().map(|size| space.round_up(*size)).collect();
    sizes.dedup();
    let fits = sizes.iter().filter(|size| **size <= most).count();
    sizes.truncate(fits.max(1));
    sizes
}

/// Returns the largest number of batches.
pub(super) fn batches(space: &Space) -> u32 {
    match space.level {
        Level::Quick => BATCHES[0],
        Level::Full => BATCHES[1],
    }
}

/// Returns the bytes that a batch writes.
pub(super) fn batch_bytes(space: &Space) -> u64 {
    let sizes = sizes(space);
    // One more small write with forced unit access.
    u64::from(ROUNDS) * (sizes.iter().sum::<u64>() + sizes[0])
}

/// Makes one batch of rounds. Writes follow each other in order, so that no write of a block mapping begins a merge.
pub(super) fn batch(session: &mut Session<'_>, number: u32) -> Result<(), Stop> {
    let space = session.space();
    let sizes = sizes(&space);
    session.step(PARAMETER, &format!("rounds {number}"), |io| {
        let blocks = space.span() / space.block_bytes;
        let mut at = io.rng.below(blocks.max(1)) * space.block_bytes;
        let dirty = sizes.iter().map(|size| Arm::Dirty(*size));
        let mut arms: Vec<Arm> = dirty.chain([Arm::Clean, Arm::Fua]).collect();
        for round in 0..ROUNDS {
            io.rng.shuffle(&mut arms);
            for arm in &arms {
                let len = match arm {
                    Arm::Dirty(size) => *size,
                    Arm::Clean | Arm::Fua => sizes[0],
                };
                at = if at + len > space.span() { 0 } else { at };
                let rep = number * ROUNDS + round;
                make(io, *arm, space.region.start + at, sizes[0], rep)?;
                at += len;
            }
        }
        Ok(())
    })
}

/// Flushes what is left from before, and then measures one arm.
fn make(io: &mut Io<'_>, arm: Arm, offset: u64, small: u64, rep: u32) -> Result<(), Stop> {
    io.flush()?;
    match arm {
        Arm::Clean => {
            io.flush()?;
            io.sample(CLEAN, small, rep);
        }
        Arm::Fua => {
            io.write_through(offset, small)?;
            io.sample(FUA, small, rep);
        }
        Arm::Dirty(bytes) => {
            io.write(offset, bytes)?;
            if bytes == small {
                io.sample(PLAIN, small, rep);
            }
            io.flush()?;
            io.sample(DIRTY, bytes, rep);
        }
    }
    Ok(())
}

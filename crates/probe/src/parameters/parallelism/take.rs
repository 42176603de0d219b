//! The steps that take the samples of the parallelism: reads of nothing, lone reads and pairs of reads.

use super::{BELOW, FIRST, LONG, PAIR, SECOND, SOLO};
use crate::robust::blank::{self, pair};
use crate::{Ask, Io, Level, Parameter, Session, Space, Stop};

const PARAMETER: Parameter = Parameter::Parallelism;
/// The reads of nothing, and the pairs of a round.
const BLANKS: u32 = 400;
const ROUND: u32 = 1000;
/// A read of twice the length comes beside every so many pairs.
const LONG_EVERY: u32 = 4;
/// The most rounds, and the time on the drive's clock after which no further one begins.
const ROUNDS: [u32; 2] = [12, 60];
const SLOW_NS: u64 = 60_000_000_000;
const ROUND_NAME: &str = "pairs, round ";
/// The pairs of a place and one below it, for each distance, and the longest distance, in bytes.
const BELOWS: u32 = 24;
const BELOW_MAX: u64 = 128 << 10;

pub(crate) fn rounds(level: Level) -> u32 {
    ROUNDS[usize::from(level == Level::Full)]
}

/// The bytes that are written.
pub(crate) fn written(space: &Space) -> u64 {
    let area = blank::area(&part(space), space.block_bytes);
    area.end - area.start
}

/// The part of the region that is read.
fn part(space: &Space) -> std::ops::Range<u64> {
    space.region.start..space.region.start + space.span()
}

/// Reads places that hold nothing.
pub(crate) fn nothing(session: &mut Session<'_>, of: Parameter) -> Result<(), Stop> {
    let space = session.space();
    let area = blank::area(&part(&space), space.block_bytes);
    session.step(of, "nothing", |io| {
        blank::measure(io, area, space.block_bytes, BLANKS)?;
        io.idle(blank::SETTLE)
    })
}

fn place(io: &mut Io<'_>, space: &Space) -> u64 {
    let block = space.block_bytes;
    space.region.start + io.rng.below((space.span() / block).max(1)) * block
}

fn alone(
    io: &mut Io<'_>,
    at: u64,
    block: u64,
    series: super::Series,
    x: u64,
    rep: u32,
) -> Result<(), Stop> {
    if let Some(one) = io.serve(&[Ask::read(at, block)], 1)?.first() {
        io.sample_served(series, x, rep, one);
    }
    Ok(())
}

/// Reads places again, and places below them.
pub(crate) fn again(session: &mut Session<'_>, of: Parameter) -> Result<(), Stop> {
    let space = session.space();
    let block = space.block_bytes;
    session.step(of, "again", |io| {
        for rep in 0..4 * BELOWS {
            let at = place(io, &space);
            alone(io, at, block, FIRST, 0, rep)?;
            alone(io, at, block, SECOND, 0, rep)?;
        }
        let mut distance = block;
        while distance <= BELOW_MAX.min(space.span() / 8) {
            for rep in 0..BELOWS {
                // The upper half of a piece of twice the distance, then the lower.
                let piece = 2 * distance;
                let at = space.region.start + io.rng.below((space.span() / piece).max(1)) * piece;
                io.read(at + distance, block)?;
                alone(io, at, block, BELOW, distance, rep)?;
            }
            distance *= 2;
        }
        Ok(())
    })
}

/// Reads random places alone and in pairs. If `mapped`, each place is read before, so that its entry of the map is at hand.
pub(crate) fn round(
    session: &mut Session<'_>,
    of: Parameter,
    round: u32,
    mapped: bool,
) -> Result<(), Stop> {
    let space = session.space();
    let block = space.block_bytes;
    session.step(of, &format!("{ROUND_NAME}{round}"), |io| {
        for rep in round * ROUND..(round + 1) * ROUND {
            let [a, b, c] = [0; 3].map(|_| place(io, &space));
            if mapped {
                for at in [a, b, c] {
                    io.read(at, block)?;
                }
            }
            alone(io, a, block, SOLO, block, rep)?;
            if rep % LONG_EVERY == 0 {
                let at = place(io, &space).min(space.region.start + space.span() - 2 * block);
                let at = at - at % (2 * block);
                if mapped {
                    io.read(at, 2 * block)?;
                }
                alone(io, at, 2 * block, LONG, 2 * block, rep)?;
            }
            pair(io, [b, c], block, PAIR, block, rep)?;
        }
        Ok(())
    })
}

/// Returns true if the rounds have taken long.
pub(crate) fn long(session: &Session<'_>) -> bool {
    let steps = session.record().steps.iter();
    let rounds =
        steps.filter(|step| step.parameter == PARAMETER && step.name.starts_with(ROUND_NAME));
    rounds.map(|step| step.cost.device_ns).sum::<u64>() > SLOW_NS
}

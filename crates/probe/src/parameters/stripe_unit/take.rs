//! The steps that take the samples of the stripe unit: pairs of neighbouring reads around multiples of many sizes.

use crate::parameters::parallelism::take::Manner;
use crate::robust::blank::{SETTLE, pair};
use crate::robust::pace::Pace;
use crate::{Io, Level, Parameter, Series, Session, Space, Stop};
use std::ops::Range;

/// Two reads at once on both sides of a multiple of `x`.
pub(crate) const SIDES: Series = Series::new("both_sides");
/// Two reads at once within units of `x` bytes.
pub(crate) const INSIDE: Series = Series::new("inside");
/// Two reads at once on both sides of a multiple of `x` that is no end of the unit that was found, `x` being a part of it.
pub(crate) const PARTS: Series = Series::new("sides_of_parts");

/// The area that is written in order, in bytes.
const AREA: [u64; 2] = [256 << 20, 1 << 30];
/// The length of the writes: whole pages of up to seven planes or dies, so that none is filled in two writes.
const FILL: u64 = 5040 << 10;
/// The different places of the pairs of a size, about.
const FRESH: u64 = 1500;
/// The pairs of a size in a round, the rounds, and the pairs of the size that was found.
const PAIRS: u32 = 12;
pub(crate) const ROUNDS: u32 = 3;
const AGAIN: u32 = 96;
/// The pairs at the ends of the halves of a unit, and of its thirds.
const PARTED: u32 = 48;
/// The least number of multiples of a size in the area.
pub(crate) const PLACES: u64 = 64;

/// Returns how many lines before and after a multiple are read, if there are so many multiples: other ones each time, because
/// memory may keep those that were read.
fn room(multiples: u64) -> u64 {
    FRESH / multiples.max(1) + 1
}

/// Returns the largest size at whose multiples the two reads of a pair are as near as can be.
pub(crate) fn nearest(area: u64) -> u64 {
    area / (FRESH + 1)
}

/// Returns the bytes that are written in order.
pub(crate) fn area(space: &Space) -> u64 {
    let most = AREA[usize::from(space.level == Level::Full)].min(space.span());
    most / space.block_bytes * space.block_bytes
}

/// Returns true if a number has no prime factor above 7: dies, planes and pages come in such numbers.
fn smooth(mut n: u64) -> bool {
    for factor in [2, 3, 5, 7] {
        while n > 1 && n.is_multiple_of(factor) {
            n /= factor;
        }
    }
    n == 1
}

/// How neighbouring places are read.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    /// How places are read; its part is the one that was written in order, as far as its lone reads take equally long.
    pub(crate) manner: Manner,
    /// The start of what was written in order: sizes count from there.
    pub(crate) origin: u64,
    /// The distance of the two reads of a pair, in bytes: no less than a line of the memory for reads.
    pub(crate) apart: u64,
}

impl Near {
    /// Returns the length of the part that is read, in bytes.
    pub(crate) fn area(&self) -> u64 {
        self.manner.part.end - self.manner.part.start
    }

    /// Returns the numbers of the multiples of a size within the part, without its ends.
    pub(crate) fn multiples(&self, size: u64) -> Range<u64> {
        let [from, to] = [self.manner.part.start, self.manner.part.end].map(|at| at - self.origin);
        let first = (from + 1).div_ceil(size);
        first..(to.saturating_sub(1) / size + 1).max(first + 1)
    }
}

/// Returns the sizes up to `most` whose multiples are tried: from twice the distance of a pair on.
pub(crate) fn sizes(most: u64, block: u64, apart: u64) -> Vec<u64> {
    let all = (2 * apart / block..=most / block).filter(|n| smooth(*n));
    // Beyond a few MiB only multiples of 64 KiB, as of whole blocks.
    let sizes = all
        .map(|n| n * block)
        .filter(|size| *size <= 4 << 20 || size.is_multiple_of(64 << 10));
    sizes.collect()
}

/// Writes the area in order. A second measurement finds it so.
pub(crate) fn fill(
    session: &mut Session<'_>,
    of: Parameter,
    area: u64,
    pace: Pace,
) -> Result<(), Stop> {
    if pace.is_slow() {
        return Ok(());
    }
    let start = session.region().start;
    session.step(of, "fill", |io| {
        let mut at = start;
        while at < start + area {
            let len = FILL.min(start + area - at);
            io.write(at, len)?;
            at += len;
        }
        io.flush()?;
        io.idle(SETTLE)
    })
}

/// Reads both sides of multiples of every size, in random order.
fn sides(
    session: &mut Session<'_>,
    name: &str,
    sizes: &[u64],
    near: &Near,
    pairs: u32,
) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    let part = near.manner.part.clone();
    session.step(near.manner.of, &near.manner.pace.name(name), |io| {
        let mut order: Vec<u64> = (0..pairs).flat_map(|_| sizes.iter().copied()).collect();
        io.rng.shuffle(&mut order);
        for (rep, size) in (0..).zip(order) {
            let multiples = near.multiples(size);
            let number = multiples.start + io.rng.below(multiples.end - multiples.start);
            let at = near.origin + size * number;
            let room = room(near.area() / size);
            let [before, after] = [0; 2].map(|_| io.rng.below(room) * near.apart);
            let first = at.saturating_sub(near.apart + before).max(part.start);
            let second = (at + after).min(part.end - block);
            both(io, [first, second], near, SIDES, size, rep)?;
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
    let name = format!("sides, round {round}");
    sides(session, &name, sizes, near, PAIRS)
}

/// Returns the halves and the thirds of a unit, if they consist of whole lines.
pub(crate) fn parts(unit: u64, near: &Near) -> impl Iterator<Item = u64> {
    let line = near.apart;
    let whole = move |part: &u64| *part >= line && part.is_multiple_of(line);
    [2, 3]
        .into_iter()
        .filter(move |n| unit.is_multiple_of(*n))
        .map(move |n| unit / n)
        .filter(whole)
}

/// Reads both sides of the ends of a unit's parts, those of the unit left out.
fn parted(session: &mut Session<'_>, unit: u64, near: &Near) -> Result<(), Stop> {
    let name = near.manner.pace.name(&format!("parts of {unit}"));
    session.step(near.manner.of, &name, |io| {
        let units = near.multiples(unit);
        let whole = (units.end - units.start).saturating_sub(1).max(1);
        for part in parts(unit, near) {
            for rep in 0..PARTED {
                let start = near.origin + (units.start + io.rng.below(whole)) * unit;
                let end = start + part * (1 + io.rng.below(unit / part - 1));
                both(io, [end - near.apart, end], near, PARTS, part, rep)?;
            }
        }
        Ok(())
    })
}

/// Reads the blocks at two places at once.
fn both(
    io: &mut Io<'_>,
    places: [u64; 2],
    near: &Near,
    series: Series,
    size: u64,
    rep: u32,
) -> Result<(), Stop> {
    let block = u64::from(io.info().logical_block_bytes).max(1);
    near.manner.before(io, &places, block)?;
    pair(io, places, block, series, size, rep)
}

/// Reads both sides of multiples of the size that was found, pairs within it, and both sides of the ends of its parts.
pub(crate) fn again(session: &mut Session<'_>, size: u64, near: &Near) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    sides(session, &format!("sides of {size}"), &[size], near, AGAIN)?;
    let name = near.manner.pace.name(&format!("inside {size}"));
    session.step(near.manner.of, &name, |io| {
        let units = near.multiples(size);
        for rep in 0..AGAIN {
            // The last one may be cut.
            let whole = (units.end - units.start).saturating_sub(1).max(1);
            let unit = near.origin + (units.start + io.rng.below(whole)) * size;
            // Any two places: on one die only if all of the unit is.
            let free = (size - near.apart) / block;
            let first = io.rng.below(free.max(1));
            let second = first + near.apart / block + io.rng.below((free - first).max(1));
            let places = [first, second].map(|at| unit + at * block);
            both(io, places, near, INSIDE, size, rep)?;
        }
        Ok(())
    })?;
    parted(session, size, near)
}

//! Dips over host bytes: a drive that is overwritten in order erases a unit for each one that it fills.
//!
//! The times between the completions of a closed loop are summed over pieces of equal length: long ones over most of the
//! drive, of which there are no more than some thousands, and short ones at its end. Large units need many bytes and small
//! ones short pieces. The drive was filled once before, but its spare flash still lasts for a part of the long pieces.

use super::series::PIECE;
use crate::robust::samples::of_step;
use crate::session::Ask;
use crate::{Io, Parameter, Record, Session, Space, Stop};
use fathom_base::Time;
use fathom_stats::location;
use fathom_stats::period::{correlation_in, period};
use std::ops::Range;

pub(super) const PARAMETER: Parameter = Parameter::ReclaimUnit;
/// The number of requests in flight.
const DEPTH: u32 = 32;
/// The shortest piece, in bytes, and the number of pieces of either length.
const SHORT: u64 = 128 << 10;
const SHORTS: u64 = 4096;
const LONGS: u64 = 8192;
/// The bytes of a closed loop: no two in a row have the same length, because a drive rests between them.
const LOOP: Range<u64> = 48 << 20..80 << 20;
/// The least number of pieces of a unit.
const LEAST: usize = 6;
/// The least number of pieces in which a period is looked for.
const PIECES_MIN: usize = 64;
/// The least wait in a period, in nanoseconds: no data sheet has a block erased in less, and what takes turns in a stripe of
/// programs, or writes a page of the map, waits for less.
const WAIT_NS: f64 = 1e6;
/// The relative difference within which two periods, or a period and a multiple of another one, are the same.
const NEAR: f64 = 0.03;
/// The least autocorrelation of a period. Where a unit is filled in two groups of dies, one after the other, or where the drive's
/// memory waits at even distances as well, the distance between the dips of one unit has about half of the period's.
const STRONG: f64 = 0.6;
/// The share of a period's wait, and of its autocorrelation, that one of its parts must have.
const SHARE: f64 = 0.75;
/// The share of the autocorrelation of a period of short pieces that a part of it must have there. Long pieces do not tell
/// even distances from almost even ones, of which a part has half of it, and more where the distances vary.
const EVEN: f64 = 0.75;
/// The distances, as shares of a period, at which a second dip leaves two readings: two groups of dies in one unit, or two units
/// of which memory shows one sooner and the other one later; and the least share of the period's autocorrelation of one there.
const MIDDLE: [f64; 2] = [0.4, 0.6];
const SECOND: f64 = 0.3;
/// The share of a period's wait that a piece must have to be a dip by itself.
const LONE: f64 = 0.4;
/// The distances of such dips that are half of the period, and the whole of it, as shares; and the least number, and share, of
/// halves between wholes that leave the question open.
const HALF: [f64; 2] = [0.45, 0.65];
const WHOLE: [f64; 2] = [0.85, 1.15];
const HALVES: (usize, f64) = (3, 0.02);
/// The least number of lengths of pieces that show a period.
const LENGTHS: usize = 2;
/// The relative errors beside that of the lag, below and above: what the drive writes of its own between the data of the host,
/// such as copies of collection and pages of the map, only makes the distances shorter.
const BESIDE: [f64; 2] = [0.006, 0.03];

const FILL: &str = "fill";
const ORDER: &str = "overwrites in order";

/// A period of the dips, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dips {
    pub(super) bytes: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// The share of the time that the dips take.
    pub(super) share: f64,
    /// The time that the dips of a period take, in nanoseconds.
    pub(super) wait_ns: f64,
    /// The autocorrelation at this distance, up to 1.
    pub(super) correlation: f64,
}

/// The times of pieces of one length.
struct Level {
    /// The length in bytes.
    len: f64,
    times: Vec<f64>,
}

/// What pieces of one length show.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    /// The length in bytes.
    len: f64,
    dips: Dips,
}

/// The pieces of a stream over the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pieces {
    len: u64,
    count: u64,
}

/// Returns the long pieces and the short ones after them.
fn pieces(space: &Space) -> [Pieces; 2] {
    let short = space.round_up(SHORT);
    let bytes = space.bytes();
    let shorts = SHORTS.min(bytes / short);
    let rest = bytes - shorts * short;
    let long = rest.div_ceil(LONGS).max(1).next_multiple_of(short);
    [
        Pieces {
            len: long,
            count: rest / long,
        },
        Pieces {
            len: short,
            count: shorts,
        },
    ]
}

/// Writes the region in order, and again with the times of its pieces.
pub(super) fn measure(session: &mut Session<'_>) -> Result<(), Stop> {
    let region = session.region();
    session.step(PARAMETER, FILL, |io| io.fill_sequential(region))?;
    let (space, region) = (session.space(), session.region());
    session.step(PARAMETER, ORDER, |io| {
        let mut at = region.start;
        for (number, part) in pieces(&space).into_iter().enumerate() {
            at = stream(io, at, part, number as u32)?;
        }
        Ok(())
    })
}

/// Writes pieces in closed loops. Returns where they end.
fn stream(io: &mut Io<'_>, from: u64, part: Pieces, rep: u32) -> Result<u64, Stop> {
    let block = u64::from(io.info().logical_block_bytes).max(1);
    let longest = io.info().max_request_bytes / block * block;
    let len = longest.min(part.len).max(block);
    let end = from + part.len * part.count;
    let (mut at, mut left) = (from, None);
    while at < end {
        let pieces = (LOOP.start + io.rng.below(LOOP.end - LOOP.start)).div_ceil(part.len);
        let to = end.min(at + pieces * part.len);
        let asks: Vec<Ask> = (at..to)
            .step_by(part.len as usize)
            .flat_map(|piece| {
                let split = (piece..piece + part.len).step_by(len as usize);
                split.map(move |place| Ask::write(place, len.min(piece + part.len - place)))
            })
            .collect();
        let started = io.now();
        let served = io.serve(&asks, DEPTH)?;
        let mut ends: Vec<Time> = served.iter().map(|one| one.to).collect();
        ends.sort_unstable();
        let each = part.len.div_ceil(len) as usize;
        let mut before = left.unwrap_or(started);
        for (number, ends) in ends.chunks(each).enumerate() {
            let place = at + number as u64 * part.len;
            let last = ends.last().copied().unwrap_or(before);
            let written = place + part.len - io.region().start;
            io.sample_written(PIECE, written, rep, (place, part.len), (before, last));
            before = last;
        }
        (at, left) = (to, Some(before));
    }
    Ok(end)
}

/// Returns the mean time of a byte of the stream in order, in nanoseconds.
pub(super) fn ns_per_byte(record: &Record) -> Option<f64> {
    let samples = of_step(record, PARAMETER, ORDER)?;
    let (ns, bytes) = samples.fold((0, 0), |(ns, bytes), s| (ns + s.ns, bytes + s.bytes));
    (bytes > 0).then_some(ns as f64 / bytes as f64)
}

/// Returns the period of the dips.
pub(super) fn dips(record: &Record) -> Option<Dips> {
    let levels = levels(record);
    let readings: Vec<Reading> = levels.iter().filter_map(reading).collect();
    let dips = chosen(&readings, |len, [from, to]| {
        let level = levels.iter().find(|level| level.len == len)?;
        correlation_in(&level.times, from / len, to / len)
    })?;
    (!levels.iter().any(|level| is_halved(level, &dips))).then_some(dips)
}

/// Returns true if a dip comes after half of the period now and then, between others that do not. A drive that puts erases off
/// until it must wait for two of them dips at every second unit, and at times starts over with the next one.
fn is_halved(level: &Level, dips: &Dips) -> bool {
    let usual = location::median(&level.times).unwrap_or_default();
    let deep = |(at, time): (usize, &f64)| {
        (time - usual >= LONE * dips.wait_ns).then_some(at as f64 * level.len / dips.bytes)
    };
    let places: Vec<f64> = (level.times.iter().enumerate()).filter_map(deep).collect();
    let within = |of: f64, [low, high]: [f64; 2]| (low..=high).contains(&of);
    let halves = places.windows(4).filter(|at| {
        within(at[1] - at[0], WHOLE) && within(at[2] - at[1], HALF) && within(at[3] - at[2], WHOLE)
    });
    let (count, share) = HALVES;
    let halves = halves.count();
    halves >= count && halves as f64 >= share * places.len() as f64
}

/// Returns the period with the longest wait; of several that wait for the same share of the time, and that come again as
/// regularly, the shortest. `None` if half of it may be the period as well, or if only one length of pieces shows it. `correlation` is the highest one of pieces of a
/// length, at distances from one to another, in bytes.
fn chosen(all: &[Reading], correlation: impl Fn(f64, [f64; 2]) -> Option<f64>) -> Option<Dips> {
    let all: Vec<Reading> = (all.iter().copied())
        .filter(|one| one.dips.wait_ns >= WAIT_NS && one.dips.correlation >= STRONG)
        .collect();
    let longest = (all.iter()).max_by(|a, b| a.dips.wait_ns.total_cmp(&b.dips.wait_ns))?;
    let part = |one: &&Reading| {
        is_multiple(longest.dips.bytes, one.dips.bytes)
            && one.dips.share >= SHARE * longest.dips.share
            && one.dips.correlation >= SHARE * longest.dips.correlation
    };
    let parts = all.iter().filter(part);
    let shortest = parts.min_by(|a, b| a.dips.bytes.total_cmp(&b.dips.bytes))?;
    let bytes = shortest.dips.bytes;
    let mut wholes = (all.iter())
        .filter(|whole| whole.len < shortest.len && whole.dips.bytes > 1.5 * bytes)
        .filter(|whole| is_multiple(whole.dips.bytes, bytes));
    let at = |one: &Reading, [from, to]: [f64; 2], least: f64| {
        let whole = correlation(one.len, [one.dips.bytes; 2]);
        let there = correlation(one.len, [from, to]);
        whole
            .zip(there)
            .is_some_and(|(whole, there)| there >= least * whole)
    };
    let even = wholes.all(|whole| at(whole, [bytes; 2], EVEN));
    let same = |one: &&Reading| (one.dips.bytes / bytes - 1.0).abs() <= NEAR;
    let finest = (all.iter().filter(same)).min_by(|a, b| a.len.total_cmp(&b.len))?;
    let two = at(finest, MIDDLE.map(|share| share * bytes), SECOND);
    if two || !even || all.iter().filter(same).count() < LENGTHS {
        return None;
    }
    // Of periods of the same length, the one that is known best.
    let width = |one: &Reading| one.dips.high - one.dips.low;
    (all.iter().filter(same))
        .min_by(|a, b| width(a).total_cmp(&width(b)))
        .map(|one| one.dips)
}

fn is_multiple(whole: f64, part: f64) -> bool {
    let times = whole / part;
    (times - times.round()).abs() <= NEAR * times
}

/// Returns the times of pieces of every length.
fn levels(record: &Record) -> Vec<Level> {
    let space = Space::of(record);
    let samples = of_step(record, PARAMETER, ORDER).into_iter().flatten();
    let samples: Vec<_> = samples.collect();
    let mut levels = Vec::new();
    for (number, part) in pieces(&space).into_iter().enumerate() {
        let times = samples.iter().filter(|s| s.rep == number as u32);
        let mut times: Vec<f64> = times.map(|s| s.ns as f64).collect();
        let mut len = part.len as f64;
        while times.len() >= PIECES_MIN {
            let pairs = times.chunks_exact(2);
            let next = pairs.map(|pair| pair[0] + pair[1]).collect();
            levels.push(Level { len, times });
            (times, len) = (next, 2.0 * len);
        }
    }
    levels
}

fn reading(level: &Level) -> Option<Reading> {
    let len = level.len;
    let mean = location::mean(&level.times)?;
    let found = period(&level.times, LEAST)?;
    let beside = BESIDE.map(|share| share * len * found.values);
    let dips = Dips {
        bytes: len * found.values,
        low: len * found.low - beside[0],
        high: len * found.high + beside[1],
        wait_ns: found.share * found.values * mean,
        share: found.share,
        correlation: found.correlation,
    };
    Some(Reading { len, dips })
}

/// The bytes that [`measure`] writes.
pub(super) fn bound(space: &Space) -> u64 {
    2 * space.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    fn one(len_mib: f64, mib: f64, wait_ms: f64, correlation: f64) -> Reading {
        let bytes = mib * MIB;
        let dips = Dips {
            bytes,
            low: 0.99 * bytes,
            high: 1.01 * bytes,
            share: 0.1 * wait_ms / mib,
            wait_ns: wait_ms * 1e6,
            correlation,
        };
        let len = len_mib * MIB;
        Reading { len, dips }
    }

    /// `there` is the correlation at a part of the period, `middle` the one about its middle.
    fn chosen_mib(all: &[Reading], there: f64, middle: f64) -> Option<f64> {
        let longest = all.iter().map(|one| one.dips.bytes).fold(0.0, f64::max);
        let at = |_: f64, [from, to]: [f64; 2]| match (from < to, from == longest) {
            (true, _) => Some(middle),
            (_, true) => Some(0.95),
            (_, false) => Some(there),
        };
        chosen(all, at).map(|dips| (dips.bytes / MIB).round())
    }

    #[test]
    fn the_distance_of_two_dips_of_one_unit_is_no_period() {
        // Two groups of dies are erased a third of a unit apart, and the pieces at the end see only this distance.
        let unit = [one(0.375, 102.0, 9.0, 0.8), one(0.75, 102.0, 9.0, 0.9)];
        let third = [one(0.125, 34.0, 3.0, 0.42), one(0.25, 34.0, 3.0, 0.45)];
        assert_eq!(chosen_mib(&[unit, third].concat(), 0.4, 0.1), Some(102.0));
        assert_eq!(chosen_mib(&third, 0.4, 0.1), None);
        // They are erased almost half of a unit apart, which long pieces do not see.
        let half = [one(3.0, 51.0, 4.5, 0.9), one(6.0, 51.0, 4.5, 0.9)];
        assert_eq!(chosen_mib(&[unit, half].concat(), 0.4, 0.1), None);
        // The distances vary, so that short pieces prefer some multiple.
        assert_eq!(chosen_mib(&[unit, half].concat(), 0.8, 0.1), Some(51.0));
    }

    #[test]
    fn two_dips_of_a_period_may_be_two_units() {
        let both = [one(0.375, 52.0, 5.0, 0.9), one(0.75, 52.0, 5.0, 0.9)];
        assert_eq!(chosen_mib(&both, 0.1, 0.5), None);
        assert_eq!(chosen_mib(&both, 0.1, 0.2), Some(52.0));
        // One length of pieces is too little.
        assert_eq!(chosen_mib(&both[..1], 0.1, 0.2), None);
    }

    /// Dips of 5 ms after so many MiB each, in pieces of 1 MiB.
    fn level(distances: &[usize]) -> Level {
        let mut times = vec![1e6];
        for distance in distances {
            times.extend(std::iter::repeat_n(1e6, distance - 1));
            times.push(6e6);
        }
        Level { len: MIB, times }
    }

    #[test]
    fn dips_that_come_after_half_of_the_period_now_and_then_leave_it_open() {
        let dips = one(1.0, 28.0, 5.0, 0.9).dips;
        let now_and_then = [[28; 6].as_slice(), &[14]].concat().repeat(4);
        assert!(is_halved(&level(&now_and_then), &dips));
        assert!(!is_halved(&level(&[28; 40]), &dips));
        // Once is chance. Two groups of dies by turns have no whole distance.
        assert!(!is_halved(&level(&now_and_then[..10]), &dips));
        assert!(!is_halved(&level(&[12, 16].repeat(20)), &dips));
    }

    #[test]
    fn what_waits_for_less_than_an_erase_is_no_unit() {
        let memory = [one(0.375, 6.4, 0.65, 0.9), one(0.75, 6.4, 0.65, 0.9)];
        let unit = [one(6.0, 92.0, 2.3, 0.8), one(12.0, 92.0, 2.1, 0.8)];
        assert_eq!(chosen_mib(&[memory, unit].concat(), 0.9, 0.1), Some(92.0));
        assert_eq!(chosen_mib(&memory, 0.9, 0.1), None);
    }
}

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
use fathom_stats::period::period;
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
/// The share of a period's wait that one of its parts must have.
const SHARE: f64 = 0.75;
/// The relative error beside that of the lag: what the drive writes of its own between the data of the host.
const BESIDE: f64 = 0.006;

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

/// Returns the period of the dips with the longest wait; of several that wait for the same share of the time, the shortest.
pub(super) fn dips(record: &Record) -> Option<Dips> {
    let all: Vec<Dips> = all(record)
        .into_iter()
        .filter(|dips| dips.wait_ns >= WAIT_NS)
        .collect();
    let longest = all.iter().max_by(|a, b| a.wait_ns.total_cmp(&b.wait_ns))?;
    let part = |dips: &&Dips| {
        let times = longest.bytes / dips.bytes;
        (times - times.round()).abs() <= NEAR * times && dips.share >= SHARE * longest.share
    };
    // Of periods of the same length, the one that is known best.
    let shortest = (all.iter().filter(part)).min_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let same = |dips: &&Dips| (dips.bytes / shortest.bytes - 1.0).abs() <= NEAR;
    let width = |dips: &Dips| dips.high - dips.low;
    (all.iter().filter(same))
        .min_by(|a, b| width(a).total_cmp(&width(b)))
        .copied()
}

/// Returns the periods at every length of the pieces.
fn all(record: &Record) -> Vec<Dips> {
    let space = Space::of(record);
    let samples = of_step(record, PARAMETER, ORDER).into_iter().flatten();
    let samples: Vec<_> = samples.collect();
    let mut found: Vec<Dips> = Vec::new();
    for (number, part) in pieces(&space).into_iter().enumerate() {
        let times = samples.iter().filter(|s| s.rep == number as u32);
        let mut times: Vec<f64> = times.map(|s| s.ns as f64).collect();
        let mut len = part.len as f64;
        while times.len() >= PIECES_MIN {
            let mean = location::mean(&times).unwrap_or(0.0);
            found.extend(period(&times, LEAST).map(|found| Dips {
                bytes: len * found.values,
                low: len * found.low - BESIDE * len * found.values,
                high: len * found.high + BESIDE * len * found.values,
                wait_ns: found.share * found.values * mean,
                share: found.share,
            }));
            let pairs = times.chunks_exact(2);
            times = pairs.map(|pair| pair[0] + pair[1]).collect();
            len *= 2.0;
        }
    }
    found
}

/// The bytes that [`measure`] writes.
pub(super) fn bound(space: &Space) -> u64 {
    2 * space.bytes()
}

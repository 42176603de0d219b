//! The stream of overwrites in order whose dips show the units, and the times of its pieces.
//!
//! The times between the completions of a closed loop are summed over pieces of equal length: long ones over most of the
//! drive, of which there are no more than some thousands, and short ones of two lengths at its end. Large units need many bytes
//! and small ones short pieces. The drive was filled once before, but its spare flash still lasts for a part of the long
//! pieces.

use super::series::PIECE;
use crate::robust::samples::of_step;
use crate::session::Ask;
use crate::{Io, Parameter, Record, Session, Space, Stop};
use fathom_base::Time;
use std::ops::Range;

pub(super) const PARAMETER: Parameter = Parameter::ReclaimUnit;
/// The number of requests in flight: no unit is filled by so many of them, as by 32.
pub(super) const DEPTH: u32 = 31;
/// The shortest piece, and the one that fills whole pages of three planes or of three bits as well, in bytes; and the most
/// pieces of either length.
const SHORTS: [u64; 2] = [128 << 10, 144 << 10];
const SHORTS_MOST: u64 = 4096;
/// The number of long pieces, and what their length is a multiple of, in bytes.
const LONGS: u64 = 8192;
const LONG: u64 = 384 << 10;
/// The number of the long pieces among the parts of the stream.
pub(super) const LONG_PART: usize = 0;
/// The bytes of a closed loop: no two in a row have the same length, because a drive rests between them.
const LOOP: Range<u64> = 48 << 20..80 << 20;
/// The least number of pieces in which a period is looked for.
const PIECES_MIN: usize = 64;

const FILL: &str = "fill";
const ORDER: &str = "overwrites in order";

/// The times of pieces of one length.
pub(super) struct Level {
    /// The length in bytes.
    pub(super) len: f64,
    /// The pieces as they were written, of which these are sums.
    pub(super) part: usize,
    /// The length of the requests in bytes.
    pub(super) request: f64,
    pub(super) times: Vec<f64>,
}

/// The pieces of a stream over the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pieces {
    len: u64,
    count: u64,
}

/// Returns the length of the requests that write a piece of `len`: as few equal ones as the drive takes.
fn request(len: u64, longest: u64, block: u64) -> u64 {
    let longest = (longest / block * block).max(block);
    let even = len / len.div_ceil(longest).max(1);
    even.next_multiple_of(block).min(longest).max(block)
}

/// Returns the long pieces and the short ones after them.
fn pieces(space: &Space) -> [Pieces; 3] {
    let bytes = space.bytes();
    let part = bytes / SHORTS.len() as u64;
    let shorts = SHORTS.map(|len| {
        let len = space.round_up(len);
        let count = SHORTS_MOST.min((part / len).saturating_sub(1));
        Pieces { len, count }
    });
    // One piece is left out, so that those of either length begin at a multiple of it.
    let short: u64 = shorts.iter().map(|part| part.len * (part.count + 1)).sum();
    let rest = bytes.saturating_sub(short);
    let long = (rest.div_ceil(LONGS).max(1)).next_multiple_of(space.round_up(LONG));
    let long = Pieces {
        len: long,
        count: rest / long,
    };
    [long, shorts[0], shorts[1]]
}

/// Writes the region in order, and again with the times of its pieces.
pub(super) fn measure(session: &mut Session<'_>) -> Result<(), Stop> {
    let region = session.region();
    session.step(PARAMETER, FILL, |io| io.fill_sequential(region))?;
    let (space, region) = (session.space(), session.region());
    session.step(PARAMETER, ORDER, |io| {
        let mut at = region.start;
        for (number, part) in pieces(&space).into_iter().enumerate() {
            let from = region.start + (at - region.start).next_multiple_of(part.len);
            at = stream(io, from, part, number as u32)?;
        }
        Ok(())
    })
}

/// Writes pieces in closed loops. Returns where they end.
fn stream(io: &mut Io<'_>, from: u64, part: Pieces, rep: u32) -> Result<u64, Stop> {
    let block = u64::from(io.info().logical_block_bytes).max(1);
    let len = request(part.len, io.info().max_request_bytes, block);
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

/// Returns the times of pieces of every length.
pub(super) fn levels(record: &Record) -> Vec<Level> {
    let target = &record.meta.target;
    let block = u64::from(target.logical_block_bytes).max(1);
    let samples = of_step(record, PARAMETER, ORDER).into_iter().flatten();
    let samples: Vec<_> = samples.collect();
    let mut levels = Vec::new();
    for part in 0..=SHORTS.len() {
        let of_part = || samples.iter().filter(|s| s.rep == part as u32);
        let len = of_part().next().map_or(0, |first| first.bytes);
        let request = request(len, target.max_request_bytes, block) as f64;
        let mut len = len as f64;
        let mut times: Vec<f64> = of_part().map(|s| s.ns as f64).collect();
        while times.len() >= PIECES_MIN {
            let pairs = times.chunks_exact(2);
            let next = pairs.map(|pair| pair[0] + pair[1]).collect();
            levels.push(Level {
                len,
                part,
                request,
                times,
            });
            (times, len) = (next, 2.0 * len);
        }
    }
    levels
}

/// The bytes that [`measure`] writes.
pub(super) fn bound(space: &Space) -> u64 {
    2 * space.bytes()
}

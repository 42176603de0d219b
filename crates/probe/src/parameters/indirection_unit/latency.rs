//! Flushed writes of many lengths at depth 1: aligned to their length, shifted by half of it, and anywhere; and small ones
//! across multiples of every candidate unit.

use super::model::{self, LARGEST, Row, Scale, Shown, candidates, lengths};
use super::series::{ACROSS, ALIGNED, ANYWHERE, READ, SHIFTED};
use crate::robust::samples::of_step;
use crate::{Io, Parameter, Record, Series, Session, Space, Stop};
use fathom_stats::location;

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// The most rounds.
const ROUNDS: u64 = 5;
const ROUNDS_QUICK: u64 = 2;
/// The writes of a length and of a kind of place in a round, and the pairs of small ones for each candidate.
const WRITES: u64 = 8;
const PAIRS: u64 = 4;
/// This many consecutive writes lie in a window of this many bytes: with log blocks the first write into a block costs a
/// merge.
pub(crate) const IN_ROW: usize = 32;
pub(crate) const WINDOW: u64 = 4 * LARGEST;
/// The share of a write's time below which completing a unit does not matter.
pub(crate) const NONE: f64 = 0.05;
/// The reads for comparison, and the share of the fastest writes that are compared with them.
const READS: u64 = 64;
const FASTEST: f64 = 0.05;

/// A write to be made: its series, the size that its places are multiples of, and its length.
#[derive(Clone, Copy)]
struct Wish {
    series: Series,
    size: u64,
    len: u64,
}

/// Writes until a unit shows clearly, or until none can matter.
pub(crate) fn look(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    for round in 0..rounds(&space) {
        write(session, round)?;
        let record = session.record();
        if !shown(record).is_empty() || round > 0 && nothing(record) {
            break;
        }
    }
    read(session)
}

fn rounds(space: &Space) -> u64 {
    match space.level {
        crate::record::Level::Quick => ROUNDS_QUICK,
        crate::record::Level::Full => ROUNDS,
    }
}

fn name(round: u64) -> String {
    format!("lengths round {round}")
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    rounds(space) * one_round(space)
}

/// The bytes of one round.
pub(crate) fn one_round(space: &Space) -> u64 {
    wishes(space).iter().map(|wish| wish.len).sum()
}

fn wishes(space: &Space) -> Vec<Wish> {
    let small = 2 * space.block_bytes;
    let mut wishes = Vec::new();
    for len in lengths(space) {
        for series in [ALIGNED, SHIFTED, ANYWHERE] {
            let size = len;
            wishes.extend((0..WRITES).map(|_| Wish { series, size, len }));
        }
    }
    for size in candidates(space) {
        for series in [ACROSS, ANYWHERE] {
            let len = small;
            wishes.extend((0..PAIRS).map(|_| Wish { series, size, len }));
        }
    }
    wishes
}

fn write(session: &mut Session<'_>, round: u64) -> Result<(), Stop> {
    let space = session.space();
    let start = session.region().start;
    session.step(PARAMETER, &name(round), |io| {
        let mut wishes = wishes(&space);
        io.rng.shuffle(&mut wishes);
        for chunk in wishes.chunks(IN_ROW) {
            let wide = WINDOW.min(space.span());
            let windows = (space.span() / wide).max(1);
            let window = start + io.rng.below(windows) * wide;
            for wish in chunk {
                let offset = place(io, wish, window..window + wide, space.block_bytes);
                io.write_flush(offset, wish.len)?;
                // Small writes are drawn over the size that they lie across.
                let x = if wish.series == ACROSS {
                    wish.size
                } else {
                    wish.len
                };
                io.sample(wish.series, x, round as u32);
            }
        }
        Ok(())
    })
}

/// Draws the place of a write within a window.
fn place(io: &mut Io<'_>, wish: &Wish, window: std::ops::Range<u64>, block: u64) -> u64 {
    let Wish { series, size, len } = *wish;
    let shift = match series {
        s if s == SHIFTED => size / 2 / block * block,
        _ => 0,
    };
    let (grain, before) = match series {
        s if s == ANYWHERE => (block, 0),
        s if s == ACROSS => (size, block),
        _ => (size, 0),
    };
    let first = (window.start + before).next_multiple_of(grain);
    let room = window.end.saturating_sub(first + shift + len) / grain;
    first + io.rng.below(room.max(1)) * grain + shift - before
}

fn read(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    let (start, len) = (session.region().start, 2 * space.block_bytes);
    session.step(PARAMETER, "reads", |io| {
        for rep in 0..READS {
            let offset = start + io.rng.below(space.span() / len) * len;
            io.read(offset, len)?;
            io.sample(READ, len, rep as u32);
        }
        Ok(())
    })
}

fn rows(record: &Record) -> Vec<Row> {
    let steps = (0..ROUNDS).filter_map(|round| of_step(record, PARAMETER, &name(round)));
    let row = |s: &crate::Sample| Row {
        level: s.bytes,
        first: s.offset,
        stride: 0,
        len: s.bytes,
        ns: s.ns as f64,
    };
    steps.flatten().map(row).collect()
}

/// Returns the units that the writes show clearly.
pub(crate) fn shown(record: &Record) -> Vec<Shown> {
    model::explain(&rows(record), Scale::Ranks, &Space::of(record))
}

/// Returns true if completing a part of a unit takes no notable share of any write.
pub(crate) fn nothing(record: &Record) -> bool {
    model::most(&rows(record), &Space::of(record)).is_some_and(|share| share < NONE)
}

/// Returns true if flushed writes complete faster than reads, that is, without waiting for the flash.
pub(crate) fn from_memory(record: &Record) -> bool {
    in_reads(record).is_some_and(|reads| reads < 1.0)
}

/// Returns the time of the fastest flushed writes in those of a read.
pub(crate) fn in_reads(record: &Record) -> Option<f64> {
    let times = |series| -> Vec<f64> {
        let samples = record.series(PARAMETER, series);
        samples.map(|s| s.ns as f64).collect()
    };
    let small = 2 * Space::of(record).block_bytes;
    let writes = record
        .series(PARAMETER, ANYWHERE)
        .filter(|s| s.bytes == small);
    let writes: Vec<f64> = writes.map(|s| s.ns as f64).collect();
    let fastest = location::quantile(&writes, FASTEST);
    let read = location::median(&times(READ));
    fastest.zip(read).map(|(write, read)| write / read)
}

//! The steps that take the samples of the fast cache.

use super::curve::{Drop, Piece, drop};
use super::series::{
    AFTER, AGAIN, EMPTY, HALF, NEARLY, READ_COOL, READ_FAST, READ_FULL, READ_HEAD, READ_HOT,
    READ_TAIL,
};
use crate::record::{Level, Timed};
use crate::{Ask, Io, Parameter, Series, Session, Space, Stop};
use fathom_base::Dur;
use std::ops::Range;

pub(super) const PARAMETER: Parameter = Parameter::FastCache;
/// The longest piece of a fill, the least number of pieces, and the unit of a piece, in bytes.
const PIECE_MAX: u64 = 128 << 20;
const PIECES: u64 = 200;
const UNIT: u64 = 512 << 10;
/// The least region, in bytes.
const SPAN_MIN: u64 = PIECES / 2 * UNIT;
/// The most that the quick level writes, in bytes: it shares its 4 GiB with the other parameters.
const QUICK_MAX: u64 = 2 << 30;
/// The pause after which a drive is taken to have cleaned up, at each level.
const SETTLE: [Dur; 2] = [Dur::ms(10_000), Dur::ms(60_000)];
/// The pauses of an exhausted cache.
const PAUSES: [Dur; 4] = [
    Dur::ms(1_000),
    Dur::ms(10_000),
    Dur::ms(60_000),
    Dur::ms(600_000),
];
/// The fills of the first pauses begin further on.
const SHIFTED: usize = 2;
/// The longest TRIM.
const TRIM_MAX: u64 = 1 << 30;
/// A fill ends when so many pieces have been slow, and at least half as many as came before.
const SLOW_MIN: usize = 24;
/// A fill is checked for its end after this many pieces, or a sixteenth of those written.
const CHECKED: usize = 8;
/// The reads of slow pieces, and their length.
const READS: u32 = 24;
const READ: u64 = 1 << 20;
/// The small reads of data in the cache and of data elsewhere, and their length.
const SMALL_READS: u32 = 200;
const SMALL: u64 = 4096;
/// The bytes that memory may take which a flush does not empty, if the drive reports no volatile cache.
const PROTECTED: u64 = 64 << 20;

/// The sizes of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) region: Range<u64>,
    pub(super) piece: u64,
    /// The bytes at the head of a fill that may have gone into memory.
    pub(super) memory: u64,
    pub(super) level: Level,
}

impl Layout {
    /// Returns the layout for a space; the text says why there is none.
    pub(super) fn of(space: &Space, volatile_cache: bool) -> Result<Self, &'static str> {
        let bytes = space.bytes();
        let unit = space.round_up(UNIT);
        let piece = (bytes / PIECES).min(PIECE_MAX) / unit * unit;
        let layout = Self {
            region: space.region.clone(),
            piece: piece.max(unit),
            memory: if volatile_cache { 0 } else { PROTECTED },
            level: space.level,
        };
        match () {
            () if bytes < SPAN_MIN => Err("the region is smaller than 50 MiB"),
            () if space.level == Level::Quick && layout.bound() > QUICK_MAX => {
                Err("the quick level does not write enough to fill the region; `--level full` does")
            }
            () => Ok(layout),
        }
    }

    fn bytes(&self) -> u64 {
        self.region.end - self.region.start
    }

    fn settle(&self) -> Dur {
        match self.level {
            Level::Quick => SETTLE[0],
            Level::Full => SETTLE[1],
        }
    }

    /// Returns the numbers of the pauses that are tried.
    pub(super) fn pauses(&self) -> Range<usize> {
        match self.level {
            Level::Quick => 1..2,
            Level::Full => 0..PAUSES.len(),
        }
    }

    /// Returns the most that is written: the first fill with one before it on a drive without TRIM, one for each pause, one
    /// to tell a cache from heat, one to read it, and one that leaves the region full.
    pub(super) fn bound(&self) -> u64 {
        let fills = 4 + self.pauses().len() as u64 + u64::from(self.level == Level::Full);
        fills * self.bytes()
    }
}

/// The seconds of a pause.
pub(super) fn seconds(pause: usize) -> f64 {
    PAUSES[pause].0 as f64 / 1e9
}

/// Makes the drive as empty as it gets, and lets it rest.
pub(super) fn empty(io: &mut Io<'_>, layout: &Layout, rest: Dur) -> Result<(), Stop> {
    if io.info().trim {
        let mut at = layout.region.start;
        while at < layout.region.end {
            let len = TRIM_MAX.min(layout.region.end - at);
            io.trim(at, len)?;
            at += len;
        }
    }
    io.flush()?;
    io.idle(rest)
}

/// Writes a range in pieces, each with a flush, so that no write buffer makes the first ones faster. Returns where it ended: if
/// it `stops`, soon after the speed has dropped, with the drop.
fn fill(
    io: &mut Io<'_>,
    layout: &Layout,
    range: Range<u64>,
    series: Series,
    stops: bool,
) -> Result<(u64, Option<Drop>), Stop> {
    let (mut at, mut pieces, mut next) = (range.start, Vec::new(), CHECKED);
    while at + layout.piece <= range.end {
        let (mark, from) = (io.mark(at), io.now());
        io.write(at, layout.piece)?;
        io.flush()?;
        at += layout.piece;
        let rep = pieces.len() as u32;
        io.sample_since(&mark, Timed::WriteFlush, series, at - range.start, rep);
        pieces.push(Piece {
            bytes: layout.piece as f64,
            ns: io.now().since(from).0 as f64,
        });
        if stops && pieces.len() >= next {
            next = pieces.len() + CHECKED.max(pieces.len() / 16);
            let found = drop(&pieces, layout.memory as f64);
            if found.is_some_and(|drop| is_over(&drop, pieces.len())) {
                return Ok((at, found));
            }
        }
    }
    // The rest is shorter than a piece and not measured.
    io.fill_sequential(at..range.end)?;
    let found = stops.then(|| drop(&pieces, layout.memory as f64));
    Ok((range.end, found.flatten()))
}

fn is_over(drop: &Drop, pieces: usize) -> bool {
    drop.after >= SLOW_MIN.max(pieces.saturating_sub(drop.after) / 2)
}

pub(super) const EMPTY_STEP: &str = "empty";

/// Fills an empty drive until its speed has dropped, and reads the slow pieces at once and after a pause.
pub(super) fn first(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    session.step(PARAMETER, EMPTY_STEP, |io| {
        if !io.info().trim {
            io.fill_sequential(layout.region.clone())?;
        }
        empty(io, layout, layout.settle())?;
        io.log();
        let (end, drop) = fill(io, layout, layout.region.clone(), EMPTY, true)?;
        io.log();
        read(io, layout, end, READ_HOT)?;
        if let Some(drop) = drop {
            both_sides(io, layout, &drop, end)?;
        }
        io.idle(layout.settle())?;
        read(io, layout, end, READ_COOL)
    })
}

/// Reads small pieces of the first half of what was written before the drop, and of the last half of what was written after
/// it. A cache that folds has folded the former by now; one that lets writes pass does not hold the latter.
fn both_sides(io: &mut Io<'_>, layout: &Layout, drop: &Drop, end: u64) -> Result<(), Stop> {
    let start = layout.region.start;
    let half = |bytes: u64| (bytes / 2 / layout.piece * layout.piece).max(layout.piece);
    let before = start + half(drop.bytes as u64);
    let after = end - half(drop.after as u64 * layout.piece);
    // What was written last may lie in memory that a flush does not empty.
    let kept = layout.memory.min((end - after) / 2);
    small(io, start..before, READ_HEAD)?;
    small(io, after..end - kept, READ_TAIL)
}

/// Reads at random within the last pieces before `end`.
fn read(io: &mut Io<'_>, layout: &Layout, end: u64, series: Series) -> Result<(), Stop> {
    let len = READ.min(layout.piece);
    let last = (CHECKED as u64 * layout.piece).min(end - layout.region.start);
    for rep in 0..READS {
        let at = end - last + io.rng.below(last / len) * len;
        io.read(at, len)?;
        io.sample(series, len, rep);
    }
    Ok(())
}

/// The step that fills the cache again and lets it rest.
pub(super) fn again_step(pause: usize) -> String {
    format!("again {}", seconds(pause))
}

/// Fills an empty drive beyond its cache, pauses, and goes on. The first fills begin elsewhere: a cache ends after as many
/// bytes anywhere, a slow part of the drive begins at its address.
pub(super) fn again(
    session: &mut Session<'_>,
    layout: &Layout,
    size: u64,
    pause: usize,
) -> Result<(), Stop> {
    let whole = size + size / 8 + SLOW_MIN as u64 * layout.piece;
    let whole = whole.next_multiple_of(layout.piece);
    let room = layout.bytes().saturating_sub(whole) / 2;
    let shift = match pause < SHIFTED {
        true => room.min(layout.bytes() / 4) / layout.piece * layout.piece,
        false => 0,
    };
    session.step(PARAMETER, &again_step(pause), |io| {
        empty(io, layout, layout.settle())?;
        let Range { start, end } = layout.region;
        let start = start + shift;
        let middle = end.min(start + whole);
        fill(io, layout, start..middle, AGAIN, false)?;
        io.idle(PAUSES[pause])?;
        fill(
            io,
            layout,
            middle..end.min(middle + whole),
            AFTER[pause],
            false,
        )?;
        io.log();
        Ok(())
    })
}

pub(super) const SHORT_STEP: &str = "trimmed";

/// Trims everything and fills the cache again almost at once: a hot drive is still hot.
pub(super) fn short(session: &mut Session<'_>, layout: &Layout, size: u64) -> Result<(), Stop> {
    let whole = size + size / 8 + SLOW_MIN as u64 * layout.piece;
    session.step(PARAMETER, SHORT_STEP, |io| {
        let Range { start, end } = layout.region;
        let to = end.min(start + whole.next_multiple_of(layout.piece));
        empty(io, layout, layout.settle())?;
        io.fill_sequential(start..to)?;
        empty(io, layout, Dur::ZERO)?;
        fill(io, layout, start..to, AGAIN, false).map(|_| ())
    })
}

/// Writes a half of the cache on an empty drive, and reads small pieces of it, one at a time.
pub(super) fn inside(session: &mut Session<'_>, layout: &Layout, size: u64) -> Result<(), Stop> {
    session.step(PARAMETER, "inside", |io| {
        empty(io, layout, layout.settle())?;
        let start = layout.region.start;
        let half = (size / 2).min(layout.bytes()) / layout.piece * layout.piece;
        let len = half.max(layout.piece);
        io.fill_sequential(start..start + len)?;
        // What was written last may lie in memory that a flush does not empty.
        small(
            io,
            start..start + len - layout.memory.min(len / 2),
            READ_FAST,
        )
    })
}

/// Reads small pieces at random places of a range, each for the third time: its entry of the map is in memory, and an entry
/// that had to leave for it is written back.
fn small(io: &mut Io<'_>, range: Range<u64>, series: Series) -> Result<(), Stop> {
    let block = u64::from(io.info().logical_block_bytes).max(1);
    let len = SMALL.next_multiple_of(block);
    for rep in 0..SMALL_READS {
        let at = range.start + io.rng.below(((range.end - range.start) / len).max(1)) * len;
        io.read(at, len)?;
        io.read(at, len)?;
        if let Some(one) = io.serve(&[Ask::read(at, len)], 1)?.first() {
            io.sample_served(series, len, rep, one);
        }
    }
    Ok(())
}

/// Fills the drive to a half and to nine tenths, and measures from there on. Leaves the region full.
pub(super) fn filled(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    session.step(PARAMETER, "filled", |io| {
        let Range { start, end } = layout.region;
        let pieces = (end - start) / layout.piece;
        let at = |percent: u64| start + pieces * percent / 100 * layout.piece;
        empty(io, layout, Dur::ZERO)?;
        io.fill_sequential(start..at(50))?;
        if layout.level == Level::Full {
            io.idle(layout.settle())?;
            fill(io, layout, at(50)..at(90), HALF, false)?;
            io.idle(layout.settle())?;
            fill(io, layout, at(90)..end, NEARLY, false)?;
        } else {
            io.fill_sequential(at(50)..end)?;
        }
        // A cache holds at most what was written first or last.
        small(io, at(40)..at(80), READ_FULL)
    })
}

//! The steps that take the samples of the map's reach: random reads over spans of growing length.

use crate::parameters::parallelism::even;
use crate::parameters::parallelism::take::Manner;
use crate::robust::blank;
use crate::robust::pace::Pace;
use crate::robust::prepare::prepare;
use crate::session::{Ask, Served};
use crate::{Io, Level, Parameter, Record, Series, Session, Space, Stop};
use fathom_base::Dur;
use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

/// A read at a random place of the span `x`.
pub(super) const SPANNED: Series = Series::new("spanned");

/// A read at a random place of a span as long, elsewhere in the filled part.
pub(super) const ELSEWHERE: Series = Series::new("elsewhere");

/// Reads of the shortest span `x` at last: one after another, and each after a pause.
pub(super) const STEADY: Series = Series::new("steady");
pub(super) const RESTED: Series = Series::new("rested");

const PARAMETER: Parameter = Parameter::MapReach;
/// The length of a read, in bytes, if the logical block is not longer.
const READ: u64 = 4096;
/// The shortest span, and the most that is written for this parameter, in bytes. The 64 MiB that drives without memory of
/// their own borrow from the host cover 64 GiB at 4 bytes for 4 KiB.
const SPAN_MIN: u64 = 128 << 10;
const FILL_MAX: u64 = 128 << 30;
/// The rounds, and the reads of a span in a round.
const ROUNDS: u32 = 2;
const READS: [u32; 2] = [96, 192];
/// The length of the reads that bring the map of a span into memory, and the random reads after them: a drive that reads
/// ahead has replaced a part of it.
const WARM: u64 = 1 << 20;
const WARM_READS: u64 = 256;
/// The reads of a span elsewhere.
const ELSEWHERE_READS: u32 = 96;
/// The reads of nothing.
const BLANKS: u32 = 64;
/// The reads after a pause, and the pause: a limit lets some pass again in that time.
const RESTED_READS: u32 = 48;
const PAUSE: Dur = Dur::ms(20);

/// Returns the length of a read, in bytes.
pub(super) fn read_bytes(space: &Space) -> u64 {
    READ.next_multiple_of(space.block_bytes)
}

/// Returns the part of the region that is filled and read.
pub(crate) fn filled(space: &Space) -> Range<u64> {
    let start = space.region.start;
    let most = match space.level {
        Level::Quick => space.span(),
        Level::Full => space.bytes().min(FILL_MAX).max(space.span()),
    };
    start..start + most / space.block_bytes * space.block_bytes
}

/// The bytes that are written apart from the shared preparation.
pub(crate) fn written(space: &Space) -> u64 {
    let filled = filled(space);
    let area = blank_area(&filled, space);
    (filled.end - filled.start - space.span()) + (area.end - area.start)
}

/// Returns the area that is trimmed and written again: at the end of the filled part. At its start the area, which a fast
/// cache takes, would make short spans faster.
fn blank_area(filled: &Range<u64>, space: &Space) -> Range<u64> {
    let area = blank::area(filled, space.block_bytes);
    filled.end - (area.end - area.start)..filled.end
}

/// Returns the part of the region whose spans are read: where lone reads take equally long, because a fast cache may hold
/// what was written first or last, and its reads are shorter.
fn part(record: &Record, space: &Space) -> Range<u64> {
    even::part(record, PARAMETER, filled(space), space.block_bytes)
}

/// Returns the spans: the whole, and smaller ones by the root of two down to the shortest: a reach of more than half of the
/// whole must show at two of them.
fn spans(part: &Range<u64>, space: &Space) -> Vec<u64> {
    let halves = std::iter::successors(Some(part.end - part.start), |span| Some(span / 2));
    let all = halves.flat_map(|span| [span, (span as f64 * FRAC_1_SQRT_2) as u64]);
    let whole = |span: u64| span / space.block_bytes * space.block_bytes;
    let mut spans: Vec<u64> = all
        .take_while(|span| *span >= SPAN_MIN)
        .map(whole)
        .collect();
    spans.reverse();
    spans
}

/// Fills what is not filled yet, and measures what a read takes without flash.
pub(crate) fn prepared(session: &mut Session<'_>) -> Result<(), Stop> {
    prepare(session, PARAMETER)?;
    let space = session.space();
    let filled = filled(&space);
    let from = filled.start + space.span();
    if from < filled.end && !session.read_only() {
        session.step(PARAMETER, "fill", |io| io.fill_sequential(from..filled.end))?;
    }
    if !session.read_only() {
        let area = blank_area(&filled, &space);
        let read = read_bytes(&space);
        session.step(PARAMETER, "nothing", |io| {
            blank::measure(io, area, read, BLANKS, Pace::default())
        })?;
    }
    let manner = Manner {
        of: PARAMETER,
        part: filled,
        mapped: true,
        pool: Vec::new(),
        pace: Pace::default(),
    };
    even::look(session, &manner)
}

/// Reads over every span, in rounds. A span follows a shorter one, whose map is in memory already if it fits: so a round
/// reads the whole only once. What changes with time and not with the span differs between the rounds.
pub(crate) fn sweep(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    let part = part(session.record(), &space);
    let start = part.start;
    let reads = READS[usize::from(space.level == Level::Full)];
    for round in 0..ROUNDS {
        session.step(PARAMETER, &format!("spans, round {round}"), |io| {
            let mut from = start;
            for span in spans(&part, &space) {
                in_order(io, from..start + span)?;
                from = start + span;
                at_random(
                    io,
                    start..start + span,
                    &space,
                    round * reads..(round + 1) * reads,
                )?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Reads over spans of a length at other places, each after its map was brought into memory: what makes the beginning of
/// the region fast, such as data in a fast cache, is not there.
pub(crate) fn elsewhere(session: &mut Session<'_>, span: u64) -> Result<(), Stop> {
    let space = session.space();
    let filled = part(session.record(), &space);
    let read = read_bytes(&space);
    let span = (span / read * read).max(read);
    session.step(PARAMETER, "elsewhere", |io| {
        for part in 1..4 {
            let bytes = filled.end - filled.start;
            let place = bytes / 4 * part / read * read;
            let from = filled.start + place.min(bytes.saturating_sub(span) / read * read);
            in_order(io, from..from + span)?;
            let slots = (span / read).max(1);
            for rep in 0..ELSEWHERE_READS {
                let place = from + io.rng.below(slots) * read;
                io.read(place, read)?;
                io.sample(ELSEWHERE, span, part as u32 * ELSEWHERE_READS + rep);
            }
        }
        Ok(())
    })
}

/// Reads the shortest span again, one after another and then each after a pause. A limit in front of the drive that lets fewer
/// reads pass than the drive serves holds back the former only, once its burst is gone.
pub(crate) fn rested(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    let part = part(session.record(), &space);
    let Some(span) = spans(&part, &space).first().copied() else {
        return Ok(());
    };
    let places = part.start..part.start + span;
    session.step(PARAMETER, "rested", |io| {
        in_order(io, places.clone())?;
        for _ in 0..WARM_READS {
            read_any(io, &places, &space)?;
        }
        for rep in 0..READS[1] {
            if let Some(one) = read_any(io, &places, &space)? {
                io.sample_served(STEADY, span, rep, &one);
            }
        }
        for rep in 0..RESTED_READS {
            io.idle(PAUSE)?;
            if let Some(one) = read_any(io, &places, &space)? {
                io.sample_served(RESTED, span, rep, &one);
            }
        }
        Ok(())
    })
}

/// Reads at a random place of a span.
fn read_any(io: &mut Io<'_>, span: &Range<u64>, space: &Space) -> Result<Option<Served>, Stop> {
    let read = read_bytes(space);
    let slots = ((span.end - span.start) / read).max(1);
    let place = span.start + io.rng.below(slots) * read;
    Ok(io.serve(&[Ask::read(place, read)], 1)?.pop())
}

/// Reads a range in order, which brings as much of its map into memory as fits. Each piece is read twice: a memory in two
/// segments (segmented LRU) keeps what was asked for twice, and would else keep half of what it held before.
fn in_order(io: &mut Io<'_>, range: Range<u64>) -> Result<(), Stop> {
    let mut at = range.start;
    while at < range.end {
        let len = WARM.min(range.end - at);
        io.read(at, len)?;
        io.read(at, len)?;
        at += len;
    }
    Ok(())
}

fn at_random(
    io: &mut Io<'_>,
    span: Range<u64>,
    space: &Space,
    reps: Range<u32>,
) -> Result<(), Stop> {
    let read = read_bytes(space);
    let bytes = span.end - span.start;
    let slots = (bytes / read).max(1);
    for _ in 0..WARM_READS {
        let place = span.start + io.rng.below(slots) * read;
        io.read(place, read)?;
    }
    for rep in reps {
        if let Some(one) = read_any(io, &span, space)? {
            io.sample_served(SPANNED, bytes, rep, &one);
        }
    }
    Ok(())
}

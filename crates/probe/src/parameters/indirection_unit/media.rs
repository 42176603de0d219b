//! The bytes that the drive's log counts as written to the media, for streams aligned to a size and shifted by half of it.
//!
//! A write that begins and ends at units is written as it is. Shifted by half of a unit it touches one more, and both are
//! written whole: twice the bytes for writes of one unit. Writes of two units that are shifted by one touch no more. A signal of
//! its own: it needs no time.

use super::model::LARGEST;
use super::series::{MEDIA_ALIGNED, MEDIA_SHIFTED};
use super::stream::DEPTH;
use crate::robust::samples::of_step;
use crate::{Io, Parameter, Record, Series, Session, Space, Stop};
use fathom_stats::location::{median, quantile};

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// The part of the drive that is written, in bytes, by every stream once: more than the memory of most drives, and little beside
/// the spare flash. A stream goes over it twice, with a gap as long as a write after each write, so that no two writes of a pass
/// share a unit. As the order is always the same, blocks that are collected hold nothing that has to be moved.
const WINDOW: u64 = 64 << 20;
/// The share of a stream that counts, the last one, and the number of its parts.
const COUNTED: usize = 4;
const PARTS: usize = 8;
/// The streams before the first one, and the length of their writes, in bytes: they push out what other questions left.
const WARM: u64 = 4;
const WARM_BYTES: u64 = 128 << 10;
/// The rounds, of which the second one begins with the other stream: collection that sets in, or a fast cache that fills, looks
/// like a difference once, and in the other direction then.
const ROUNDS: u64 = 2;
/// The quantile of the parts that counts: collection adds to some of them what it moves.
const QUIET: f64 = 0.25;
/// The least ratio of shifted to aligned streams at the unit, where it is 2 without collection, and the largest one at twice the
/// unit, where it is 1; and the least ratio of aligned streams of half of the unit and of the unit, 2 as well.
const AT_UNIT: f64 = 1.4;
const BEYOND: f64 = 1.25;
const HALF: f64 = 1.4;
/// Below this ratio at a unit, or with this share of it left at twice the unit, the log contradicts the unit.
const NONE: f64 = 1.3;
const LEFT: f64 = 0.85;

/// What a round says of a unit: how many times as many bytes streams write that are shifted by half.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    /// Of writes of one unit, and of two.
    one: f64,
    two: f64,
    /// How many times as many bytes aligned streams write of half of the unit as of the unit, if they were written.
    half: Option<f64>,
    /// The least part of the stream that is shifted, over the median one of the aligned stream.
    least: f64,
}

impl Round {
    fn confirms(&self) -> bool {
        let half = self.half.is_some_and(|half| half >= HALF);
        half && self.least >= AT_UNIT && self.two <= BEYOND
    }

    fn contradicts(&self) -> bool {
        self.one < NONE || self.two > LEFT * self.one
    }
}

/// What the log says of a unit, in one round or more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logged(Vec<Round>);

impl Logged {
    /// Returns true if a shifted stream completes a unit more in each of its parts, one of twice the length does not, and
    /// writes of half of the unit cost as much as whole ones, in every round.
    pub(crate) fn confirms(&self) -> bool {
        self.0.len() as u64 == ROUNDS && self.0.iter().all(Round::confirms)
    }

    /// Returns true if the log shows in every round that this is no unit.
    pub(crate) fn contradicts(&self) -> bool {
        self.0.len() as u64 == ROUNDS && self.0.iter().all(Round::contradicts)
    }

    /// Returns true if the log shows in one round that this is no unit.
    pub(crate) fn doubts(&self) -> bool {
        self.0.iter().any(Round::contradicts)
    }

    /// Returns how many times as many bytes shifted streams of one unit write: the mean of the rounds.
    pub(crate) fn one(&self) -> f64 {
        self.mean(|round| round.one)
    }

    /// The same of two units.
    pub(crate) fn two(&self) -> f64 {
        self.mean(|round| round.two)
    }

    fn mean(&self, of: fn(&Round) -> f64) -> f64 {
        self.0.iter().map(of).sum::<f64>() / self.0.len().max(1) as f64
    }
}

const WARMED: &str = "media before";

fn name(size: u64, round: u64) -> String {
    format!("media of {size} round {round}")
}

/// Returns the sizes at which a unit is looked for, in bytes, ascending; the last one is only the double of another.
fn sizes(space: &Space) -> Vec<u64> {
    let powers = (0..40).map(|power| space.block_bytes << power);
    let most = LARGEST.min(space.span() / 16);
    powers.skip(1).take_while(|size| *size <= most).collect()
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    (WARM + (sizes(space).len() as u64 + 2) * ROUNDS * 2) * (WINDOW + 2 * LARGEST)
}

/// Returns true if a step was made, even one in which nothing reached the media.
fn is_done(record: &Record, name: &str) -> bool {
    let mut steps = record.steps.iter();
    steps.any(|step| step.parameter == PARAMETER && step.name == name)
}

/// Writes the window several times, if the log counts what is written to the media.
fn warm(session: &mut Session<'_>) -> Result<(), Stop> {
    if is_done(session.record(), WARMED) {
        return Ok(());
    }
    let (space, start) = (session.space(), session.region().start);
    session.step(PARAMETER, WARMED, |io| {
        if written(io).is_none() {
            return Ok(());
        }
        let list = places(&space, start, WARM_BYTES.max(space.block_bytes), 0);
        for _ in 0..WARM {
            io.write_queued(&list, DEPTH)?;
        }
        Ok(())
    })
}

/// Writes streams of the given size, if the log counts what is written to the media.
fn measure(session: &mut Session<'_>, size: u64, round: u64) -> Result<(), Stop> {
    let (space, start) = (session.space(), session.region().start);
    session.step(PARAMETER, &name(size, round), |io| {
        let mut streams = [(MEDIA_ALIGNED, 0), (MEDIA_SHIFTED, size / 2)];
        if round % 2 == 1 {
            streams.reverse();
        }
        for (series, shift) in streams {
            if written(io).is_none() {
                return Ok(());
            }
            if size == space.block_bytes && series == MEDIA_SHIFTED {
                continue;
            }
            let list = places(
                &space,
                start,
                size,
                shift / space.block_bytes * space.block_bytes,
            );
            let (before, counted) = list.split_at(list.len() - list.len() / COUNTED);
            io.write_queued(before, DEPTH)?;
            for (part, list) in counted
                .chunks(counted.len().div_ceil(PARTS).max(1))
                .enumerate()
            {
                let before = written(io);
                io.write_queued(list, DEPTH)?;
                if let (Some(before), Some(after)) = (before, written(io)) {
                    io.sample_count(series, size, part as u32, after.saturating_sub(before));
                }
            }
        }
        Ok(())
    })
}

fn written(io: &mut Io<'_>) -> Option<u64> {
    io.log()?.media_bytes_written
}

/// Returns the places of a stream: every second one of the window, and then the others.
fn places(space: &Space, start: u64, size: u64, shift: u64) -> Vec<(u64, u64)> {
    let first = start.next_multiple_of(size);
    let end = start + space.span().min(WINDOW);
    let count = (end.saturating_sub(first) / size).saturating_sub(1).max(1);
    let pass = |from: u64| (from..count).step_by(2);
    let both = pass(0).chain(pass(1));
    both.map(|place| (first + place * size + shift, size))
        .collect()
}

/// Looks at one unit and at twice the unit, again if `twice` or if the log speaks against it.
pub(crate) fn check(session: &mut Session<'_>, unit: u64, twice: bool) -> Result<(), Stop> {
    round(session, unit, 0)?;
    if first(session.record(), unit).is_some_and(|seen| twice || seen.contradicts()) {
        round(session, unit, 1)?;
    }
    Ok(())
}

/// Looks for a unit. What a round shows must come again.
pub(crate) fn look(session: &mut Session<'_>) -> Result<(), Stop> {
    warm(session)?;
    let block = session.space().block_bytes;
    if !is_done(session.record(), &name(block, 0)) {
        measure(session, block, 0)?;
    }
    for size in sizes(&session.space()) {
        round(session, size, 0)?;
        let Some(seen) = first(session.record(), size) else {
            break;
        };
        if seen.confirms() {
            round(session, size, 1)?;
        }
        if logged(session.record(), size).is_some_and(|seen| seen.confirms()) {
            break;
        }
    }
    Ok(())
}

/// Writes a round of one unit and of twice the unit.
fn round(session: &mut Session<'_>, unit: u64, number: u64) -> Result<(), Stop> {
    warm(session)?;
    for size in [unit, 2 * unit] {
        if !is_done(session.record(), &name(size, number)) {
            measure(session, size, number)?;
        }
    }
    Ok(())
}

/// Returns the bytes of the media that the parts of a stream take.
fn parts(record: &Record, size: u64, round: u64, series: Series) -> Option<Vec<f64>> {
    let samples = of_step(record, PARAMETER, &name(size, round))?;
    let parts = samples.filter(|s| s.series == series);
    Some(parts.map(|s| s.bytes as f64).collect())
}

/// Returns the bytes of the media that a part of a stream takes where collection is quiet.
fn level(record: &Record, size: u64, round: u64, series: Series) -> Option<f64> {
    let parts = parts(record, size, round, series)?;
    quantile(&parts, QUIET).filter(|bytes| *bytes > 0.0)
}

/// Returns the least bytes of the media that a part of a shifted stream takes.
fn least(record: &Record, size: u64, round: u64) -> Option<f64> {
    let parts = parts(record, size, round, MEDIA_SHIFTED)?;
    parts.into_iter().reduce(f64::min)
}

/// Returns the bytes of the media that a part of an aligned stream takes, with what collection moves in most of them: where merges
/// come with every second part, the quiet ones say nothing.
fn usual(record: &Record, size: u64, round: u64) -> Option<f64> {
    let parts = parts(record, size, round, MEDIA_ALIGNED)?;
    median(&parts).filter(|bytes| *bytes > 0.0)
}

/// Returns how many times as many bytes a shifted stream of a size writes.
fn ratio(record: &Record, size: u64, round: u64) -> Option<f64> {
    let of = |series| level(record, size, round, series);
    Some(of(MEDIA_SHIFTED)? / of(MEDIA_ALIGNED)?)
}

fn of_round(record: &Record, unit: u64, round: u64) -> Option<Round> {
    let aligned = |size, round| level(record, size, round, MEDIA_ALIGNED);
    let [half, whole] = [aligned(unit / 2, 0), aligned(unit, round)];
    Some(Round {
        one: ratio(record, unit, round)?,
        two: ratio(record, 2 * unit, round)?,
        half: half.zip(whole).map(|(half, whole)| half / whole),
        least: least(record, unit, round)? / usual(record, unit, round)?,
    })
}

fn first(record: &Record, unit: u64) -> Option<Round> {
    of_round(record, unit, 0)
}

/// Returns what the log says of a unit, if streams of it and of two were written.
pub(crate) fn logged(record: &Record, unit: u64) -> Option<Logged> {
    let rounds = (0..ROUNDS).map_while(|round| of_round(record, unit, round));
    let rounds: Vec<Round> = rounds.collect();
    (!rounds.is_empty()).then_some(Logged(rounds))
}

/// Returns the unit that the log shows.
pub(crate) fn shown(record: &Record) -> Option<u64> {
    let confirms = |size: &u64| logged(record, *size).is_some_and(|seen| seen.confirms());
    sizes(&Space::of(record)).into_iter().find(confirms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(one: f64, two: f64, half: f64) -> Round {
        Round {
            one,
            two,
            half: Some(half),
            least: one,
        }
    }

    #[test]
    fn only_the_unit_itself_is_confirmed() {
        // Half of a unit, a unit, twice a unit; and a drive that maps every block.
        let rounds = [
            round(1.0, 2.0, 1.0),
            round(2.0, 1.0, 2.0),
            round(1.0, 1.0, 1.0),
            round(1.0, 1.0, 1.0),
        ];
        let confirms = rounds.map(|round| round.confirms());
        assert_eq!(confirms, [false, true, false, false]);
        let contradicts = rounds.map(|round| round.contradicts());
        assert_eq!(contradicts, [true, false, true, true]);
        // Collection beside it leaves the question open.
        let beside = round(2.0, 1.3, 2.0);
        assert!(!beside.confirms() && !beside.contradicts());
        // Merges of log blocks come beside some parts of the stream, and a unit is completed in all of them.
        let merges = Round {
            least: 1.0,
            ..round(1.8, 1.0, 2.0)
        };
        assert!(!merges.confirms());
        // Collection that sets in with the shifted stream does not make writes of half of a unit cost more.
        assert!(!round(1.7, 1.1, 1.0).confirms());
    }

    #[test]
    fn a_stream_writes_its_window_once_and_no_neighbours_in_a_row() {
        let space = Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
            level: crate::record::Level::Full,
        };
        for (size, shift) in [(4096, 0), (4096, 2048), (262_144, 0)] {
            let list = places(&space, 0, size, shift);
            let apart = |pair: &[(u64, u64)]| pair[0].0.abs_diff(pair[1].0) > size;
            assert!(list.windows(2).all(apart));
            let mut sorted = list.clone();
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|pair| pair[1].0 - pair[0].0 == size));
            assert!(list.len() as u64 * size <= WINDOW);
            assert!(list.iter().all(|(at, len)| at + len <= WINDOW));
        }
    }

    #[test]
    fn what_a_round_shows_must_come_again() {
        let of = |rounds: &[(f64, f64)]| {
            let rounds = rounds.iter().map(|&(one, two)| round(one, two, 2.0));
            Logged(rounds.collect())
        };
        assert!(of(&[(2.0, 1.0), (1.9, 1.1)]).confirms());
        // Collection set in during the first shifted stream, or it is not known yet.
        for open in [of(&[(1.8, 1.1), (0.7, 1.0)]), of(&[(2.0, 1.0)])] {
            assert!(!open.confirms() && !open.contradicts(), "{open:?}");
        }
        assert!(of(&[(1.1, 1.0), (1.0, 1.0)]).contradicts());
        let once = of(&[(1.1, 1.0), (2.0, 1.0)]);
        assert!(!once.contradicts() && once.doubts());
        assert!(!of(&[(2.0, 1.0), (1.9, 1.1)]).doubts());
    }
}

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
use fathom_stats::location::quantile;

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// The bytes of a stream before those that count, more than the memory of most drives; those that count, and their parts.
const BEFORE: u64 = 48 << 20;
const COUNTED: u64 = 16 << 20;
const PARTS: u64 = 8;
/// The part of the drive that is written, in bytes: more than the memory of most drives, and little beside the spare flash,
/// so that what is collected holds hardly anything that has to be moved.
const WINDOW: u64 = 128 << 20;
/// The rounds, of which the second one begins with the other stream: collection that sets in, or a fast cache that fills, looks
/// like a difference once, and in the other direction then.
const ROUNDS: u64 = 2;
/// The quantile of the parts that counts: collection adds to some of them what it moves.
const QUIET: f64 = 0.25;
/// The least ratio of shifted to aligned streams at the unit, and the largest one at twice the unit.
const AT_UNIT: f64 = 1.6;
const BEYOND: f64 = 1.25;
/// Below this ratio at a unit, or with this share of it left at twice the unit, the log contradicts the unit.
const NONE: f64 = 1.3;
const LEFT: f64 = 0.85;

/// What a round says of a unit: how many times as many bytes streams write that are shifted by half.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    /// Of writes of one unit, and of two.
    one: f64,
    two: f64,
}

impl Round {
    fn confirms(&self) -> bool {
        self.one >= AT_UNIT && self.two <= BEYOND
    }

    fn contradicts(&self) -> bool {
        self.one < NONE || self.two > LEFT * self.one
    }
}

/// What the log says of a unit, in one round or more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logged(Vec<Round>);

impl Logged {
    /// Returns true if a shifted stream completes a unit more, and one of twice the length does not, in every round.
    pub(crate) fn confirms(&self) -> bool {
        self.0.len() as u64 == ROUNDS && self.0.iter().all(Round::confirms)
    }

    /// Returns true if the log shows in every round that this is no unit.
    pub(crate) fn contradicts(&self) -> bool {
        self.0.len() as u64 == ROUNDS && self.0.iter().all(Round::contradicts)
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
    (sizes(space).len() as u64 + 2) * ROUNDS * 2 * (BEFORE + COUNTED)
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
            let shift = shift / space.block_bytes * space.block_bytes;
            stream(io, &space, start, (size, shift), BEFORE)?;
            for part in 0..PARTS {
                let before = written(io);
                stream(io, &space, start, (size, shift), COUNTED / PARTS)?;
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

fn stream(
    io: &mut Io<'_>,
    space: &Space,
    start: u64,
    form: (u64, u64),
    bytes: u64,
) -> Result<(), Stop> {
    let (size, shift) = form;
    let first = start.next_multiple_of(size);
    let end = start + space.span().min(WINDOW);
    let places = (end.saturating_sub(first) / size).saturating_sub(1);
    let list: Vec<(u64, u64)> = (0..(bytes / size).max(1))
        .map(|_| (first + io.rng.below(places.max(1)) * size + shift, size))
        .collect();
    io.write_queued(&list, DEPTH).map(|_| ())
}

/// Looks at one unit and at twice the unit, again if the log speaks against it.
pub(crate) fn check(session: &mut Session<'_>, unit: u64) -> Result<(), Stop> {
    round(session, unit, 0)?;
    if first(session.record(), unit).is_some_and(|seen| seen.contradicts()) {
        round(session, unit, 1)?;
    }
    Ok(())
}

/// Looks for a unit. What a round shows must come again.
pub(crate) fn look(session: &mut Session<'_>) -> Result<(), Stop> {
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
    for size in [unit, 2 * unit] {
        if ratio(session.record(), size, number).is_none() {
            measure(session, size, number)?;
        }
    }
    Ok(())
}

/// Returns how many times as many bytes a shifted stream of a size writes.
fn ratio(record: &Record, size: u64, round: u64) -> Option<f64> {
    let of = |series: Series| {
        let samples = of_step(record, PARAMETER, &name(size, round))?;
        let parts: Vec<f64> = samples
            .filter(|s| s.series == series)
            .map(|s| s.bytes as f64)
            .collect();
        quantile(&parts, QUIET)
    };
    let (aligned, shifted) = (of(MEDIA_ALIGNED)?, of(MEDIA_SHIFTED)?);
    (aligned > 0.0).then_some(shifted / aligned)
}

fn of_round(record: &Record, unit: u64, round: u64) -> Option<Round> {
    Some(Round {
        one: ratio(record, unit, round)?,
        two: ratio(record, 2 * unit, round)?,
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

    #[test]
    fn only_the_unit_itself_is_confirmed() {
        // Half of a unit, a unit, twice a unit; and a drive that maps every block.
        let ratios = [(1.5, 2.0), (2.0, 1.0), (1.0, 1.0), (1.0, 1.0)];
        let confirms = ratios.map(|(one, two)| Round { one, two }.confirms());
        assert_eq!(confirms, [false, true, false, false]);
        let contradicts = ratios.map(|(one, two)| Round { one, two }.contradicts());
        assert_eq!(contradicts, [true, false, true, true]);
        // Collection beside it leaves the question open.
        let (one, two) = (2.0, 1.3);
        let beside = Round { one, two };
        assert!(!beside.confirms() && !beside.contradicts());
    }

    #[test]
    fn what_a_round_shows_must_come_again() {
        let of = |rounds: &[(f64, f64)]| {
            let rounds = rounds.iter().map(|&(one, two)| Round { one, two });
            Logged(rounds.collect())
        };
        assert!(of(&[(2.0, 1.0), (1.9, 1.1)]).confirms());
        // Collection set in during the first shifted stream, or it is not known yet.
        for open in [of(&[(1.8, 1.1), (0.7, 1.0)]), of(&[(2.0, 1.0)])] {
            assert!(!open.confirms() && !open.contradicts(), "{open:?}");
        }
        assert!(of(&[(1.1, 1.0), (1.0, 1.0)]).contradicts());
        assert!(!of(&[(1.1, 1.0), (2.0, 1.0)]).contradicts());
    }
}

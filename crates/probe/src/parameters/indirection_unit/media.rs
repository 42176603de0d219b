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
/// The quantile of the parts that counts: collection adds to some of them what it moves.
const QUIET: f64 = 0.25;
/// The least ratio of shifted to aligned streams at the unit, and the largest one at twice the unit.
const AT_UNIT: f64 = 1.6;
const BEYOND: f64 = 1.25;
/// Below this ratio at a unit, or with this share of it left at twice the unit, the log contradicts the unit.
const NONE: f64 = 1.3;
const LEFT: f64 = 0.85;

/// What the log says of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Logged {
    /// How many times as many bytes streams write that are shifted by half: of one unit, and of two.
    pub(crate) one: f64,
    pub(crate) two: f64,
}

impl Logged {
    /// Returns true if a shifted stream completes a unit more, and one of twice the length does not.
    pub(crate) fn confirms(&self) -> bool {
        self.one >= AT_UNIT && self.two <= BEYOND
    }

    /// Returns true if the log shows that this is no unit.
    pub(crate) fn contradicts(&self) -> bool {
        self.one < NONE || self.two > LEFT * self.one
    }
}

fn name(size: u64) -> String {
    format!("media of {size}")
}

/// Returns the sizes at which a unit is looked for, in bytes, ascending; the last one is only the double of another.
fn sizes(space: &Space) -> Vec<u64> {
    let powers = (0..40).map(|power| space.block_bytes << power);
    let most = LARGEST.min(space.span() / 16);
    powers.skip(1).take_while(|size| *size <= most).collect()
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    (sizes(space).len() as u64 + 2) * 2 * (BEFORE + COUNTED)
}

/// Writes streams of the given size, if the log counts what is written to the media.
fn measure(session: &mut Session<'_>, size: u64) -> Result<(), Stop> {
    let (space, start) = (session.space(), session.region().start);
    session.step(PARAMETER, &name(size), |io| {
        for (series, shift) in [(MEDIA_ALIGNED, 0), (MEDIA_SHIFTED, size / 2)] {
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
    let places = ((start + space.span() - first) / size).saturating_sub(1);
    let list: Vec<(u64, u64)> = (0..(bytes / size).max(1))
        .map(|_| (first + io.rng.below(places.max(1)) * size + shift, size))
        .collect();
    io.write_queued(&list, DEPTH).map(|_| ())
}

/// Looks at one unit, and at twice the unit.
pub(crate) fn check(session: &mut Session<'_>, unit: u64) -> Result<(), Stop> {
    for size in [unit, 2 * unit] {
        if ratio(session.record(), size).is_none() {
            measure(session, size)?;
        }
    }
    Ok(())
}

/// Looks for a unit.
pub(crate) fn look(session: &mut Session<'_>) -> Result<(), Stop> {
    for size in sizes(&session.space()) {
        check(session, size)?;
        let seen = logged(session.record(), size);
        if seen.is_none_or(|seen| seen.confirms()) {
            break;
        }
    }
    Ok(())
}

/// Returns how many times as many bytes a shifted stream of a size writes.
fn ratio(record: &Record, size: u64) -> Option<f64> {
    let of = |series: Series| {
        let samples = of_step(record, PARAMETER, &name(size))?;
        let parts: Vec<f64> = samples
            .filter(|s| s.series == series)
            .map(|s| s.bytes as f64)
            .collect();
        quantile(&parts, QUIET)
    };
    let (aligned, shifted) = (of(MEDIA_ALIGNED)?, of(MEDIA_SHIFTED)?);
    (aligned > 0.0).then_some(shifted / aligned)
}

/// Returns what the log says of a unit, if streams of it and of two were written.
pub(crate) fn logged(record: &Record, unit: u64) -> Option<Logged> {
    Some(Logged {
        one: ratio(record, unit)?,
        two: ratio(record, 2 * unit)?,
    })
}

/// Returns the unit that the log shows, and what it says.
pub(crate) fn shown(record: &Record) -> Option<(u64, Logged)> {
    let space = Space::of(record);
    let all = sizes(&space).into_iter();
    let mut seen = all.filter_map(|size| Some((size, logged(record, size)?)));
    seen.find(|(_, logged)| logged.confirms())
}

#[cfg(test)]
mod tests {
    use super::Logged;

    #[test]
    fn only_the_unit_itself_is_confirmed() {
        // Half of a unit, a unit, twice a unit; and a drive that maps every block.
        let ratios = [(1.5, 2.0), (2.0, 1.0), (1.0, 1.0), (1.0, 1.0)];
        let confirms = ratios.map(|(one, two)| Logged { one, two }.confirms());
        assert_eq!(confirms, [false, true, false, false]);
        let contradicts = ratios.map(|(one, two)| Logged { one, two }.contradicts());
        assert_eq!(contradicts, [true, false, true, true]);
        // Collection beside it leaves the question open.
        let (one, two) = (2.0, 1.3);
        let beside = Logged { one, two };
        assert!(!beside.confirms() && !beside.contradicts());
    }
}

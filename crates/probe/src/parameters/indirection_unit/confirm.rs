//! Confirms a unit with new writes: one of a whole unit against one that lacks a logical block.
//!
//! The shorter write takes longer only if the drive reads what is missing; a stripe or a program unit makes no write slower
//! for being shorter. The same comparison at the parts of the unit, its halves for example, must show less: otherwise the
//! unit is one of them.

use super::latency;
use super::model::Shown;
use super::series::{SHORT, STREAM_SHORT_AGAIN, STREAM_WHOLE_AGAIN, WHOLE};
use super::stream::{self, DEPTH, Streams};
use crate::robust::samples::of_step;
use crate::robust::units::PAGE_FACTORS;
use crate::{Io, Parameter, Record, Series, Session, Space, Stop};
use fathom_stats::separate::{Decision, Separation, separate};

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// The pairs of a round, and the most rounds: of single writes, and of streams, of which long ones are fewer.
const PAIRS: u64 = 24;
const ROUNDS: u64 = 16;
const STREAM_PAIRS: u64 = 8;
const LONG_PAIRS: u64 = 5;
const STREAM_ROUNDS: u64 = 3;
/// The confidence of a ratio, that with which a part of the unit shows less than the unit, and the relative difference below which
/// times count as equal.
const CONFIDENCE: f64 = 0.999;
const LESS: f64 = 0.95;
const EQUAL: f64 = 0.01;
/// The least ratio that counts.
const MATTERS: f64 = 1.01;
/// The share of the logarithm of the ratio that a part of the unit may show.
const PART: f64 = 0.5;

/// How a unit is confirmed: by single flushed writes, or by streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    Latency,
    Throughput(Streams),
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Compared {
    /// How many times as long a write takes that lacks a block.
    pub(crate) ratio: f64,
    pub(crate) decision: Decision,
    /// A part of the unit that shows as much, in bytes.
    pub(crate) part: Option<u64>,
    /// Noise hides whether a part shows as much.
    pub(crate) hidden: bool,
}

impl Compared {
    /// Returns true if incomplete units take longer, and incomplete parts of units do not.
    pub(crate) fn confirms(&self) -> bool {
        let whole = self.decision == Decision::Greater && self.ratio >= MATTERS;
        whole && self.part.is_none() && !self.hidden
    }

    /// Returns true if more writes would tell more.
    fn open(&self) -> bool {
        let whole = self.decision == Decision::Greater && self.part.is_none();
        self.decision == Decision::Undecided || whole && self.hidden
    }

    /// Returns the part of the unit that may be the unit, in bytes; none where the whole shows nothing.
    fn part(&self) -> Option<u64> {
        let open = matches!(self.decision, Decision::Greater | Decision::Undecided);
        self.part.filter(|_| open)
    }
}

impl By {
    fn name(self, unit: u64, round: u64) -> String {
        match self {
            By::Latency => format!("whole units of {unit} round {round}"),
            By::Throughput(streams) => {
                format!(
                    "streams of {} whole units of {unit} round {round}",
                    streams.bytes()
                )
            }
        }
    }

    fn rounds(self) -> u64 {
        match self {
            By::Latency => ROUNDS,
            By::Throughput(_) => STREAM_ROUNDS,
        }
    }

    fn pairs(self) -> u64 {
        match self {
            By::Latency => PAIRS,
            By::Throughput(streams) if streams.is_long() => LONG_PAIRS,
            By::Throughput(_) => STREAM_PAIRS,
        }
    }

    fn series(self) -> [Series; 2] {
        match self {
            By::Latency => [WHOLE, SHORT],
            By::Throughput(_) => [STREAM_WHOLE_AGAIN, STREAM_SHORT_AGAIN],
        }
    }
}

/// The most that is written, in bytes.
pub(crate) fn bound(by: By, unit: u64) -> u64 {
    match by {
        By::Latency => ROUNDS * PAIRS * 2 * 2 * unit,
        By::Throughput(streams) => STREAM_ROUNDS * by.pairs() * 2 * 3 * streams.bytes_max(),
    }
}

/// Returns the unit, and its parts that are more than a block.
fn sizes(unit: u64, block: u64) -> Vec<u64> {
    let factors = PAGE_FACTORS.into_iter().chain([7]);
    let parts = factors.filter(|factor| (unit / block).is_multiple_of(*factor));
    let parts = parts
        .map(|factor| unit / factor)
        .filter(|part| *part >= 2 * block);
    std::iter::once(unit).chain(parts).collect()
}

/// Confirms the units that a signal shows, until one holds: each of them, or a part of it that shows as much. Returns it.
pub(crate) fn any(session: &mut Session<'_>, by: By, shown: &[Shown]) -> Result<Option<u64>, Stop> {
    for shown in shown {
        let mut next = Some(shown.bytes);
        while let Some(unit) = next {
            look(session, by, unit)?;
            let seen = compared(session.record(), by, unit);
            if seen.is_some_and(|seen| seen.confirms()) {
                return Ok(Some(unit));
            }
            next = seen.and_then(|seen| seen.part());
        }
    }
    Ok(None)
}

/// Returns the unit that [`any`] confirmed, and the one that showed.
pub(crate) fn confirmed(
    record: &Record,
    by: By,
    shown: &[Shown],
) -> Option<(Shown, u64, Compared)> {
    shown.iter().find_map(|shown| {
        let mut unit = shown.bytes;
        loop {
            let seen = compared(record, by, unit)?;
            if seen.confirms() {
                return Some((*shown, unit, seen));
            }
            unit = seen.part()?;
        }
    })
}

/// Writes until the comparison is settled, or until streams take too long. Does nothing if it was made.
pub(crate) fn look(session: &mut Session<'_>, by: By, unit: u64) -> Result<(), Stop> {
    // In a quick run the longest streams are the usual ones, which may have been written already.
    if compared(session.record(), by, unit).is_some() {
        return Ok(());
    }
    for round in 0..by.rounds() {
        measure(session, by, unit, round)?;
        let seen = compared(session.record(), by, unit);
        if seen.is_some_and(|seen| !seen.open()) {
            break;
        }
    }
    Ok(())
}

/// Writes a round of pairs. Streams end early where they take too long.
fn measure(session: &mut Session<'_>, by: By, unit: u64, round: u64) -> Result<(), Stop> {
    let space = session.space();
    let all = Within {
        start: session.region().start,
        len: space.span(),
    };
    let left = stream::left(session.record());
    session.step(PARAMETER, &by.name(unit, round), |io| {
        let end = io.now() + left;
        let mut window = all;
        for (at, (series, size, pair)) in arms(io, by, unit, space.block_bytes).enumerate() {
            let lacks = if series == series_short(by) {
                space.block_bytes
            } else {
                0
            };
            match by {
                By::Latency => {
                    if at.is_multiple_of(latency::IN_ROW) {
                        window = all.window(io);
                    }
                    let (offset, len) = window.place(io, size, lacks);
                    io.write_flush(offset, len)?;
                }
                By::Throughput(_) if io.now() >= end => return Ok(()),
                By::Throughput(streams) => {
                    let [untimed, count] = streams.writes(size - lacks);
                    let list: Vec<(u64, u64)> = (0..untimed + count)
                        .map(|_| all.place(io, size, lacks))
                        .collect();
                    let (before, timed) = list.split_at(untimed);
                    io.write_queued(before, DEPTH)?;
                    io.write_queued(timed, DEPTH)?;
                }
            }
            io.sample(series, size, (round * by.pairs() + pair) as u32);
        }
        Ok(())
    })
}

/// Returns the series, the size and the pair of each comparison of a round, shuffled within each pair.
fn arms(
    io: &mut Io<'_>,
    by: By,
    unit: u64,
    block: u64,
) -> impl Iterator<Item = (Series, u64, u64)> + use<> {
    let mut all = Vec::new();
    for pair in 0..by.pairs() {
        let series = by.series();
        let arms = sizes(unit, block)
            .into_iter()
            .flat_map(|size| series.map(|series| (series, size, pair)));
        let mut arms: Vec<_> = arms.collect();
        io.rng.shuffle(&mut arms);
        all.extend(arms);
    }
    all.into_iter()
}

fn series_short(by: By) -> Series {
    by.series()[1]
}

/// A part of the region.
#[derive(Clone, Copy)]
struct Within {
    start: u64,
    len: u64,
}

impl Within {
    /// Draws a window, in which log blocks take many writes with one merge.
    fn window(self, io: &mut Io<'_>) -> Within {
        let len = latency::WINDOW.min(self.len);
        let windows = (self.len / len).max(1);
        Within {
            start: self.start + io.rng.below(windows) * len,
            len,
        }
    }

    /// Draws a unit, without a block at its beginning or its end.
    fn place(self, io: &mut Io<'_>, size: u64, lacks: u64) -> (u64, u64) {
        let first = self.start.next_multiple_of(size);
        let places = (self.start + self.len).saturating_sub(first) / size;
        let after = if io.rng.chance(0.5) { lacks } else { 0 };
        (
            first + io.rng.below(places.max(1)) * size + after,
            size - lacks,
        )
    }
}

/// Returns the result of the comparison; `None` if it was not made.
pub(crate) fn compared(record: &Record, by: By, unit: u64) -> Option<Compared> {
    let block = Space::of(record).block_bytes;
    let one = |size, confidence| test(record, by, unit, size, confidence);
    let whole = one(unit, CONFIDENCE)?;
    let parts: Vec<(u64, Separation)> = (sizes(unit, block).into_iter().skip(1))
        .filter_map(|part| Some((part, one(part, LESS)?)))
        .collect();
    let logs = parts.iter().map(|(part, seen)| (*part, seen.ratio.ln()));
    let most = PART * whole.ratio.max(1.0).ln();
    let telling = logs.filter(|(_, log)| *log > most);
    Some(Compared {
        ratio: whole.ratio,
        decision: whole.decision,
        part: telling
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(part, _)| part),
        hidden: (parts.iter()).any(|(_, seen)| seen.interval.high >= whole.ratio),
    })
}

fn test(record: &Record, by: By, unit: u64, size: u64, confidence: f64) -> Option<Separation> {
    let times = |series: Series| -> Vec<f64> {
        let steps = (0..by.rounds()).filter_map(|r| of_step(record, PARAMETER, &by.name(unit, r)));
        let chosen = steps
            .flatten()
            .filter(|s| s.series == series && s.x == size);
        let len = if series == series_short(by) {
            size - Space::of(record).block_bytes
        } else {
            size
        };
        chosen
            .map(|s| s.ns as f64 * len as f64 / s.bytes.max(1) as f64)
            .collect()
    };
    let [whole, short] = by.series().map(times);
    separate(&short, &whole, confidence, EQUAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_more_than_a_block() {
        assert_eq!(sizes(16 << 10, 512), [16 << 10, 8 << 10]);
        assert_eq!(sizes(12 << 10, 4096), [12 << 10]);
        assert_eq!(
            sizes(60 << 10, 512),
            [60 << 10, 30 << 10, 20 << 10, 12 << 10]
        );
        assert_eq!(sizes(1024, 512), [1024]);
    }

    #[test]
    fn a_unit_is_confirmed_if_it_matters_and_its_parts_do_not() {
        let of = |ratio, decision, part| Compared {
            ratio,
            decision,
            part,
            hidden: false,
        };
        assert!(of(1.2, Decision::Greater, None).confirms());
        assert!(!of(1.2, Decision::Greater, Some(4096)).confirms());
        assert!(!of(1.005, Decision::Greater, None).confirms());
        assert!(!of(1.2, Decision::Undecided, None).confirms());
        // Noise leaves it open that a quarter shows as much.
        let hidden = Compared {
            hidden: true,
            ..of(1.2, Decision::Greater, None)
        };
        assert!(!hidden.confirms() && hidden.open());
        assert!(!of(1.2, Decision::Greater, None).open());
    }
}

//! Streams of small writes without flushes, across multiples of a size and elsewhere, for drives whose memory takes flushed
//! writes.
//!
//! Memory that survives a power cut hides how long a single write takes. Once it is full it takes writes only as fast as the
//! flash does, and a write that lies in two units counts twice in the time of a stream. [`multiples`] finds the unit that
//! explains the times of the streams across multiples of all sizes. The sizes that best distinguish the two best units are
//! measured next.

use super::pairs::{PAIRS, Stream, spent_ns};
use super::straddle;
use crate::{Record, Series, Session, Space, Stop};
use fathom_stats::location;
use fathom_stats::multiples::{self, Fit, Seen};
use fathom_stats::separate::{Decision, Separation, separate};
use std::collections::BTreeMap;
use std::ops::Range;

/// The sizes that are measured first, in bytes: nearly any unit divides one of them.
const BASES: [u64; 5] = [256 << 10, 192 << 10, 160 << 10, 224 << 10, 240 << 10];
/// The most rounds of all sizes together, and of the unit when it is confirmed.
const ROUNDS: u32 = 16;
const ROUNDS_AGAIN: u32 = 4;
/// The length of a stream in bytes, and the least in writes. As many writes go before it, so that memory holds nothing of
/// another stream. Longer streams are tried if nothing shows.
const LENGTHS: [u64; 4] = [256 << 10, 1 << 20, 4 << 20, 8 << 20];
const WRITES_MIN: u64 = 256;
/// The time on the drive's clock after which no more is measured, in nanoseconds. Each write into log blocks may take a
/// merge.
const LONG_NS: u64 = 1_800_000_000_000;
/// The least share by which writes across the ends of a unit take longer, and the most that a second unit can cost.
const LONGER: Range<f64> = 0.1..1.3;
/// The error of the streams of one size from other causes, as a share of the largest difference.
const ERROR: f64 = 0.15;
/// The ratio of the standard errors of the median and the mean of normal values.
const MEDIAN_ERROR: f64 = 1.253;
/// By how much a unit must fit better than no unit, and better than any other one.
const CLEAR: f64 = 36.0;
const LEAD: f64 = 16.0;
/// The weight of another round of a measured size, relative to a round of a new size.
const KNOWN: f64 = 0.5;
/// The largest misfit of a unit, in squared errors per size.
const MISFIT: f64 = 2.5;
/// The confidence with which a unit must show again, and the difference below which times count as equal.
const CONFIDENCE: f64 = 0.999;
const NONE: f64 = 0.02;

/// A unit that streams show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// How many times as long writes across its ends take.
    pub(crate) ratio: f64,
}

/// The next action, computed from the record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    /// One more round of this stream is needed.
    Measure(Stream),
    /// Everything needed is measured.
    Done(Option<Shown>),
}

/// The result of the streams of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Nothing,
    /// Two units fit. Streams at multiples of this size distinguish them.
    Between(u64),
    Unit(u64),
    /// The streams differ, but no unit explains how.
    Other,
}

/// Measures until a unit shows twice, or none does.
pub(crate) fn look(session: &mut Session<'_>) -> Result<(), Stop> {
    while let Next::Measure(stream) = next(session.record()) {
        if spent_ns(session.record()) > LONG_NS {
            break;
        }
        stream.measure(session)?;
    }
    Ok(())
}

/// Returns the unit that streams show.
pub(crate) fn shown(record: &Record) -> Option<Shown> {
    let most = straddle::largest(&Space::of(record));
    match next(record) {
        // A larger size may be a block.
        Next::Done(shown) => shown.filter(|shown| shown.bytes <= most),
        Next::Measure(..) => None,
    }
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    let all: u64 = lengths(space).iter().sum();
    let rounds = u64::from(ROUNDS + ROUNDS_AGAIN);
    rounds * all * u64::from(PAIRS) * 4 * 2 * space.block_bytes
}

/// Returns the lengths of the streams that are tried in turn, in writes.
fn lengths(space: &Space) -> Vec<u64> {
    let writes = LENGTHS.map(|bytes| (bytes / (2 * space.block_bytes)).max(WRITES_MIN));
    let mut writes = writes.to_vec();
    writes.dedup();
    writes
}

/// Returns those of some sizes whose multiples leave room for streams.
fn room(space: &Space, sizes: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let (block, span) = (space.block_bytes, space.span());
    let fits = |size: &u64| size.is_multiple_of(block) && *size >= 2 * block && 8 * size <= span;
    sizes.into_iter().filter(fits).collect()
}

/// Returns all sizes that a unit may have, including those that are measured first.
fn sizes(space: &Space) -> Vec<u64> {
    let mut sizes = room(space, BASES.into_iter().chain(straddle::sizes(space)));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Returns the sizes that are measured. Streams across multiples of larger ones would return to a few places.
fn measured(space: &Space) -> Vec<u64> {
    let most = straddle::largest(space);
    let sizes = sizes(space).into_iter();
    sizes.filter(|size| *size <= most).collect()
}

fn next(record: &Record) -> Next {
    let space = Space::of(record);
    for writes in lengths(&space) {
        let stream = |size| Stream {
            size,
            writes,
            again: false,
        };
        for base in room(&space, BASES) {
            if stream(base).rounds(record) == 0 {
                return Next::Measure(stream(base));
            }
        }
        match found(record, writes) {
            Found::Unit(size) => return again(record, stream(size)),
            Found::Between(size) => return Next::Measure(stream(size)),
            // Memory that holds more than a stream hides a part of it, so longer streams are tried next.
            Found::Other | Found::Nothing => {}
        }
    }
    Next::Done(None)
}

/// Returns the unit that explains the streams of one length.
fn found(record: &Record, writes: u64) -> Found {
    let sizes = sizes(&Space::of(record));
    let (seen, rounds) = seen(record, writes);
    let fits = multiples::fits(&seen, &sizes, LONGER.end);
    let [first, second, ..] = fits[..] else {
        return Found::Nothing;
    };
    if multiples::misfit_of_none(&seen) - first.misfit < CLEAR || first.longer < LONGER.start {
        // A unit that showed in the first streams, but no longer with more of them, does not count.
        let first_looks = room(&Space::of(record), BASES).len() as u32;
        return if rounds > first_looks {
            Found::Other
        } else {
            Found::Nothing
        };
    }
    if second.misfit - first.misfit >= LEAD {
        let fair = first.misfit <= MISFIT * seen.len() as f64;
        return if fair {
            Found::Unit(first.size)
        } else {
            Found::Other
        };
    }
    if rounds >= ROUNDS {
        return Found::Other;
    }
    let sizes = measured(&Space::of(record));
    telling(&sizes, &seen, &first, &second).map_or(Found::Other, Found::Between)
}

/// Returns the size at whose multiples the predictions of two units differ most. A new size tells more than a measured one.
fn telling(sizes: &[u64], seen: &[Seen], a: &Fit, b: &Fit) -> Option<u64> {
    let differ = |size: u64| {
        let known = seen.iter().any(|s| s.size == size);
        (a.at(size) - b.at(size)).abs() * if known { KNOWN } else { 1.0 }
    };
    let sizes = sizes.iter().copied();
    sizes.max_by(|&x, &y| differ(x).total_cmp(&differ(y)))
}

/// Returns how much longer streams of one length take at multiples of each measured size, and the number of rounds.
fn seen(record: &Record, writes: u64) -> (Vec<Seen>, u32) {
    let sizes = measured(&Space::of(record));
    let mut measured = BTreeMap::new();
    let mut rounds = 0;
    for size in sizes {
        let stream = Stream {
            size,
            writes,
            again: false,
        };
        let logs = stream.logs(record);
        if let Some(middle) = location::median(&logs) {
            rounds += stream.rounds(record);
            measured.insert(size, (middle, logs));
        }
    }
    // A single size has too few values to estimate their scatter, so the values of all sizes are pooled.
    let about = measured
        .values()
        .flat_map(|(middle, logs)| logs.iter().map(move |log| log - middle));
    let scatter = location::mad(&about.collect::<Vec<f64>>()).unwrap_or(0.0);
    let largest = measured.values().map(|(middle, _)| middle.exp_m1());
    let least = ERROR * largest.fold(LONGER.start, f64::max);
    let one = |(&size, (middle, logs)): (&u64, &(f64, Vec<f64>))| Seen {
        size,
        longer: middle.exp_m1(),
        error: least.hypot(MEDIAN_ERROR * scatter / (logs.len() as f64).sqrt()),
    };
    (measured.iter().map(one).collect(), rounds)
}

/// Confirms a unit with new streams.
fn again(record: &Record, stream: Stream) -> Next {
    let stream = Stream {
        again: true,
        ..stream
    };
    let times = |series| -> Vec<f64> { stream.times(record, series).into_values().collect() };
    let (across, within) = (times(Series::STREAM_ACROSS), times(Series::STREAM_WITHIN));
    let test = separate(&across, &within, CONFIDENCE, NONE);
    let greater = |t: &Separation| t.decision == Decision::Greater && t.ratio >= 1.0 + LONGER.start;
    let shown = test.filter(greater);
    if shown.is_none() && stream.rounds(record) < ROUNDS_AGAIN {
        return Next::Measure(stream);
    }
    Next::Done(shown.map(|test| Shown {
        bytes: stream.size,
        ratio: test.ratio,
    }))
}

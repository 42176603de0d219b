//! Streams of random overwrites at depth 32, without flushes: their throughput shows a unit even if protected memory answers
//! every write.
//!
//! Once memory is full it takes writes only as fast as the flash array does, which completes every partly written unit. A
//! stream begins with as many writes that are not timed, so that memory holds nothing of another stream.

use super::model::{self, Row, Scale, Shown, lengths};
use super::series::{STREAM_ALIGNED, STREAM_SHIFTED, STREAM_SHORT};
use crate::record::Level;
use crate::robust::samples::of_step;
use crate::{Io, Parameter, Record, Series, Session, Space, Stop};
use fathom_base::Dur;
use fathom_stats::location;
use std::collections::BTreeMap;

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// The number of writes in flight.
pub(crate) const DEPTH: u32 = 32;
/// The bytes of a stream, tried in turn, and those before them that are not timed; the least and the most writes of one.
const BYTES: [u64; 3] = [1 << 20, 8 << 20, 12 << 20];
const BEFORE: [u64; 3] = [1 << 20, 8 << 20, 40 << 20];
const WRITES: std::ops::RangeInclusive<u64> = 32..=16_384;
/// The lengths of writes in streams beyond the memory of most drives, in bytes.
const LONG_BYTES: u64 = 8 << 20;
const LONG_MAX: u64 = 96 << 10;
/// The rounds of each.
const ROUNDS: u64 = 2;
/// The parts in which a stream is timed: a garbage collection lengthens only one of them.
const PARTS: usize = 8;
/// The time on the drive's clock that streams may take: they take hours where each write costs a merge.
const LONG: Dur = Dur::ms(120_000);

/// Streams of one length, by the index in [`BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streams(usize);

impl Streams {
    /// All lengths that are tried, in turn.
    fn all(space: &Space) -> impl Iterator<Item = Streams> + use<> {
        let most = match space.level {
            Level::Quick => 1,
            Level::Full => BYTES.len(),
        };
        (0..most).map(Streams)
    }

    pub(crate) fn bytes(self) -> u64 {
        BYTES.get(self.0).copied().unwrap_or(BYTES[0])
    }

    /// Returns true if the writes before those that are timed fill the memory of most drives.
    pub(crate) fn is_long(self) -> bool {
        self.bytes() > LONG_BYTES
    }

    /// Returns the most bytes of one stream, with the writes that are not timed.
    pub(crate) fn bytes_max(self) -> u64 {
        let least = *WRITES.start() * model::LARGEST;
        self.bytes().max(least) + self.before_bytes().max(least)
    }

    fn before_bytes(self) -> u64 {
        BEFORE.get(self.0).copied().unwrap_or(BEFORE[0])
    }

    /// Returns the numbers of writes of a length that are not timed, and that are.
    pub(crate) fn writes(self, len: u64) -> [usize; 2] {
        let count = |bytes: u64| (bytes / len.max(1)).clamp(*WRITES.start(), *WRITES.end());
        [self.before_bytes(), self.bytes()].map(|bytes| count(bytes) as usize)
    }

    fn name(self, round: u64) -> String {
        format!("streams of {} round {round}", self.bytes())
    }

    fn measure(self, session: &mut Session<'_>, round: u64) -> Result<(), Stop> {
        let space = session.space();
        let start = session.region().start;
        let left = left(session.record());
        session.step(PARAMETER, &self.name(round), |io| {
            let mut arms = self.arms(&space);
            io.rng.shuffle(&mut arms);
            let end = io.now() + left;
            for (series, size) in arms {
                if io.now() >= end {
                    break;
                }
                let list = self.list(io, &space, start, series, size);
                let (_, len) = form(series, size, space.block_bytes);
                let (before, timed) = list.split_at(self.writes(len)[0]);
                io.write_queued(before, DEPTH)?;
                for part in timed.chunks(timed.len().div_ceil(PARTS)) {
                    io.write_queued(part, DEPTH)?;
                    io.sample(series, size, round as u32);
                }
            }
            Ok(())
        })
    }

    fn arms(self, space: &Space) -> Vec<(Series, u64)> {
        let most = if self.is_long() { LONG_MAX } else { u64::MAX };
        let sizes = lengths(space).into_iter();
        let sizes = sizes.filter(|size| *size >= 2 * space.block_bytes && *size <= most);
        let series = [STREAM_ALIGNED, STREAM_SHIFTED, STREAM_SHORT];
        sizes
            .flat_map(|size| series.map(|series| (series, size)))
            .collect()
    }

    fn list(
        self,
        io: &mut Io<'_>,
        space: &Space,
        start: u64,
        series: Series,
        size: u64,
    ) -> Vec<(u64, u64)> {
        let (shift, len) = form(series, size, space.block_bytes);
        let first = start.next_multiple_of(size);
        let places = ((start + space.span() - first) / size)
            .saturating_sub(1)
            .max(1);
        let count: usize = self.writes(len).iter().sum();
        (0..count)
            .map(|_| (first + io.rng.below(places) * size + shift, len))
            .collect()
    }

    fn rows(self, record: &Record) -> Vec<Row> {
        let block = Space::of(record).block_bytes;
        let mut parts = BTreeMap::<(Series, u64, u32), Vec<f64>>::new();
        let steps = (0..ROUNDS).filter_map(|r| of_step(record, PARAMETER, &self.name(r)));
        for s in steps.flatten() {
            let (_, len) = form(s.series, s.x, block);
            let ns = s.ns as f64 * len as f64 / s.bytes.max(1) as f64;
            parts.entry((s.series, s.x, s.rep)).or_default().push(ns);
        }
        let row = |((series, size, _), times): ((Series, u64, u32), Vec<f64>)| {
            let (first, len) = form(series, size, block);
            let stride = size;
            let ns = location::median(&times)?;
            Some(Row {
                level: size,
                first,
                stride,
                len,
                ns,
            })
        };
        parts.into_iter().filter_map(row).collect()
    }
}

/// Returns the shift and the length of the writes of a series.
fn form(series: Series, size: u64, block: u64) -> (u64, u64) {
    match series {
        s if s == STREAM_SHIFTED => (size / 2 / block * block, size),
        s if s == STREAM_SHORT => (0, size - block),
        _ => (0, size),
    }
}

/// Returns the time on the drive's clock that streams may still take.
pub(crate) fn left(record: &Record) -> Dur {
    let steps = record.steps.iter();
    let streams = steps.filter(|s| s.parameter == PARAMETER && s.name.starts_with("streams"));
    let past_ns = streams.map(|step| step.cost.device_ns).sum();
    LONG - Dur(past_ns)
}

/// Writes streams, longer ones in turn, until a unit shows clearly; those beyond the memory of most drives only if asked for.
pub(crate) fn look(session: &mut Session<'_>, long: bool) -> Result<(), Stop> {
    let all = Streams::all(&session.space());
    for streams in all.filter(|streams| long || !streams.is_long()) {
        for round in 0..ROUNDS {
            if left(session.record()) == Dur::ZERO {
                return Ok(());
            }
            streams.measure(session, round)?;
        }
        if !shown(session.record()).1.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Returns the units that streams show clearly, and the length of the streams that show them first.
pub(crate) fn shown(record: &Record) -> (Streams, Vec<Shown>) {
    let space = Space::of(record);
    let all = Streams::all(&space).map(|streams| {
        let shown = model::explain(&streams.rows(record), Scale::Logs, &space);
        (streams, shown)
    });
    let mut telling = all.filter(|(_, shown)| !shown.is_empty());
    telling.next().unwrap_or((Streams(0), Vec::new()))
}

/// Returns the streams with which a unit is compared that single writes show.
pub(crate) fn usual(space: &Space) -> Streams {
    Streams::all(space).nth(1).unwrap_or(Streams(0))
}

/// Returns the longest streams.
pub(crate) fn longest(space: &Space) -> Streams {
    Streams::all(space).last().unwrap_or(Streams(0))
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    let each = |streams: Streams| {
        let arms = streams.arms(space);
        let stream = |&(series, size): &(Series, u64)| {
            let (_, len) = form(series, size, space.block_bytes);
            len * streams.writes(len).iter().sum::<usize>() as u64
        };
        ROUNDS * arms.iter().map(stream).sum::<u64>()
    };
    Streams::all(space).map(each).sum()
}

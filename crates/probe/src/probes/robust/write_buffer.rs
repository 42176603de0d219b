//! The write buffer (`parameter-aware-io` 4.2.6): the largest write that an empty buffer takes at the speed of the
//! link.
//!
//! A buffer is there if a flush after a small write takes time that the write did not. Then the size of a single
//! write into the flushed buffer grows until its time leaves the line that the smaller ones lie on, and the edge is
//! halved down. Where a flush costs nothing after any write, data is safe in memory or in the flash: a long run of
//! writes tells which, by getting slower or not. A drive that drains nearly as fast as the link fills has no edge
//! but a bend; it is placed by a broken line through sizes around it.

use super::{at, identified, prepare, size, sizes, without};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Io, Session, Stop};
use crate::solve::change::trend_change;
use crate::solve::robust;
use crate::solve::separate::separate;

const PARAMETER: Parameter = Parameter::WriteBuffer;
const REPS: u32 = 7;
const SMALL_REPS: u32 = 16;
const LARGEST: u64 = 32 << 20;
/// A write is slow when it takes this much longer than the line foretells, beyond the noise.
const SLOW: f64 = 0.04;
/// The same for writes that are long against the overhead of a command, whose line is straighter.
const SLOW_LONG: f64 = 0.002;
/// Sizes closer than this share of the capacity are not told apart.
const RESOLUTION: u64 = 512;
/// Sizes measured around a bend.
const BEND_SIZES: u64 = 32;
/// Further sizes that are set aside for, reckoned as the largest; most lie far below.
const SIZES_WORTH: u64 = 8;
/// A bend whose place is known no better than this share is not identified.
const BEND_SHARE: f64 = 0.3;
/// The run of writes for memory that a flush does not drain, in bytes.
const RUN_BYTES: u64 = 128 << 20;
const RUN_WRITE: u64 = 128 << 10;

pub(super) struct WriteBuffer;

impl WriteBuffer {
    fn grid(space: &Space) -> Vec<u64> {
        space.half_octaves(LARGEST.min(space.span() / 8))
    }

    /// Flushes of nothing (`x` = 0) and of one small write.
    fn small(&self, session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        session.step(PARAMETER, "small", |io| {
            io.flush()?;
            for rep in 0..SMALL_REPS {
                io.flush()?;
                io.sample(Series::FlushAfter, 0, rep);
                let place = random_place(io, span, len);
                io.write(start + place, len)?;
                io.flush()?;
                io.sample(Series::FlushAfter, len, rep);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn measure(&self, session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        session.step(PARAMETER, &format!("empty {len}"), |io| {
            for rep in 0..REPS {
                io.flush()?;
                let place = random_place(io, span, len);
                io.write(start + place, len)?;
                io.sample(Series::EmptyBuffer, len, rep);
            }
            io.flush()?;
            Ok(())
        })?;
        Ok(())
    }

    /// Halves the gap between the largest fast size and the smallest slow one, if there is one.
    fn halve(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = Space::from(&*session);
        while let Some((fast, Some(slow))) = edge(session.record()) {
            let finest = space.round_up(fast / RESOLUTION);
            let middle = space.round_down((fast + slow) / 2);
            if slow - fast <= finest || middle <= fast || middle >= slow {
                break;
            }
            self.measure(session, middle)?;
        }
        Ok(())
    }

    /// Sizes around a bend, evenly.
    fn bend(&self, session: &mut Session<'_>, fast: u64) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let (from, to) = (fast / 4, (fast * 2).min(space.span() / 4));
        let measured = sizes(session.record(), PARAMETER, Series::EmptyBuffer);
        for i in 0..=BEND_SIZES {
            let len = space.round_down(from + (to - from) / BEND_SIZES * i);
            if !measured.contains(&len) {
                self.measure(session, len)?;
            }
        }
        Ok(())
    }

    /// One write after another without a flush, until memory of any usual size is full.
    fn sustained(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        let len = Space::from(&*session).round_up(RUN_WRITE);
        let most = RUN_BYTES.min(span / 2) / len;
        session.step(PARAMETER, "sustained", |io| {
            io.flush()?;
            io.idle(fathom_base::Dur::ms(500))?;
            for i in 0..most {
                io.write(start + i * len, len)?;
                io.sample(Series::FullBuffer, len, i as u32);
            }
            io.flush()?;
            Ok(())
        })?;
        Ok(())
    }
}

/// A random place for `len` bytes on a boundary of 1 MiB, in bytes from the start of the span.
fn random_place(io: &mut Io<'_>, span: u64, len: u64) -> u64 {
    let places = (span - len) >> 20;
    io.rng.below(places.max(1)) << 20
}

fn small_len(record: &Record) -> Option<u64> {
    sizes(record, PARAMETER, Series::FlushAfter)
        .last()
        .copied()
        .filter(|len| *len > 0)
}

/// Whether a flush after a small write takes longer than one of nothing; `None` before that was measured.
fn flush_drains(record: &Record) -> Option<bool> {
    let len = small_len(record)?;
    let (after, nothing) = (
        at(record, PARAMETER, Series::FlushAfter, len),
        at(record, PARAMETER, Series::FlushAfter, 0),
    );
    let test = separate(&after, &nothing, 0.99, 0.2)?;
    Some(test.interval.low > 1.2)
}

/// Median times of writes into the flushed buffer, by size.
fn curve(record: &Record) -> Vec<(u64, f64)> {
    let sizes = sizes(record, PARAMETER, Series::EmptyBuffer).into_iter();
    sizes
        .filter_map(|len| {
            Some((
                len,
                robust::median(&at(record, PARAMETER, Series::EmptyBuffer, len))?,
            ))
        })
        .collect()
}

/// The largest size on the line of the smaller ones and the smallest off it.
fn edge(record: &Record) -> Option<(u64, Option<u64>)> {
    let curve = curve(record);
    let mut fast: Vec<(f64, f64)> = Vec::new();
    let mut largest = 0;
    for &(len, ns) in &curve {
        if fast.len() >= 3 && is_slow(record, &fast, len, ns) {
            return Some((largest, Some(len)));
        }
        fast.push((len as f64, ns));
        largest = len;
    }
    (largest > 0).then_some((largest, None))
}

/// Whether a time lies above the line through the faster, smaller writes by more than the noise.
fn is_slow(record: &Record, fast: &[(f64, f64)], len: u64, ns: f64) -> bool {
    // A write that is sent in pieces lies on a line of its own.
    let longest = record.meta.target.max_request_bytes as f64;
    let pieces = |len: f64| (len / longest).ceil().max(1.0);
    let whole = pieces(len as f64) <= 1.0;
    let mut alike: Vec<(f64, f64)> = fast.to_vec();
    alike.retain(|(size, _)| (pieces(*size) <= 1.0) == whole);
    let overhead = fast.first().map_or(0.0, |f| f.1);
    // A last piece that is not full may cost a command of its own.
    let odd = !whole && !(len as f64 / longest).fract().eq(&0.0);
    let (line, allowance) = match (
        alike.len() >= 3,
        robust::theil_sen(&alike),
        robust::theil_sen(fast),
    ) {
        (true, Some(line), _) => (line, if odd { overhead } else { 0.0 }),
        // The first writes in pieces: each may pay the overhead of a command.
        (_, _, Some(line)) => (line, overhead * (pieces(len as f64) - 1.0)),
        _ => return false,
    };
    let foretold = (line.intercept + line.slope * len as f64).max(1.0);
    let noise = robust::mad_sigma(&at(record, PARAMETER, Series::EmptyBuffer, len)).unwrap_or(0.0);
    let error = (4.0 * noise / f64::from(REPS).sqrt()).min(0.5 * foretold);
    ns > foretold + allowance + tolerance(overhead, foretold) + error
}

/// What a time may differ from the line, in nanoseconds.
fn tolerance(overhead: f64, foretold: f64) -> f64 {
    (SLOW * foretold).min(SLOW * overhead + SLOW_LONG * foretold)
}

/// Whether the time jumps at the edge, rather than bending there.
fn is_sharp(record: &Record, fast: u64, slow: u64) -> bool {
    let curve = curve(record);
    let time = |len| {
        curve
            .iter()
            .find(|(l, _)| *l == len)
            .map_or(0.0, |(_, ns)| *ns)
    };
    let overhead = curve.first().map_or(0.0, |(_, ns)| *ns);
    // Over so short a way the line itself rises by next to nothing.
    time(slow) > time(fast) + tolerance(overhead, time(fast))
}

/// The place of a bend: the last size on the first line, and the sizes that it may be as well.
fn bend(record: &Record) -> Option<(u64, u64, u64)> {
    let curve = curve(record);
    let largest = curve.last()?.0;
    let around: Vec<(u64, f64)> = curve
        .into_iter()
        .filter(|(len, _)| *len * 10 >= largest)
        .collect();
    let x: Vec<f64> = around.iter().map(|(len, _)| *len as f64).collect();
    let y: Vec<f64> = around.iter().map(|(_, ns)| *ns).collect();
    let change = trend_change(&x, &y).filter(|c| c.is_clear())?;
    let (low, high) = (change.range.start().checked_sub(1)?, *change.range.end());
    Some((around[change.at - 1].0, around[low].0, around[high].0))
}

impl Probe for WriteBuffer {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: true,
            prepared: true,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        let grid: u64 = Self::grid(space).iter().sum();
        let most = Self::grid(space).last().copied().unwrap_or(0);
        RUN_BYTES
            + (grid + SIZES_WORTH * most) * u64::from(REPS)
            + u64::from(SMALL_REPS) * (1 << 20)
    }

    fn expected(&self, _: &Space) -> u64 {
        2 * RUN_BYTES
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let space = Space::from(&*session);
        self.small(session, space.round_up(4 << 10))?;
        if flush_drains(session.record()) != Some(true) {
            return self.sustained(session);
        }
        for len in Self::grid(&space) {
            self.measure(session, len)?;
            self.halve(session)?;
            // An edge that more sizes did not confirm was noise: go on.
            if edge(session.record()).is_some_and(|(_, slow)| slow.is_some()) {
                break;
            }
        }
        match edge(session.record()) {
            Some((fast, Some(slow))) if !is_sharp(session.record(), fast, slow) => {
                self.bend(session, fast)
            }
            _ => Ok(()),
        }
    }

    fn solve(&self, record: &Record) -> Estimate {
        match flush_drains(record) {
            None => without(
                PARAMETER,
                Verdict::Inconclusive,
                "the flush was not measured",
            ),
            Some(false) => solve_sustained(record),
            Some(true) => solve_edge(record),
        }
    }
}

fn solve_edge(record: &Record) -> Estimate {
    let block = u64::from(record.meta.target.logical_block_bytes);
    match edge(record) {
        Some((fast, Some(slow))) if !is_sharp(record, fast, slow) => solve_bend(record),
        Some((fast, Some(slow))) if fast > 0 && curve(record).len() > 4 => {
            let reason = format!(
                "a write of {fast} into the flushed buffer takes the link's time, one of {slow} waits for the flash",
                fast = size(fast),
                slow = size(slow)
            );
            identified(PARAMETER, Value::Bytes(fast), reason).between(fast, slow - block)
        }
        Some((largest, None)) => {
            let reason = format!(
                "every write up to {largest} is taken at the link's speed: the buffer is larger",
                largest = size(largest)
            );
            without(PARAMETER, Verdict::NotIdentifiable, reason)
        }
        _ => without(
            PARAMETER,
            Verdict::Inconclusive,
            "there are too few sizes below the edge",
        ),
    }
}

fn solve_bend(record: &Record) -> Estimate {
    match bend(record) {
        Some((len, low, high)) if (high - low) as f64 <= BEND_SHARE * len as f64 => {
            let reason = format!(
                "the time of a write into the flushed buffer bends at about {len}: from there on it waits for the flash",
                len = size(len)
            );
            identified(PARAMETER, Value::Bytes(len), reason).between(low, high)
        }
        Some((_, low, high)) => {
            let reason = format!(
                "the time of a write bends somewhere from {low} to {high}: the drive drains nearly as fast as the link fills",
                high = size(high),
                low = size(low)
            );
            without(PARAMETER, Verdict::Inconclusive, reason)
        }
        None => without(
            PARAMETER,
            Verdict::Inconclusive,
            "large writes take longer than small ones foretell, with neither an edge nor a bend",
        ),
    }
}

fn solve_sustained(record: &Record) -> Estimate {
    let run: Vec<&crate::record::Sample> = record.series(PARAMETER, Series::FullBuffer).collect();
    let latencies: Vec<f64> = run.iter().map(|s| s.ns as f64).collect();
    let change = crate::solve::change::level_change(&robust::logs(&latencies));
    let slower = change.filter(|c| c.is_clear() && c.after - c.before > 0.4);
    match slower {
        Some(change) => {
            let bytes: u64 = run[..change.at].iter().map(|s| s.bytes).sum();
            let reason = format!(
                "flushes cost nothing, and a run of writes slows down after {bytes}: memory that survives a power cut, which is drained while it fills",
                bytes = size(bytes)
            );
            without(PARAMETER, Verdict::NotIdentifiable, reason)
                .figure("slower_after_bytes", bytes as f64)
        }
        None => without(
            PARAMETER,
            Verdict::Absent,
            "a flush after a write costs no more than one of nothing, and a long run of writes does not slow down",
        ),
    }
}

//! The aligned write size at which random and sequential throughput meet, found with few bytes: what the clustered
//! block and the logical block have in common.
//!
//! First the curve of sequential writes, then random writes of growing size until they cost what sequential ones
//! cost; sizes between powers of two only where the costs come near. Last, the same size shifted by half: on a
//! drive that maps by blocks it must cost more. On one that maps by pages it does not, and there is no such size.
//!
//! A drive with log blocks carries the past with it: a write pays for the log block that an earlier write has left.
//! Before every curve the log blocks are therefore *parked*: one small write to each of many places at the end of
//! the span, which the curves do not touch. A write of a whole block then gives up no log block but its own, and any
//! smaller one pays from the first write on, so that few bytes tell. The batches of one size follow without parking
//! again, and the last one counts: a drive with several independent sets of log blocks pays once for each.
//!
//! Where random writes cost nothing more at any size, and a flush costs nothing either, memory that survives a power
//! cut may take them all; then everything is measured once more under *pressure*, with more written before and in
//! every sample than such memory holds.

mod judge;

use judge::{flush_costs, spread};

use crate::probes::Space;
use crate::profile::Parameter;
use crate::record::{Series, Timed};
use crate::session::{Io, Session, Stop};
use crate::solve::equivalence::Status;

/// For which parameter, and how the writes are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) parameter: Parameter,
    /// A flush after every write (Procedure 2), or after every half mebibyte (`greedy-space` IV.A flushes never,
    /// and takes a gigabyte for that not to matter).
    pub(super) flushed: bool,
}

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// The smallest write, in bytes; every size is a multiple of it.
    pub(super) unit: u64,
    /// Sizes below are not tried, in bytes.
    pub(super) from: u64,
    /// Sizes above are not tried, in bytes.
    pub(super) upto: u64,
}

/// Two costs within this share of each other have met.
const MARGIN: f64 = 0.06;
/// Samples of one batch of random writes, and batches at one size.
const BATCH: u64 = 16;
const BATCHES_MAX: u32 = 5;
/// A batch that costs less than this share of the one before shows that the drive is not steady yet.
const STEADY: f64 = 0.93;
/// Repetitions are numbered from here on under pressure, so that the two are never mixed.
const PRESSED: u32 = 4_096;
/// Bytes written before a batch under pressure, and in each of its samples.
const PRESSURE: (u64, u64) = (32 << 20, 4 << 20);
/// A shifted write that takes so many times the typical aligned one has paid for a merge; alignment matters where so
/// large a share of them has.
const SLOW: f64 = 1.25;
const SLOW_SHARE: f64 = 0.25;
/// A block has so many units and bytes at least (64 pages of 4 KiB): below, a shift tells of units and stripes.
const UNITS_MIN: u64 = 8;
const BLOCK_MIN: u64 = 256 << 10;
/// Writes before those that are sampled: the first pays for the log block that it takes.
const WARM_UP: u64 = 3;
/// Places that hold the log blocks before each curve: more than a drive has log blocks.
const PARKED: u64 = 64;
/// Written in order after the first parking, in bytes: past a block of each of many sets.
const SETTLE_BYTES: u64 = 256 << 20;
const PARK: &str = "park";
/// A unit that parking is reckoned with, in bytes.
const UNIT_TYPICAL: u64 = 128 << 10;
/// Random writes that are set aside for, reckoned as the largest: most of those of a search lie far below. And those of a
/// drive that gives an answer.
const RANDOM_WORTH: u64 = 300;
const RANDOM_TYPICAL: u64 = 20;
/// Bytes of the sequential measurement at one size, and samples at least and at most.
const SEQUENTIAL_BYTES: u64 = 24 << 20;
const SEQUENTIAL_SAMPLES: (u64, u64) = (16, 512);
/// Batches of them at most, until the samples lie so close together (ratio of the fifths at either end).
const SEQUENTIAL_BATCHES: u32 = 3;
const UNEVEN: f64 = 1.1;
/// Writes that share a flush move so many bytes.
const GROUP_BYTES: u64 = 512 << 10;
/// The largest write, in bytes.
pub(super) const LARGEST: u64 = 32 << 20;
/// Sizes between powers of two, in quarters of the lower one.
const QUARTERS: [u64; 3] = [5, 6, 7];
/// Below this ratio of costs, sizes between powers of two are tried, in so many octaves.
const NEAR: f64 = 3.0;
const BETWEEN_OCTAVES: usize = 8;
/// The search is given up when random writes cost the same at so many of the smallest sizes.
const SAME_FROM_START: usize = 4;

/// One batch of random writes.
struct Batch {
    series: Series,
    len: u64,
    shift: u64,
    number: u32,
    /// The smallest write, in bytes.
    unit: u64,
    pressed: bool,
}

impl Manner {
    fn group(&self, len: u64, pressed: bool) -> u64 {
        match (pressed, self.flushed) {
            (true, _) => (PRESSURE.1 / len).max(1),
            (false, true) => 1,
            (false, false) => (GROUP_BYTES / len).max(1),
        }
    }

    /// Sizes from `unit` on, doubling, as long as enough writes of them fit into the span.
    fn doublings(space: &Space, unit: u64) -> Vec<u64> {
        let most = largest(space);
        std::iter::successors(Some(unit), |s| Some(s * 2))
            .take_while(|s| *s <= most)
            .collect()
    }

    /// Sizes between `low` and its double.
    fn between(space: &Space, unit: u64, low: u64) -> Vec<u64> {
        let sizes = QUARTERS.iter().map(|q| low / 4 * q);
        sizes
            .filter(|s| s.is_multiple_of(unit) && s.is_multiple_of(space.block_bytes))
            .collect()
    }

    /// The most bytes that [`Manner::run`] writes: the sequential curve twice, and so many random writes of the largest size.
    pub(super) fn bound(&self, space: &Space) -> u64 {
        let twice = 2 * self.sequential_curve(space);
        4 * preparation(space) + twice + RANDOM_WORTH * largest(space)
    }

    /// The bytes that it writes on a drive whose blocks are a few MiB.
    pub(super) fn expected(&self, space: &Space) -> u64 {
        preparation(space) + self.sequential_curve(space) + RANDOM_TYPICAL * largest(space)
    }

    /// One batch of sequential writes at every doubling.
    fn sequential_curve(&self, space: &Space) -> u64 {
        let sizes = Self::doublings(space, space.round_up(4 << 10)).into_iter();
        let batch = |len: u64| SEQUENTIAL_BYTES.max(SEQUENTIAL_SAMPLES.0 * len);
        sizes.map(batch).sum()
    }

    /// One sample: a group of writes at `offsets`, flushed.
    fn group_at(
        &self,
        io: &mut Io<'_>,
        len: u64,
        offsets: &[u64],
    ) -> Result<crate::session::Mark, Stop> {
        let mark = io.mark(offsets.first().copied().unwrap_or_default());
        for &offset in offsets {
            io.write(offset, len)?;
        }
        io.flush()?;
        Ok(mark)
    }

    /// Sequential writes of one size, again where some still paid for the parking.
    fn sequential(&self, session: &mut Session<'_>, len: u64, pressed: bool) -> Result<(), Stop> {
        for number in 0..SEQUENTIAL_BATCHES {
            self.sequential_batch(session, len, number, pressed)?;
            if spread(&self.sequential_at(session.record(), len)) < UNEVEN {
                break;
            }
        }
        Ok(())
    }

    fn sequential_batch(
        &self,
        session: &mut Session<'_>,
        len: u64,
        number: u32,
        pressed: bool,
    ) -> Result<(), Stop> {
        let (start, span) = (session.region().start, main_part(&Space::from(&*session)));
        let group = self.group(len, pressed);
        let (least, most) = SEQUENTIAL_SAMPLES;
        let samples = (SEQUENTIAL_BYTES / (len * group)).clamp(least, most);
        let name = format!(
            "sequential {len} batch {number}{}",
            if pressed { " pressed" } else { "" }
        );
        let whole = span / len * len;
        session.step(self.parameter, &name, |io| {
            // From the beginning of what may be a block, over whole blocks' worth where the drive is long enough.
            let mut offset = io.rng.below((whole / LARGEST).max(1)) * LARGEST.min(whole);
            let place = |offset: u64| start + offset % whole;
            for _ in 0..if pressed { PRESSURE.0 / len } else { 0 } {
                io.write(place(offset), len)?;
                offset += len;
            }
            for rep in 0..samples {
                let offsets: Vec<u64> = (0..group).map(|i| place(offset + i * len)).collect();
                let mark = self.group_at(io, len, &offsets)?;
                let era = if pressed { PRESSED } else { 0 };
                let rep = era + number * SEQUENTIAL_SAMPLES.1 as u32 + rep as u32;
                io.sample_since(&mark, Timed::WriteFlush, Series::Sequential, len, rep);
                offset += group * len;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// One small write to each of many places behind the main part of the span; the first time they are sampled.
    fn park(&self, session: &mut Session<'_>, name: &str, unit: u64) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let from = session.region().start + main_part(&space);
        let stride = ((space.span() - main_part(&space)) / PARKED / unit).max(1) * unit;
        session.step(self.parameter, name, |io| {
            let mut places: Vec<u64> = (0..PARKED).map(|i| from + i * stride).collect();
            io.rng.shuffle(&mut places);
            for (i, place) in places.into_iter().enumerate() {
                io.write_flush(place, unit)?;
                if name == PARK {
                    io.sample(Series::Onset, i as u64 + 1, 0);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Random writes, no two of a batch in one place while there are places.
    fn random(&self, session: &mut Session<'_>, batch: &Batch) -> Result<(), Stop> {
        let (start, span) = (session.region().start, main_part(&Space::from(&*session)));
        let &Batch {
            series,
            len,
            shift,
            number,
            unit,
            pressed,
        } = batch;
        let group = self.group(len, pressed);
        let name = format!(
            "{series:?} {len} batch {number}{}",
            if pressed { " pressed" } else { "" }
        );
        if number == 0 {
            self.park(session, &format!("{PARK} before {name}"), unit)?;
        }
        session.step(self.parameter, &name, |io| {
            let mut places: Vec<u64> = (0..(span - shift) / len).collect();
            io.rng.shuffle(&mut places);
            let mut places = places
                .iter()
                .cycle()
                .map(|place| start + place * len + shift);
            let warm_up = if pressed { PRESSURE.0 / len } else { WARM_UP };
            for _ in 0..if number == 0 { warm_up } else { 0 } {
                io.write_flush(places.next().unwrap_or(start), len)?;
            }
            for rep in 0..BATCH {
                let offsets: Vec<u64> = places.by_ref().take(group as usize).collect();
                let mark = self.group_at(io, len, &offsets)?;
                let rep = number * BATCH as u32 + rep as u32 + if pressed { PRESSED } else { 0 };
                io.sample_since(&mark, Timed::WriteFlush, series, len, rep);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Random writes of one size until they are told from sequential ones or taken for them.
    fn settle(
        &self,
        session: &mut Session<'_>,
        len: u64,
        search: &Search,
        pressed: bool,
    ) -> Result<Status, Stop> {
        let (mut status, mut before) = (Status::Undecided, f64::INFINITY);
        for number in 0..BATCHES_MAX {
            let unit = search.unit;
            let batch = Batch {
                series: Series::Random,
                len,
                shift: 0,
                number,
                unit,
                pressed,
            };
            self.random(session, &batch)?;
            let (now, ratio) = self
                .comparison(session.record(), len)
                .unwrap_or((Status::Undecided, 1.0));
            status = now;
            // A batch may still pay for log blocks that were parked; then the next one pays for fewer.
            let steady = ratio > NEAR || ratio > STEADY * before;
            if now == Status::Equivalent || (now == Status::Different && steady) {
                break;
            }
            before = ratio;
        }
        Ok(status)
    }

    /// Takes every sample that the answer needs.
    pub(super) fn run(&self, session: &mut Session<'_>, search: Search) -> Result<(), Stop> {
        self.park(session, PARK, search.unit)?;
        // Every independent set of log blocks pays for the parking once, before anything is measured.
        let start = session.region().start;
        let settled = start + SETTLE_BYTES.min(main_part(&Space::from(&*session)));
        session.step(self.parameter, "settle", |io| {
            io.fill_sequential(start..settled)
        })?;
        self.curve(session, &search, false)?;
        if self.same_from_start(session.record()) == 0 {
            return Ok(());
        }
        self.flushes(session, search.unit)?;
        if flush_costs(session.record(), self.parameter) {
            return Ok(());
        }
        self.curve(session, &search, true)
    }

    /// Flushes of nothing (`x` = 0) and after a small write.
    fn flushes(&self, session: &mut Session<'_>, unit: u64) -> Result<(), Stop> {
        let start = session.region().start;
        session.step(self.parameter, "flushes", |io| {
            io.flush()?;
            for rep in 0..BATCH {
                io.flush()?;
                io.sample(Series::FlushAfter, 0, rep as u32);
                io.write(start + rep * unit, unit)?;
                io.flush()?;
                io.sample(Series::FlushAfter, unit, rep as u32);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The curves of sequential and of random writes, as far as they are needed.
    fn curve(&self, session: &mut Session<'_>, search: &Search, pressed: bool) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let mut all = Self::doublings(&space, search.unit);
        all.retain(|len| (search.from..=search.upto).contains(len));
        for &len in &all {
            self.sequential(session, len, pressed)?;
        }
        let mut octaves = 0;
        for (i, &len) in all.iter().enumerate() {
            let status = self.settle(session, len, search, pressed)?;
            let same = self.same_from_start(session.record());
            if same >= SAME_FROM_START {
                return Ok(());
            }
            let ratio = self.comparison(session.record(), len).map(|c| c.1);
            let starts = same == i + 1;
            // Where the costs come near between two doublings, or have met.
            let near = ratio.is_some_and(|ratio| ratio <= NEAR);
            if i > 0 && !starts && near && octaves < BETWEEN_OCTAVES {
                octaves += 1;
                for between in Self::between(&space, search.unit, len / 2) {
                    if self.settle(session, between, search, pressed)? == Status::Equivalent {
                        return self.shifted(session, between, search, pressed);
                    }
                }
            }
            if status == Status::Equivalent && !starts {
                return self.shifted(session, len, search, pressed);
            }
        }
        Ok(())
    }

    /// Writes of the size found, shifted by half of it in whole units.
    fn shifted(
        &self,
        session: &mut Session<'_>,
        len: u64,
        search: &Search,
        pressed: bool,
    ) -> Result<(), Stop> {
        let unit = search.unit;
        let shift = len / 2 / unit * unit;
        if shift == 0 || len < BLOCK_MIN.max(UNITS_MIN * unit) {
            return Ok(());
        }
        for number in 0..2 {
            let batch = Batch {
                series: Series::Shifted,
                len,
                shift,
                number,
                unit,
                pressed,
            };
            self.random(session, &batch)?;
        }
        Ok(())
    }
}

/// The largest write, in bytes: enough of them fit into the span.
fn largest(space: &Space) -> u64 {
    LARGEST.min(space.span() / 32)
}

/// Parking and settling before anything is measured, in bytes.
fn preparation(space: &Space) -> u64 {
    SETTLE_BYTES.min(main_part(space)) + PARKED * UNIT_TYPICAL
}

/// The bytes of the span that the curves use; behind them lies where log blocks are parked.
fn main_part(space: &Space) -> u64 {
    let part = space.span() / 4 * 3;
    if part > LARGEST {
        part / LARGEST * LARGEST
    } else {
        space.round_down(part)
    }
}

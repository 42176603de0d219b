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
//! smaller one pays from the first write on, so that few bytes tell.

use super::{at, identified, sizes, without};
use crate::probes::Space;
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series, Timed};
use crate::session::{Io, Session, Stop};
use crate::solve::equivalence::{Location, Options, Sequential, Status};
use crate::solve::robust;
use crate::solve::separate::{Decision, separate};

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
const BATCHES_MAX: u32 = 2;
/// Writes before those that are sampled: the first pays for the log block that it takes.
const WARM_UP: u64 = 3;
/// Places that hold the log blocks before each curve: more than a drive has log blocks.
const PARKED: u64 = 64;
const PARK: &str = "park";
/// The largest unit that is reckoned with, in bytes.
const UNIT_MAX: u64 = 1 << 20;
/// Bytes of the sequential measurement at one size, and samples at least and at most.
const SEQUENTIAL_BYTES: u64 = 24 << 20;
const SEQUENTIAL_SAMPLES: (u64, u64) = (16, 512);
/// Writes that share a flush move so many bytes.
const GROUP_BYTES: u64 = 512 << 10;
/// The largest write, in bytes.
pub(super) const LARGEST: u64 = 32 << 20;
/// Sizes between powers of two, in quarters of the lower one.
const QUARTERS: [u64; 3] = [5, 6, 7];
/// Below this ratio of costs, sizes between powers of two are tried, in so many octaves.
const NEAR: f64 = 3.0;
const BETWEEN_OCTAVES: usize = 3;
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
}

impl Manner {
    fn group(&self, len: u64) -> u64 {
        if self.flushed {
            1
        } else {
            (GROUP_BYTES / len).max(1)
        }
    }

    /// Sizes from `unit` on, doubling, as long as enough writes of them fit into the span.
    fn doublings(space: &Space, unit: u64) -> Vec<u64> {
        let most = LARGEST.min(space.span() / 32);
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

    /// The most bytes that [`Manner::run`] writes.
    pub(super) fn bound(&self, space: &Space) -> u64 {
        let sizes = Self::doublings(space, space.round_up(4 << 10));
        let batches = u64::from(BATCHES_MAX);
        let parked = PARKED * UNIT_MAX;
        let random = |len: u64| parked + (WARM_UP + BATCH * self.group(len)) * batches * len;
        let between = sizes.iter().rev().take(BETWEEN_OCTAVES);
        let between = between.flat_map(|len| QUARTERS.map(|q| random(len / 8 * q)));
        let sequential = |len: &u64| SEQUENTIAL_BYTES.max(SEQUENTIAL_SAMPLES.0 * len);
        let doublings = sizes.iter().map(|len| sequential(len) + random(*len));
        let shifted = random(LARGEST.min(space.span() / 32));
        parked + doublings.sum::<u64>() + between.sum::<u64>() + shifted
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

    /// Sequential writes of one size.
    fn sequential(&self, session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
        let (start, span) = (session.region().start, main_part(&Space::from(&*session)));
        let group = self.group(len);
        let (least, most) = SEQUENTIAL_SAMPLES;
        let samples = (SEQUENTIAL_BYTES / (len * group)).clamp(least, most);
        let name = format!("sequential {len}");
        let whole = span / len * len;
        session.step(self.parameter, &name, |io| {
            // From the beginning of what may be a block, over whole blocks' worth where the drive is long enough.
            let mut offset = io.rng.below((whole / LARGEST).max(1)) * LARGEST.min(whole);
            for rep in 0..samples {
                let offsets: Vec<u64> = (0..group)
                    .map(|i| start + (offset + i * len) % whole)
                    .collect();
                let mark = self.group_at(io, len, &offsets)?;
                io.sample_since(
                    &mark,
                    Timed::WriteFlush,
                    Series::Sequential,
                    len,
                    rep as u32,
                );
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
        } = batch;
        let group = self.group(len);
        let name = format!("{series:?} {len} batch {number}");
        self.park(session, &format!("{PARK} before {name}"), unit)?;
        session.step(self.parameter, &name, |io| {
            let mut places: Vec<u64> = (0..(span - shift) / len).collect();
            io.rng.shuffle(&mut places);
            let mut places = places
                .iter()
                .cycle()
                .map(|place| start + place * len + shift);
            for _ in 0..WARM_UP {
                io.write_flush(places.next().unwrap_or(start), len)?;
            }
            for rep in 0..BATCH {
                let offsets: Vec<u64> = places.by_ref().take(group as usize).collect();
                let mark = self.group_at(io, len, &offsets)?;
                let rep = number * BATCH as u32 + rep as u32;
                io.sample_since(&mark, Timed::WriteFlush, series, len, rep);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Random writes of one size until they are told from sequential ones or taken for them.
    fn settle(&self, session: &mut Session<'_>, len: u64, unit: u64) -> Result<Status, Stop> {
        let mut status = Status::Undecided;
        for number in 0..BATCHES_MAX {
            let batch = Batch {
                series: Series::Random,
                len,
                shift: 0,
                number,
                unit,
            };
            self.random(session, &batch)?;
            status = self
                .comparison(session.record(), len)
                .map_or(Status::Undecided, |c| c.0);
            if status != Status::Undecided {
                break;
            }
        }
        Ok(status)
    }

    /// Takes every sample that the answer needs.
    pub(super) fn run(&self, session: &mut Session<'_>, search: Search) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let mut all = Self::doublings(&space, search.unit);
        all.retain(|len| (search.from..=search.upto).contains(len));
        self.park(session, PARK, search.unit)?;
        for &len in &all {
            self.sequential(session, len)?;
        }
        let mut octaves = 0;
        for (i, &len) in all.iter().enumerate() {
            let status = self.settle(session, len, search.unit)?;
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
                    if self.settle(session, between, search.unit)? == Status::Equivalent {
                        return self.shifted(session, between, search.unit);
                    }
                }
            }
            if status == Status::Equivalent && !starts {
                return self.shifted(session, len, search.unit);
            }
        }
        Ok(())
    }

    fn shifted(&self, session: &mut Session<'_>, len: u64, unit: u64) -> Result<(), Stop> {
        let shift = Space::from(&*session).round_down(len / 2);
        let batch = Batch {
            series: Series::Shifted,
            len,
            shift,
            number: 0,
            unit,
        };
        self.random(session, &batch)
    }

    /// How random writes of a size compare with sequential ones, and the ratio of their costs.
    fn comparison(&self, record: &Record, len: u64) -> Option<(Status, f64)> {
        let random = at(record, self.parameter, Series::Random, len);
        let sequential = self.sequential_cost(record, len)?;
        let options = Options {
            margin: MARGIN,
            location: Location::Trimmed,
            ..Options::default()
        };
        let mut test = Sequential::new(options);
        // As they were taken: batch by batch, each a look.
        for batch in random.chunks(BATCH as usize) {
            let upto = sequential.len();
            let first = if test.last().is_none() { upto } else { 0 };
            test.push(batch, &sequential[..first]);
        }
        let look = test.last()?;
        Some((look.status, look.ratio))
    }

    /// Sequential samples of a size; between two measured sizes those of the lower one, scaled.
    fn sequential_cost(&self, record: &Record, len: u64) -> Option<Vec<f64>> {
        let own = at(record, self.parameter, Series::Sequential, len);
        if !own.is_empty() {
            return Some(own);
        }
        let measured = sizes(record, self.parameter, Series::Sequential);
        let low = *measured.iter().rev().find(|s| **s < len)?;
        let high = *measured.iter().find(|s| **s > len)?;
        let per_write = |s: u64| {
            let samples = at(record, self.parameter, Series::Sequential, s);
            robust::median(&samples).map(|m| m / self.group(s) as f64)
        };
        let (below, above) = (per_write(low)?, per_write(high)?);
        let share = (len - low) as f64 / (high - low) as f64;
        let wanted = (below + share * (above - below)) * self.group(len) as f64;
        let scale = wanted / (below * self.group(low) as f64);
        Some(
            at(record, self.parameter, Series::Sequential, low)
                .iter()
                .map(|v| v * scale)
                .collect(),
        )
    }

    /// How many of the smallest sizes cost the same, from the first on.
    fn same_from_start(&self, record: &Record) -> usize {
        let sizes = sizes(record, self.parameter, Series::Random);
        let same = |len: &&u64| {
            self.comparison(record, **len)
                .is_some_and(|c| c.0 == Status::Equivalent)
        };
        sizes.iter().take_while(same).count()
    }

    /// The answer.
    pub(super) fn solve(&self, record: &Record) -> Estimate {
        let tried = sizes(record, self.parameter, Series::Random);
        let same = self.same_from_start(record);
        if tried.is_empty() {
            return without(
                self.parameter,
                Verdict::Inconclusive,
                "the region is too small for writes of several sizes",
            );
        }
        if same > 0 {
            let reason = "random writes cost what sequential ones cost from the smallest size on: there is no size at which they meet (page mapping, or merges that cannot be seen)";
            return without(self.parameter, Verdict::NotIdentifiable, reason)
                .figure("sizes_alike", same as f64);
        }
        let compared = tried
            .iter()
            .map(|len| (*len, self.comparison(record, *len)));
        let met = compared
            .clone()
            .find(|(_, c)| c.is_some_and(|c| c.0 == Status::Equivalent));
        let Some((len, Some((_, ratio)))) = met else {
            let largest = tried.last().copied().unwrap_or_default();
            let reason =
                format!("random writes still cost more than sequential ones at {largest} bytes");
            return without(self.parameter, Verdict::Inconclusive, reason);
        };
        let apart = |c: Option<(Status, f64)>| c.is_some_and(|c| c.0 == Status::Different);
        let below = compared
            .filter(|(l, c)| *l < len && apart(*c))
            .map(|(l, _)| l)
            .max();
        self.judge_shift(record, len, below).figure("ratio", ratio)
    }

    /// A size at which the costs meet stands only if its alignment matters.
    fn judge_shift(&self, record: &Record, len: u64, below: Option<u64>) -> Estimate {
        let shifted = at(record, self.parameter, Series::Shifted, len);
        let random = at(record, self.parameter, Series::Random, len);
        let Some(test) = separate(&shifted, &random, 0.99, 0.03) else {
            let reason = format!(
                "random and sequential writes meet at {len} bytes; whether alignment matters was not measured"
            );
            return without(self.parameter, Verdict::Inconclusive, reason);
        };
        let estimate = if test.decision == Decision::Greater && test.interval.low > 1.03 {
            let reason = format!(
                "aligned random writes of {len} bytes cost what sequential ones cost; shifted by half they cost {:.2} times as much",
                test.ratio
            );
            let low = below.map_or(len, |b| {
                b + u64::from(record.meta.target.logical_block_bytes)
            });
            identified(self.parameter, Value::Bytes(len), reason).between(low, len)
        } else if test.decision == Decision::Undecided {
            let reason = format!(
                "random and sequential writes meet at {len} bytes, but the noise hides whether alignment matters"
            );
            without(self.parameter, Verdict::Inconclusive, reason)
        } else {
            let reason = format!(
                "random writes reach the sequential cost at about {len} bytes, but a shifted write costs no more: the drive does not map by aligned blocks"
            );
            without(self.parameter, Verdict::NotIdentifiable, reason)
        };
        estimate.figure("shifted_ratio", test.ratio)
    }
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

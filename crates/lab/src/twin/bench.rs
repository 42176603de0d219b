//! A short measurement of a candidate: the requests of the probe's steps that the figures come from, in smaller numbers.
//!
//! Every candidate is measured with the same seed, so that two differ by their times and not by chance.

mod load;
mod loops;
mod merges;
mod mixed;
mod plain;
mod rig;
mod singles;
mod work;

use super::figures::{Rounds, Samples, What};
use super::seen::Seen;
use super::series;
use fathom_base::{Bytes, Dur, SpecError};
use fathom_model::{Drive, Model};
use fathom_probe::{Parameter, Value};
use fathom_ssd::Spec;
use fathom_ssd::spec::WhenFull;
use loops::Load;
use plain::{native, quiet};
use rig::Rig;
use singles::singles;
use work::Work;

const SMALL: u64 = 4096;
const LONG: u64 = 256 << 10;
/// The part of a drive that is read: all that the probe uses on one with a fast cache or a map in flash, whose reads depend
/// on it, or less.
const SPAN: [u64; 2] = [64 << 20, 2 << 30];
/// The batches of long reads.
const BATCHES: u64 = 8;
const LONG_DEPTH: usize = 32;
const PIECE: u64 = 1 << 20;
const PIECE_READS: u64 = 24;
const ROUNDS: u64 = 16;
/// The depths of closed loops, at most.
const DEPTHS_MAX: usize = 8;
/// The pause after which a drive has come to rest.
const REST: Dur = Dur::ms(2000);

/// The interval of reads in a window (parameter `stalls`).
const APART: f64 = 4.0;
const APART_MIN: f64 = 200_000.0;
/// The pieces of a fill before those that are timed, and those.
const HEAD_PIECES: u64 = 3;
const PIECES: u64 = 6;
/// The blocks of a die, and the bytes, of a small drive.
const BLOCKS: u64 = 24;
const SMALL_DRIVE: u64 = 1 << 30;
/// The largest fast cache that is filled.
const FAST_MAX: u64 = 3 << 29;

/// A closed loop: its depth, and its requests in all. A loop that begins is faster than later on.
#[derive(Clone, Copy, Debug)]
struct Loop {
    depth: u64,
    count: u64,
}

/// What is measured, by the record.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    loops: Vec<Loop>,
    knee: Option<Loop>,
    /// The bytes of a batch of long reads.
    batch: u64,
    sizes: Vec<u64>,
    seed: u64,
    /// The length of a piece of a fill, and what the fast cache holds, in bytes.
    piece: u64,
    cache: u64,
    /// The part of the drive that is overwritten at random, and shorter ones, in bytes.
    live: u64,
    near: Vec<u64>,
    /// The interval of reads in a window, and the share of them that is kept as the slowest.
    apart: Dur,
    tail: f64,
    /// Reads and writes together, and where the parts begin that are filled before them, as shares of the drive.
    loads: Vec<Load>,
    parts: [f64; 2],
    /// Reads after a write.
    after: Option<Rounds>,
    /// The work of simulating so far.
    pub(super) work: Work,
}

impl Bench {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let xs = |parameter, series| {
            let samples = seen.series(parameter, series).iter();
            let mut xs: Vec<u64> = samples.map(|sample| sample.x).collect();
            xs.sort_unstable();
            xs.dedup();
            xs
        };
        let pieces = seen.series(Parameter::FastCache, series::EMPTY);
        let cache = seen.value(Parameter::FastCache).and_then(Value::bytes);
        let alone = seen.median(Parameter::Stalls, series::ALONE);
        let windows = seen.series(Parameter::Stalls, series::TYPICAL_WRITING);
        let reads: u64 = windows.iter().map(|sample| u64::from(sample.rep)).sum();
        let kept = seen.series(Parameter::Stalls, series::SLOWEST_WRITING);
        let sparse = seen.series(Parameter::OverProvisioning, series::SPARSE);
        let small = SMALL.next_multiple_of(u64::from(seen.record.meta.target.logical_block_bytes));
        let looped = |depth: u64| {
            let samples = seen.series(Parameter::QueueKnee, series::CLOSED).iter();
            let bytes = samples.filter(|sample| sample.x == depth).map(|s| s.bytes);
            let count = 2 * depth + bytes.max().unwrap_or(0) / small;
            Loop { depth, count }
        };
        let depths = xs(Parameter::QueueKnee, series::CLOSED).into_iter();
        let batches = seen.series(Parameter::BandwidthLimit, series::BATCH);
        Self {
            loops: depths.map(looped).collect(),
            knee: knee(seen),
            batch: batches.first().map_or(0, |sample| sample.bytes),
            sizes: xs(Parameter::Flush, series::DIRTY),
            seed: seen.record.meta.seed,
            piece: pieces.first().map_or(0, |sample| sample.bytes),
            cache: cache.unwrap_or(0),
            live: sparse.first().map_or(0, |sample| sample.x),
            near: xs(Parameter::OverProvisioning, series::NEAR),
            apart: Dur((APART * alone.unwrap_or(0.0)).max(APART_MIN) as u64),
            tail: kept.len() as f64 / reads.max(1) as f64,
            loads: loops::loops(seen),
            parts: loops::parts(seen),
            after: Rounds::of(seen),
            work: Work::default(),
        }
    }

    /// Returns how reads after a write are looked at.
    pub(super) const fn rounds(&self) -> Option<&Rounds> {
        self.after.as_ref()
    }

    /// Returns the same bench, whose work is counted apart.
    pub(super) fn apart(&self) -> Self {
        Self {
            work: Work::default(),
            ..self.clone()
        }
    }

    fn rig(&self, drive: Drive, span: u64) -> Rig {
        Rig::new(drive, span, self.seed, self.work.clone())
    }

    /// Returns the bench with few depths, for the search.
    pub(super) fn sparse(&self) -> Self {
        let step = self.loops.len().div_ceil(DEPTHS_MAX).max(1);
        // From the deepest on, which shows the bottleneck.
        let loops = self.loops.iter().rev().step_by(step).copied();
        Self {
            loops: loops.collect(),
            ..self.clone()
        }
    }

    /// Measures single reads of a candidate, and pairs.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(super) fn singles(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let spec = quiet(spec);
        let mut rig = self.prepared(&spec)?;
        Ok(singles(&mut rig, spec.mapping.map_cache.is_some()))
    }

    /// Measures reads of a candidate.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(super) fn reads(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let spec = quiet(spec);
        let mut rig = self.prepared(&spec)?;
        let mut samples = singles(&mut rig, spec.mapping.map_cache.is_some());
        for _ in 0..PIECE_READS {
            let at = rig.any(PIECE);
            let took = rig.read_parts(at, PIECE);
            samples.entry((What::Piece, 0)).or_default().push(took);
        }
        for one in &self.loops {
            let asks = rig.places(SMALL, one.count);
            let rate = rig.rate(&asks, one.depth as usize);
            samples.insert((What::Closed, one.depth), vec![rate]);
        }
        if let Some(Loop { depth, count }) = self.knee {
            let asks = rig.places(SMALL, count);
            let times = rig.serve(&asks, depth as usize).into_iter();
            samples.insert((What::Knee, 0), times.map(|one| one.took()).collect());
        }
        let len = LONG.min(spec.host.max_request.0);
        for _ in 0..BATCHES {
            let asks = rig.places(len, self.batch / len);
            let took = rig.together(&asks, LONG_DEPTH);
            let rate = self.batch as f64 / took * 1e9;
            samples.entry((What::Long, 0)).or_default().push(rate);
        }
        Ok(samples)
    }

    /// Measures writes and flushes of a candidate.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(super) fn writes(&self, spec: &Spec) -> Result<Samples, SpecError> {
        // When the probe measures flushes, it has written more than a fast cache holds.
        let folds = spec.fast_cache.as_ref();
        let folds = folds.is_some_and(|cache| cache.when_full == WhenFull::Fold);
        let mut samples = match folds {
            true => self.flushes(self.full(spec)?),
            false => self.flushes(self.prepared(&native(spec))?),
        };
        if self.piece > 0 && self.cache <= FAST_MAX {
            self.fill(&mut self.prepared(spec)?, &mut samples);
        }
        Ok(samples)
    }

    fn flushes(&self, mut rig: Rig) -> Samples {
        let mut samples = Samples::new();
        let small = SMALL.next_multiple_of(rig.block);
        // Beside the multiples of a small write, as most logical blocks that the probe begins at: units are written in part.
        let beside = rig.block % small;
        let mut at = rig.below(rig.span / small) * small + beside;
        let arms = self.sizes.len() + 2;
        for _ in 0..ROUNDS * arms as u64 {
            // In any order, as the probe does: a drive may still be busy with what was flushed before.
            let arm = rig.below(arms as u64) as usize;
            rig.flush();
            let len = self.sizes.get(arm).copied().unwrap_or(small);
            at = if at + len > rig.span { beside } else { at };
            let mut keep = |what, x, ns| samples.entry((what, x)).or_default().push(ns);
            match arm.checked_sub(self.sizes.len()) {
                Some(0) => keep(What::Clean, 0, rig.flush()),
                Some(_) => keep(What::Fua, 0, rig.write(at, len, true)),
                None => {
                    let took = rig.write(at, len, false);
                    if len == small {
                        keep(What::Write, 0, took);
                    }
                    keep(What::Dirty, len, rig.flush());
                }
            }
            at += len;
        }
        samples
    }

    /// Times pieces of a fill of the emptied drive: into the fast cache, if there is one, and behind it.
    fn fill(&self, rig: &mut Rig, samples: &mut Samples) {
        let piece = self.piece.next_multiple_of(rig.block);
        let whole = rig.capacity / piece * piece;
        rig.trim(0..rig.capacity);
        rig.idle(REST);
        let behind = (self.cache + self.cache / 8).div_ceil(piece) + HEAD_PIECES;
        for number in 0..behind + PIECES {
            let at = number * piece;
            if at + piece > whole {
                return;
            }
            let took = rig.write(at, piece, false) + rig.flush();
            let rate = piece as f64 / took * 1e9;
            if number >= behind {
                samples.entry((What::Fill, 0)).or_default().push(rate);
            } else if (at + piece) < self.cache - self.cache / 8 {
                samples.entry((What::FastFill, 0)).or_default().push(rate);
            }
        }
    }

    /// Measures overwrites at random and in order of a part of a candidate that holds nothing else, once its log blocks are in use.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(super) fn merges(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let spec = Spec {
            limit: None,
            ..spec.clone()
        };
        let len = merges::length(&spec);
        let live = self.live.min(spec.capacity.0) / len * len;
        let drive = Model::Ssd(Box::new(spec.clone())).build(self.seed)?;
        let mut rig = self.rig(drive, live);
        rig.fill(0..live);
        let [random, ordered] = merges::in_turns(&mut rig, &spec);
        let near = merges::near(&mut rig, &spec, &self.near).into_iter();
        let near = near.map(|(bytes, rates)| ((What::Near, bytes), rates));
        let turns = [((What::Random, 0), random), ((What::Ordered, 0), ordered)];
        Ok(turns.into_iter().chain(near).collect())
    }

    /// Builds a small drive of the same parts that is full.
    fn full(&self, spec: &Spec) -> Result<Rig, SpecError> {
        let mut small = spec.clone();
        let flash = &spec.flash;
        let dies = u64::from(flash.channels * flash.dies_per_package);
        let block = flash.clustered_block.0.max(1);
        let least =
            (BLOCKS * dies * flash.page.0 * u64::from(flash.pages_per_block)).max(SMALL_DRIVE);
        small.capacity = Bytes(least.next_multiple_of(block).min(spec.capacity.0));
        if let Some(cache) = &mut small.fast_cache {
            cache.static_capacity.0 = cache.static_capacity.0.min(small.capacity.0 / 4);
        }
        let small = match small.check() {
            Ok(()) => small,
            Err(_) => spec.clone(),
        };
        let whole = small.capacity.0;
        let drive = Model::Ssd(Box::new(Spec {
            limit: None,
            ..small
        }));
        let mut rig = self.rig(drive.build(self.seed)?, whole);
        rig.fill(0..whole);
        Ok(rig)
    }

    /// Builds a candidate and writes what is read later.
    fn prepared(&self, spec: &Spec) -> Result<Rig, SpecError> {
        // The probe writes more than a fast cache holds before it measures writes.
        let large = spec.mapping.map_cache.is_some()
            || (spec.fast_cache.is_some() && self.cache <= FAST_MAX);
        let full = spec.fast_cache.is_some();
        let span = SPAN[usize::from(large)].min(spec.capacity.0);
        // A limit in front of the drive delays the preparation and not what is measured: bursts are left out.
        let spec = Spec {
            limit: None,
            ..spec.clone()
        };
        let drive = Model::Ssd(Box::new(spec)).build(self.seed)?;
        let mut rig = self.rig(drive, span);
        rig.fill(0..span);
        // A cache that is full stays so: the probe does not rest before it writes on.
        if !full {
            rig.idle(REST);
        }
        Ok(rig)
    }
}

/// Returns the loop at the knee: the last one, if several were made.
fn knee(seen: &Seen<'_>) -> Option<Loop> {
    let samples = seen.series(Parameter::QueueKnee, series::AT_KNEE);
    let depth = samples.last()?.x;
    let count = samples.iter().filter(|sample| sample.x == depth).count() as u64;
    Some(Loop { depth, count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::run::{self, RunConfig};
    use fathom_probe::{Level, Unobserved};

    /// Writes beside the multiples of a unit have it completed by a read, also after the end of the span that is used.
    #[test]
    fn flushed_writes_are_beside_units_in_every_round() {
        let mut spec = Spec::from_toml(fathom_model::find("nvme").unwrap().text).unwrap();
        spec.host.logical_block = Bytes(512);
        spec.capacity = Bytes::gib(1);
        (spec.flash.read, spec.flash.program) = (Dur::us(100), Dur::us(400));
        spec.check().unwrap();
        let config = RunConfig {
            seed: 1,
            level: Level::Quick,
            parameters: vec![Parameter::Flush],
            ..RunConfig::default()
        };
        let mut drive = Model::Ssd(Box::new(spec.clone())).build(1).unwrap();
        let record = run::run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let profile = run::solve(&record);
        let seen = Seen::new(&record, &profile);
        let own = Bench::of(&seen).writes(&spec).unwrap();
        let least = own[&(What::Dirty, 4096)].iter().copied().reduce(f64::min);
        assert!(least > Some(500_000.0), "{least:?} ns");
    }
}

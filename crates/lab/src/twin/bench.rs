//! A short measurement of a candidate: the requests of the probe's steps that the figures come from, in smaller numbers.
//!
//! Every candidate is measured with the same seed, so that two differ by their times and not by chance.

mod rig;

use super::figures::{Samples, What};
use super::seen::Seen;
use super::series;
use fathom_base::{Dur, SpecError};
use fathom_block::Op;
use fathom_model::Model;
use fathom_probe::Parameter;
use fathom_ssd::Spec;
use rig::{Ask, Rig};

const SMALL: u64 = 4096;
const LONG: u64 = 256 << 10;
/// The part of a drive that is read: all that the probe uses on one with a fast cache or a map in flash, whose reads depend
/// on it, or less.
const SPAN: [u64; 2] = [64 << 20, 2 << 30];
/// The area that is trimmed for reads of nothing.
const AREA: u64 = 8 << 20;
const NOTHINGS: u64 = 150;
const LONES: u64 = 400;
const KNEE_READS: u64 = 2000;
const LONG_READS: u64 = 512;
const LONG_DEPTH: usize = 32;
const ROUNDS: u64 = 16;
/// The depths of closed loops, at most.
const DEPTHS_MAX: usize = 8;
/// The pause after which a drive has come to rest.
const REST: Dur = Dur::ms(2000);

/// What is measured, by the record.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    pub(super) depths: Vec<u64>,
    knee: Option<u64>,
    sizes: Vec<u64>,
    seed: u64,
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
        let depths = xs(Parameter::QueueKnee, series::CLOSED);
        let step = depths.len().div_ceil(DEPTHS_MAX).max(1);
        // From the deepest on, which shows the bottleneck.
        let depths = depths.into_iter().rev().step_by(step).collect();
        Self {
            depths,
            knee: xs(Parameter::QueueKnee, series::AT_KNEE).first().copied(),
            sizes: xs(Parameter::Flush, series::DIRTY),
            seed: seen.record.meta.seed,
        }
    }

    /// Measures reads of a candidate.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(super) fn reads(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let mut rig = self.prepared(spec)?;
        let mut samples = Samples::new();
        nothing(&mut rig, &mut samples);
        lone(&mut rig, &mut samples);
        for depth in &self.depths {
            closed(&mut rig, *depth, &mut samples);
        }
        if let Some(knee) = self.knee {
            let asks = rig.places(SMALL, KNEE_READS);
            let times = rig.serve(&asks, knee as usize).into_iter();
            samples.insert((What::Knee, 0), times.map(|one| one.took()).collect());
        }
        let len = LONG.min(spec.host.max_request.0);
        let asks = rig.places(len, LONG_READS);
        let rate = rig.rate(&asks, LONG_DEPTH);
        samples.entry((What::Long, 0)).or_default().push(rate);
        Ok(samples)
    }

    /// Measures writes and flushes of a candidate.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(super) fn writes(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let mut rig = self.prepared(spec)?;
        let mut samples = Samples::new();
        let small = SMALL.next_multiple_of(rig.block);
        let mut at = rig.any(small);
        for round in 0..ROUNDS * (self.sizes.len() as u64 + 2) {
            let arm = (round % (self.sizes.len() as u64 + 2)) as usize;
            rig.flush();
            let len = self.sizes.get(arm).copied().unwrap_or(small);
            at = if at + len > rig.span { 0 } else { at };
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
        Ok(samples)
    }

    /// Builds a candidate and writes what is read later.
    fn prepared(&self, spec: &Spec) -> Result<Rig, SpecError> {
        let large = spec.fast_cache.is_some() || spec.mapping.map_cache.is_some();
        let span = SPAN[usize::from(large)].min(spec.capacity.0);
        // A limit in front of the drive delays the preparation and not what is measured: bursts are left out.
        let spec = Spec {
            limit: None,
            ..spec.clone()
        };
        let drive = Model::Ssd(Box::new(spec)).build(self.seed)?;
        let mut rig = Rig::new(drive, span, self.seed);
        rig.fill(0..span);
        rig.idle(REST);
        Ok(rig)
    }
}

fn nothing(rig: &mut Rig, samples: &mut Samples) {
    let area = AREA.min(rig.span / 16);
    let block = rig.block;
    rig.serve(&[Ask::new(Op::Trim, 0, area)], 1);
    for _ in 0..NOTHINGS {
        let places = [0; 2].map(|_| rig.below(area / block) * block);
        for at in places {
            rig.read(at, block);
        }
        let one = rig.read(places[0], block);
        samples.entry((What::Nothing, 0)).or_default().push(one);
        let both = rig.pair(places, block);
        samples
            .entry((What::NothingPair, 0))
            .or_default()
            .push(both);
    }
    rig.fill(0..area);
    rig.idle(REST);
}

fn lone(rig: &mut Rig, samples: &mut Samples) {
    let block = rig.block;
    for number in 0..LONES {
        let at = rig.any(block);
        let one = rig.read(at, block);
        samples.entry((What::One, 0)).or_default().push(one);
        if number % 2 == 0 {
            let at = rig.any(2 * block);
            let two = rig.read(at, 2 * block);
            samples.entry((What::Two, 0)).or_default().push(two);
        }
        let places = [0; 2].map(|_| rig.any(block));
        let both = rig.pair(places, block);
        samples.entry((What::Pair, 0)).or_default().push(both);
    }
}

fn closed(rig: &mut Rig, depth: u64, samples: &mut Samples) {
    let count = 2 * depth + (8 * depth).max(256);
    let asks = rig.places(SMALL, count);
    let rate = rig.rate(&asks, depth as usize);
    samples.entry((What::Closed, depth)).or_default().push(rate);
}

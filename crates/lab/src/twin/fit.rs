//! The search for the times: COBYLA (Powell 1994), a derivative-free method with bounds, over the logarithms of the times.
//!
//! It starts at the draft and makes at most a given number of measurements of candidates. Reads are fitted first, then
//! writes, each with the figures that depend on its times. A search is a function of the record: the seed of all candidates
//! is that of the record.

use super::bench::Bench;
use super::direct;
use super::draft::{Arrangement, arrangements, dur, rate};
use super::figures::{Goal, Samples, What, distance};
use cobyla::{Func, RhoBeg, StopTols, minimize};
use fathom_base::{Bytes, Dur, SpecError};
use fathom_ssd::Spec;
use fathom_ssd::spec::{Arbitration, FastCache, Fold, WhenFull};
use rayon::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The measurements of candidates in each search, for each time that is fitted, and once.
const EVALUATIONS: usize = 6;
const EVALUATIONS_MORE: usize = 8;
/// The first steps, as logarithms of factors, and the steps at which a search ends.
const STEP: f64 = 0.15;
const STEP_LEAST: f64 = 0.003;
/// How far a search may leave its start, as the logarithm of a factor.
const REACH: f64 = 1.6;

/// The steps to the times of single commands.
const STEPS: usize = 3;

/// A time or a rate of a drive that is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    Link,
    Bus,
    Program,
    FastProgram,
    Suspend,
}

const READS: &[Knob] = &[Knob::Bus];
const READS_AND_LINK: &[Knob] = &[Knob::Bus, Knob::Link];
const WRITES: &[Knob] = &[Knob::Program, Knob::FastProgram];

impl Knob {
    /// Returns the value, if the drive has such a part and the value is not zero.
    fn get(self, spec: &Spec) -> Option<f64> {
        let value = match self {
            Knob::Link => spec.host.bandwidth.bytes_per_second() as f64,
            Knob::Bus => spec.flash.bus.bytes_per_second() as f64,
            Knob::Program => spec.flash.program.0 as f64,
            Knob::FastProgram => spec.fast_cache.as_ref()?.program.0 as f64,
            Knob::Suspend => spec.flash.suspend_latency.0 as f64,
        };
        (value > 0.0).then_some(value)
    }

    fn set(self, spec: &mut Spec, value: f64) {
        match self {
            Knob::Link => spec.host.bandwidth = rate(value),
            Knob::Bus => spec.flash.bus = rate(value),
            Knob::Program => spec.flash.program = dur(value),
            Knob::FastProgram => {
                if let Some(cache) = &mut spec.fast_cache {
                    cache.program = dur(value);
                }
            }
            Knob::Suspend => suspend(spec, value),
        }
    }
}

/// Lets reads suspend programs. What resuming costs is taken to be as long as suspending.
fn suspend(spec: &mut Spec, ns: f64) {
    spec.flash.arbitration = Arbitration::Suspend;
    spec.flash.suspend_latency = dur(ns);
    spec.flash.suspend_overhead = dur(ns);
}

/// What a fit needs beside the drive.
pub(super) struct Fitting<'a> {
    pub(super) bench: &'a Bench,
    pub(super) goals: &'a [Goal],
    pub(super) recorded: &'a Samples,
    /// The rate of the link is known, and not fitted.
    pub(super) link: bool,
    pub(super) interrupted: &'a (dyn Fn() -> bool + Sync),
    /// The measurements of candidates so far.
    pub(super) evaluations: AtomicU64,
}

type Measure = fn(&Bench, &Spec) -> Result<Samples, SpecError>;

impl Fitting<'_> {
    /// Fits a drive: its page and its fast cache by the times of writes, its channels with the times of reads, and what reads
    /// do while something writes. Also returns the number of the draft.
    pub(super) fn fit(&self, drafts: &[Spec]) -> Option<(usize, Spec)> {
        let numbered = drafts.iter().enumerate();
        let tried =
            numbered.flat_map(|(n, spec)| caches(spec).into_iter().map(move |spec| (n, spec)));
        let (number, spec) = self.best(tried.collect(), |(number, spec)| {
            let spec = self.writes(&self.singles(&spec));
            let cost = self.distance(&spec, Bench::writes, What::writes)
                + self.distance(&spec, Bench::reads, What::reads);
            (cost, (number, spec))
        })?;
        let (knobs, faster) = match self.link {
            true => (READS, 1.0),
            false => (READS_AND_LINK, FASTER),
        };
        let spec = self.best(arranged(&spec, faster), |spec| {
            let spec = self.search(&self.singles(&spec), knobs, Bench::reads, What::reads);
            let spec = self.singles(&spec);
            (self.distance(&spec, Bench::reads, What::reads), spec)
        })?;
        let spec = self.writes(&spec);
        let spec = self.best(orders(&spec), |spec| {
            (self.distance(&spec, Bench::mixed, What::mixed), spec)
        })?;
        let spec = match spec.flash.arbitration {
            Arbitration::Suspend => self.search(&spec, &[Knob::Suspend], Bench::mixed, What::mixed),
            _ => spec,
        };
        Some((number, spec))
    }

    /// Sets the times that single commands tell.
    fn singles(&self, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        for _ in 0..STEPS {
            if (self.interrupted)() {
                break;
            }
            self.evaluations.fetch_add(1, Ordering::Relaxed);
            let Ok(measured) = self.bench.singles(&spec) else {
                break;
            };
            direct::nearer(&mut spec, self.recorded, &measured);
        }
        spec
    }

    fn writes(&self, spec: &Spec) -> Spec {
        self.search(spec, WRITES, Bench::writes, What::writes)
    }

    /// Returns the best of several, the first of equals.
    fn best<A: Send, B: Send>(
        &self,
        all: Vec<A>,
        of: impl Fn(A) -> (f64, B) + Send + Sync,
    ) -> Option<B> {
        let tried: Vec<(f64, B)> = all.into_par_iter().with_max_len(1).map(of).collect();
        let mut tried = tried.into_iter();
        let first = tried.next()?;
        let best = tried.fold(first, |best, one| if one.0 < best.0 { one } else { best });
        Some(best.1)
    }

    /// Returns the distance of a candidate, very large if it is no drive.
    pub(super) fn distance(&self, spec: &Spec, measure: Measure, of: fn(What) -> bool) -> f64 {
        if (self.interrupted)() {
            return f64::MAX;
        }
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        match spec.check().is_ok().then(|| measure(self.bench, spec)) {
            Some(Ok(samples)) => distance(self.goals, &samples, of),
            _ => 1e9,
        }
    }

    /// Searches the values of some knobs for those nearest to the goals.
    fn search(&self, start: &Spec, knobs: &[Knob], measure: Measure, of: fn(What) -> bool) -> Spec {
        let (knobs, from): (Vec<Knob>, Vec<f64>) = knobs
            .iter()
            .filter_map(|knob| Some((*knob, knob.get(start)?.ln())))
            .unzip();
        if knobs.is_empty() || !self.goals.iter().any(|goal| of(goal.what)) {
            return start.clone();
        }
        let drive = |x: &[f64]| {
            let mut spec = start.clone();
            for (knob, value) in knobs.iter().zip(x) {
                knob.set(&mut spec, value.exp());
            }
            spec
        };
        // The library returns its last point, which need not be the best of a noisy function.
        let first = self.distance(start, measure, of);
        let best = RefCell::new((first, start.clone()));
        let cost = |x: &[f64], _: &mut ()| {
            let spec = drive(x);
            let cost = self.distance(&spec, measure, of);
            let mut best = best.borrow_mut();
            if cost < best.0 {
                *best = (cost, spec);
            }
            // Zero would end the search by a division.
            cost + 1e-9
        };
        let bounds: Vec<(f64, f64)> = from.iter().map(|x| (x - REACH, x + REACH)).collect();
        let none: Vec<&dyn Func<()>> = Vec::new();
        let most = EVALUATIONS * knobs.len() + EVALUATIONS_MORE;
        let tolerance = StopTols {
            xtol_abs: vec![STEP_LEAST; knobs.len()],
            ..StopTols::default()
        };
        let _ended = minimize(
            cost,
            &from,
            &bounds,
            &none,
            (),
            most,
            RhoBeg::All(STEP),
            Some(tolerance),
        );
        best.into_inner().1
    }
}

/// How much faster than what was seen a link is at the start of a search: one that was not saturated stays so.
const FASTER: f64 = 1.3;

/// Returns a drive with other arrangements of its dies.
fn arranged(spec: &Spec, faster: f64) -> Vec<Spec> {
    let flash = &spec.flash;
    let dies = u64::from(flash.channels * flash.dies_per_package);
    let lane = flash.page.0 * u64::from(flash.pages_per_block);
    let with = |arrangement: Arrangement| {
        let Arrangement { channels, wide } = arrangement;
        let mut spec = spec.clone();
        spec.host.bandwidth = rate(faster * spec.host.bandwidth.bytes_per_second() as f64);
        spec.flash.channels = channels as u32;
        spec.flash.dies_per_package = (dies / channels) as u32;
        // A wide block may not divide the capacity.
        let whole = spec.capacity.0 / (lane * wide) * (lane * wide);
        if spec.mapping.kind.is_paged() && whole > 0 {
            spec.flash.clustered_block = Bytes(lane * wide);
            spec.capacity = Bytes(whole);
        }
        spec
    };
    arrangements(dies).into_iter().map(with).collect()
}

/// Returns a drive with every manner of its fast cache.
fn caches(spec: &Spec) -> Vec<Spec> {
    let Some(cache) = &spec.fast_cache else {
        return vec![spec.clone()];
    };
    // A cache that has recovered in idle time folds then.
    let folds: &[Fold] = match cache.fold {
        Fold::Idle => &[Fold::Idle],
        Fold::Pressure => &[Fold::Pressure, Fold::Idle],
    };
    let manners = folds
        .iter()
        .flat_map(|fold| [WhenFull::Bypass, WhenFull::Fold].map(|full| (*fold, full)));
    manners
        .map(|(fold, when_full)| {
            let mut spec = spec.clone();
            spec.fast_cache = Some(FastCache {
                fold,
                when_full,
                ..cache.clone()
            });
            spec
        })
        .collect()
}

/// Returns a drive with other orders of reads and programs, and other delays of an idle write buffer.
fn orders(spec: &Spec) -> Vec<Spec> {
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = spec.clone();
        change(&mut spec);
        spec
    };
    let first = [Arbitration::ReadFirst, Arbitration::CommandFirst];
    let mut all: Vec<Spec> = first
        .iter()
        .map(|order| with(&|spec| spec.flash.arbitration = *order))
        .collect();
    all.extend(SUSPENDS.iter().map(|ns| with(&|spec| suspend(spec, *ns))));
    let delayed = |spec: &Spec| {
        let delays = DELAYS.iter().filter(|_| spec.write_buffer.is_some());
        let delayed = delays.map(|delay| {
            let mut spec = spec.clone();
            if let Some(buffer) = &mut spec.write_buffer {
                buffer.idle_delay = *delay;
            }
            spec
        });
        delayed.collect::<Vec<Spec>>()
    };
    let others: Vec<Spec> = all.iter().flat_map(delayed).collect();
    all.extend(others);
    all
}

/// The times of a suspension that are tried first, in nanoseconds, and the delays of an idle write buffer.
const SUSPENDS: [f64; 2] = [8_000.0, 22_000.0];
const DELAYS: [Dur; 2] = [Dur::us(500), Dur::ms(8)];

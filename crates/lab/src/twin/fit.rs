//! The search for the times: COBYLA (Powell 1994), a derivative-free method with bounds, over the logarithms of the times.
//!
//! It starts at the draft and makes at most a given number of measurements of candidates. Reads are fitted first, then
//! writes, each with the figures that depend on its times. A search is a function of the record: the seed of all candidates
//! is that of the record.

use super::bench::Bench;
use super::draft::{dur, rate};
use super::figures::{Goal, Samples, What, distance};
use cobyla::{Func, RhoBeg, StopTols, minimize};
use fathom_base::SpecError;
use fathom_ssd::Spec;
use std::cell::{Cell, RefCell};

/// The measurements of candidates in each search, for each time that is fitted, and once.
const EVALUATIONS: usize = 9;
const EVALUATIONS_MORE: usize = 12;
/// The first steps, as logarithms of factors, and the steps at which a search ends.
const STEP: f64 = 0.15;
const STEP_LEAST: f64 = 0.003;
/// How far a search may leave its start, as the logarithm of a factor.
const REACH: f64 = 1.6;

/// A time or a rate of a drive that is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    Latency,
    Overhead,
    Link,
    Read,
    Bus,
    CommandNoise,
    FlashNoise,
    FastRead,
    Program,
    FastProgram,
}

const READS: &[Knob] = &[
    Knob::Latency,
    Knob::Overhead,
    Knob::Link,
    Knob::Read,
    Knob::Bus,
    Knob::CommandNoise,
    Knob::FlashNoise,
    Knob::FastRead,
];
const WRITES: &[Knob] = &[Knob::Program, Knob::FastProgram];

impl Knob {
    /// Returns the value, if the drive has such a part and the value is not zero.
    fn get(self, spec: &Spec) -> Option<f64> {
        let value = match self {
            Knob::Latency => spec.host.latency.0 as f64,
            Knob::Overhead => spec.host.command_overhead.0 as f64,
            Knob::Link => spec.host.bandwidth.bytes_per_second() as f64,
            Knob::Read => spec.flash.read.0 as f64,
            Knob::Bus => spec.flash.bus.bytes_per_second() as f64,
            Knob::CommandNoise => spec.noise.command_percent,
            Knob::FlashNoise => spec.noise.flash_percent,
            Knob::FastRead => spec.fast_cache.as_ref()?.read.0 as f64,
            Knob::Program => spec.flash.program.0 as f64,
            Knob::FastProgram => spec.fast_cache.as_ref()?.program.0 as f64,
        };
        (value > 0.0).then_some(value)
    }

    fn set(self, spec: &mut Spec, value: f64) {
        let percent = |value: f64| (value * 10.0).round() / 10.0;
        match self {
            Knob::Latency => spec.host.latency = dur(value),
            Knob::Overhead => spec.host.command_overhead = dur(value),
            Knob::Link => spec.host.bandwidth = rate(value),
            Knob::Read => spec.flash.read = dur(value),
            Knob::Bus => spec.flash.bus = rate(value),
            Knob::CommandNoise => spec.noise.command_percent = percent(value.min(90.0)),
            Knob::FlashNoise => spec.noise.flash_percent = percent(value.min(60.0)),
            Knob::Program => spec.flash.program = dur(value),
            Knob::FastRead | Knob::FastProgram => {
                let Some(cache) = &mut spec.fast_cache else {
                    return;
                };
                match self {
                    Knob::FastRead => cache.read = dur(value),
                    _ => cache.program = dur(value),
                }
            }
        }
    }
}

/// What a fit needs beside the drive.
pub(super) struct Fitting<'a> {
    pub(super) bench: &'a Bench,
    pub(super) goals: &'a [Goal],
    pub(super) interrupted: &'a dyn Fn() -> bool,
    /// The measurements of candidates so far.
    pub(super) evaluations: Cell<u64>,
}

type Measure = fn(&Bench, &Spec) -> Result<Samples, SpecError>;

impl Fitting<'_> {
    /// Fits the times of reads, then those of writes.
    pub(super) fn times(&self, spec: &Spec) -> Spec {
        let spec = self.search(spec, READS, Bench::reads, What::reads);
        let writes = |what: What| !what.reads() && !what.mixed();
        self.search(&spec, WRITES, Bench::writes, writes)
    }

    /// Returns the distance of a candidate, very large if it is no drive.
    pub(super) fn distance(&self, spec: &Spec, measure: Measure, of: fn(What) -> bool) -> f64 {
        if (self.interrupted)() {
            return f64::MAX;
        }
        self.evaluations.set(self.evaluations.get() + 1);
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

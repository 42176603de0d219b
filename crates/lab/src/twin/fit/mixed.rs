//! What reads do while something writes: the order of reads and programs, and when a write buffer is emptied: when it is full, or
//! after which delay when it is idle.

use super::knob::{Knob, suspend};
use super::search::{Fitting, LOAD, MIXED, MIXED_NATIVE, Measure, View, WRITES};
use super::writes::writes;
use crate::twin::bench::Bench;
use crate::twin::draft::dur;
use fathom_base::Dur;
use fathom_ssd::Spec;
use fathom_ssd::spec::{Arbitration, Drain};

/// Fits what reads do while something writes, if the record has such reads. Also returns the distance from these figures.
pub(super) fn mixed(fitting: &Fitting<'_>, spec: &Spec) -> Option<(f64, Spec)> {
    if !fitting.has(&[MIXED, LOAD]) {
        return Some((0.0, spec.clone()));
    }
    // Whether a fast cache had room when the probe read and wrote together does not show: the state that fits better counts.
    let states: &[(View, Measure)] = match spec.fast_cache {
        Some(_) => &[(MIXED, Bench::after), (MIXED_NATIVE, Bench::after_native)],
        None => &[(MIXED, Bench::after)],
    };
    let drained: Vec<Spec> = drained(fitting, spec).iter().flat_map(orders).collect();
    let states = states.iter();
    let tried = states.flat_map(|state| drained.iter().map(|spec| (*state, spec.clone())));
    let hidden = spec.write_buffer.as_ref().is_some_and(|b| b.battery);
    let coarse = fitting.ranked(tried.collect(), |fitting, ((state, after), spec)| {
        let stage = Stage {
            fitting,
            state,
            after,
            hidden,
        };
        let mut spec = stage
            .due(&spec)
            .unwrap_or_else(|| stage.delayed(&spec, &DELAYS));
        if hidden {
            spec = stage.program(&spec);
        }
        (stage.cost(&spec), ((state, after), spec))
    });
    let few = coarse.into_iter().take(FEW).collect();
    fitting.best(few, |fitting, ((state, after), spec)| {
        let stage = Stage {
            fitting,
            state,
            after,
            hidden,
        };
        let spec = stage
            .due(&spec)
            .unwrap_or_else(|| stage.delayed(&spec, &finer()));
        let spec = stage.timed(&spec);
        let beside = fitting.distance(&spec, &[state]);
        (stage.cost(&spec), (beside, spec))
    })
}

/// The orders, each in a state, that are looked at more closely.
const FEW: usize = 3;

/// A fit in one state of the drive.
struct Stage<'a, 'b> {
    fitting: &'a Fitting<'b>,
    state: View,
    after: Measure,
    /// No flush and no write waits for a program.
    hidden: bool,
}

impl Stage<'_, '_> {
    /// Fits the times that remain open.
    fn timed(&self, spec: &Spec) -> Spec {
        let suspends = spec.flash.arbitration == Arbitration::Suspend;
        let spec = match suspends {
            true => self.fitting.search(spec, &[Knob::Suspend], &[self.state]),
            false => spec.clone(),
        };
        match self.hidden {
            true => self.program(&spec),
            false => spec,
        }
    }

    /// Fits the time of a program that no flush and no write waits for: reads do.
    fn program(&self, spec: &Spec) -> Spec {
        let views = [WRITES, self.state, LOAD];
        self.fitting.search(spec, &[Knob::Program], &views)
    }

    fn cost(&self, spec: &Spec) -> f64 {
        self.fitting.distance(spec, &[WRITES, self.state, LOAD])
    }

    /// Returns a drive whose idle write buffer is programmed when that of the record was, if reads after a write tell it.
    fn due(&self, spec: &Spec) -> Option<Spec> {
        if fills(spec) {
            return Some(spec.clone());
        }
        let goal = self.fitting.programmed(self.fitting.recorded)?;
        let delayed = |delay: f64| {
            let mut spec = spec.clone();
            spec.write_buffer.as_mut()?.idle_delay = dur(delay);
            Some(spec)
        };
        let mut delay = goal;
        for _ in 0..DELAY_STEPS {
            let samples = (self.after)(&self.fitting.bench, &delayed(delay)?).ok()?;
            let Some(met) = self.fitting.programmed(&samples) else {
                break;
            };
            delay = (delay + goal - met).max(0.0);
        }
        delayed(delay)
    }

    /// Returns a drive with the best of several delays of an idle write buffer and its own.
    fn delayed(&self, spec: &Spec, delays: &[Dur]) -> Spec {
        let delays = delays.iter().filter(|_| spec.write_buffer.is_some());
        let others = delays.map(|delay| {
            let mut spec = spec.clone();
            if let Some(buffer) = &mut spec.write_buffer {
                buffer.idle_delay = *delay;
            }
            spec
        });
        let all = std::iter::once(spec.clone()).chain(others).collect();
        let cost = |part: &Fitting<'_>, spec: Spec| (part.distance(&spec, &[self.state]), spec);
        let best = self.fitting.best(all, cost);
        best.unwrap_or_else(|| spec.clone())
    }
}

/// Returns true if a write buffer is emptied when it is full.
fn fills(spec: &Spec) -> bool {
    let buffer = spec.write_buffer.as_ref();
    buffer.is_some_and(|buffer| buffer.drain == Drain::OnFull)
}

/// Returns a drive, and where it has a write buffer one whose buffer is emptied when it is full: its programs are whole pages, and
/// their time is fitted again.
fn drained(fitting: &Fitting<'_>, spec: &Spec) -> Vec<Spec> {
    let mut full = spec.clone();
    let Some(buffer) = &mut full.write_buffer else {
        return vec![full];
    };
    buffer.drain = Drain::OnFull;
    vec![spec.clone(), writes(fitting, &full)]
}

/// Returns a drive whose reads come before waiting programs, and one whose commands come in turn.
pub(super) fn turns(spec: &Spec) -> Vec<Spec> {
    let with = |order| {
        let mut spec = spec.clone();
        spec.flash.arbitration = order;
        spec
    };
    [Arbitration::ReadFirst, Arbitration::CommandFirst]
        .map(with)
        .into()
}

/// Returns a drive with other orders of reads and programs.
fn orders(spec: &Spec) -> Vec<Spec> {
    let suspending = |ns: f64| {
        let mut spec = spec.clone();
        suspend(&mut spec, ns);
        spec
    };
    let mut all = turns(spec);
    all.extend(SUSPENDS.map(suspending));
    all
}

fn finer() -> Vec<Dur> {
    let finer = (0..DELAYS_FINER).map(|i| DELAY_LEAST * DELAY_STEP.powi(i));
    finer.map(dur).collect()
}

/// Delays of an idle write buffer from 0.1 to 3.6 ms, which is when the next write of a window comes, in nanoseconds.
const DELAYS_FINER: i32 = 18;
const DELAY_LEAST: f64 = 100_000.0;
const DELAY_STEP: f64 = 1.235;
/// The steps to the delay with which reads after a write are slow when those of the record were.
const DELAY_STEPS: usize = 2;
/// The times of a suspension that are tried first, in nanoseconds, and the delays of an idle write buffer.
const SUSPENDS: [f64; 2] = [8_000.0, 22_000.0];
const DELAYS: [Dur; 4] = [Dur::us(200), Dur::us(600), Dur::us(1800), Dur::ms(8)];

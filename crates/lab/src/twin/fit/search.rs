//! A search for times: COBYLA (Powell 1994), a derivative-free method with bounds, over the logarithms of the times.
//!
//! A search is a function of the record: the seed of all candidates is that of the record.

use super::knob::Knob;
use crate::twin::bench::Bench;
use crate::twin::direct;
use crate::twin::figures::{Goal, Samples, What, apart, distance};
use crate::twin::watch::{Far, Watcher};
use cobyla::{Func, RhoBeg, StopTols, minimize};
use fathom_base::SpecError;
use fathom_ssd::{Geometry, Spec};
use rayon::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The measurements of candidates in each search, for each time that is fitted, and once.
const EVALUATIONS: usize = 6;
const EVALUATIONS_MORE: usize = 8;
/// The first steps, as logarithms of factors, and the steps at which a search ends.
const STEP: f64 = 0.15;
/// The first step of a program of the fast cache, which is a guess where the link limits fills.
const STEP_FAST: f64 = 0.5;
const STEP_LEAST: f64 = 0.003;
/// How far a search may leave its start, as the logarithm of a factor.
const REACH: f64 = 1.6;

/// How much longer a program may be than a fill in order allows.
const SLACK: f64 = 1.1;

/// The steps to the times of single commands; those of a drive with a map in flash are shorter.
const STEPS: usize = 3;
const STEPS_MAPPED: usize = 6;

/// A flush, or a write, that takes so many times as long as a flush of nothing waits for a program.
const WAITS: f64 = 2.0;

pub(super) type Measure = fn(&Bench, &Spec) -> Result<Samples, SpecError>;

/// A measurement, and which of its figures count.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) measure: Measure,
    pub(super) of: fn(What) -> bool,
}

pub(super) const READS: View = View {
    measure: Bench::reads,
    of: What::reads,
};
pub(super) const WRITES: View = View {
    measure: Bench::writes,
    of: What::writes,
};
pub(super) const MERGES: View = View {
    measure: Bench::merges,
    of: What::merges,
};
pub(super) const LOAD: View = View {
    measure: Bench::load,
    of: What::load,
};
pub(super) const MIXED: View = View {
    measure: Bench::mixed,
    of: What::mixed,
};
pub(super) const MIXED_NATIVE: View = View {
    measure: Bench::mixed_native,
    of: What::mixed,
};

/// What the parts of a fit have in common.
#[derive(Debug, Default)]
pub(in crate::twin) struct Shared {
    /// The measurements of candidates so far.
    pub(in crate::twin) evaluations: AtomicU64,
    /// The number of the stage, from 0.
    stage: AtomicUsize,
    /// A limit of work ended a search.
    pub(in crate::twin) early: AtomicBool,
}

/// The stages of a fit.
const STAGES: [&str; 6] = [
    "writes and the fast cache",
    "reads and the arrangement of the dies",
    "writes",
    "log blocks",
    "reads during writes",
    "reads and writes together",
];

/// What a fit, or a part of it, needs beside the drive.
pub(in crate::twin) struct Fitting<'a> {
    /// Counts the work of this part.
    pub(in crate::twin) bench: Bench,
    pub(in crate::twin) goals: &'a [Goal],
    pub(in crate::twin) recorded: &'a Samples,
    /// The rate of the link is known, and not fitted.
    pub(in crate::twin) link: bool,
    /// The block of a drive that merges is known.
    pub(in crate::twin) block: bool,
    /// Reads in flight tell the number of dies.
    pub(in crate::twin) dies: bool,
    pub(in crate::twin) watcher: &'a dyn Watcher,
    pub(in crate::twin) shared: &'a Shared,
    /// The limit of the work of this part. It is looked at only where all work so far is done, in whatever order parallel parts
    /// do theirs, so that a search repeats.
    pub(in crate::twin) allowed: u64,
}

impl<'a> Fitting<'a> {
    /// Does a stage, by its number from 0, with half of the work that is left.
    pub(super) fn stage<B>(&self, number: usize, of: impl FnOnce(&Fitting<'a>) -> B) -> B {
        self.shared.stage.store(number, Ordering::Relaxed);
        let part = self.part(self.left() / 2);
        let done = of(&part);
        self.bench.work.add(part.bench.work.operations());
        done
    }

    /// Returns a part of the fit with a limit of its own.
    fn part(&self, allowed: u64) -> Fitting<'a> {
        Fitting {
            bench: self.bench.apart(),
            goals: self.goals,
            recorded: self.recorded,
            link: self.link,
            block: self.block,
            dies: self.dies,
            watcher: self.watcher,
            shared: self.shared,
            allowed,
        }
    }

    fn left(&self) -> u64 {
        self.allowed.saturating_sub(self.bench.work.operations())
    }

    /// Returns true, and notes that the fit ends early, if the limit of work is reached.
    pub(super) fn is_over(&self) -> bool {
        let over = self.left() == 0;
        if over {
            self.shared.early.store(true, Ordering::Relaxed);
        }
        over
    }

    /// Counts the measurement of a candidate.
    fn count(&self) {
        let candidates = 1 + self.shared.evaluations.fetch_add(1, Ordering::Relaxed);
        let stage = self.shared.stage.load(Ordering::Relaxed);
        self.watcher.fitting(Far {
            stage: STAGES[stage.min(STAGES.len() - 1)],
            number: stage + 1,
            of: STAGES.len(),
            candidates,
        });
    }

    /// Sets the times that single commands tell.
    pub(super) fn singles(&self, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        let steps = if spec.mapping.map_cache.is_some() {
            STEPS_MAPPED
        } else {
            STEPS
        };
        for _ in 0..steps {
            if self.watcher.interrupted() || self.is_over() {
                break;
            }
            self.count();
            let Ok(measured) = self.bench.singles(&spec) else {
                break;
            };
            direct::nearer(&mut spec, self.recorded, &measured);
        }
        spec
    }

    /// Returns the best of several, the first of equals. Each is tried by a part of the fit, with an equal share of the work
    /// that is left; if none is left, the first is taken.
    pub(super) fn best<A: Send, B: Send>(
        &self,
        all: Vec<A>,
        of: impl Fn(&Fitting<'a>, A) -> (f64, B) + Send + Sync,
    ) -> Option<B> {
        self.ranked(all, of).into_iter().next()
    }

    /// Returns all in the order of their distances. They are tried as by [`Fitting::best`].
    pub(super) fn ranked<A: Send, B: Send>(
        &self,
        mut all: Vec<A>,
        of: impl Fn(&Fitting<'a>, A) -> (f64, B) + Send + Sync,
    ) -> Vec<B> {
        if self.is_over() {
            all.truncate(1);
        }
        let share = self.left() / all.len().max(1) as u64;
        let tried = all.into_par_iter().with_max_len(1).map(|one| {
            let part = self.part(share);
            let (distance, one) = of(&part, one);
            (distance, part.bench.work.operations(), one)
        });
        let mut tried: Vec<(f64, u64, B)> = tried.collect();
        self.bench
            .work
            .add(tried.iter().map(|(_, work, _)| work).sum());
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        tried.into_iter().map(|(.., one)| one).collect()
    }

    /// Returns the figure of a kind that is to be met, the first one.
    pub(super) fn goal(&self, what: What) -> Option<f64> {
        let goal = self.goals.iter().find(|goal| goal.what == what)?;
        Some(goal.value)
    }

    /// Returns the figure of the shortest write that waits for one program: a flush after it, or the write itself.
    pub(super) fn one_program(&self) -> Option<&'a Goal> {
        let of = |what: What| {
            let goals = self.goals.iter().filter(move |goal| goal.what == what);
            goals.min_by_key(|goal| goal.x)
        };
        let flushes = of(What::Clean).map_or(0.0, |goal| goal.value);
        let waits = |goal: &&Goal| goal.value > WAITS * flushes;
        of(What::Dirty)
            .filter(waits)
            .or_else(|| of(What::Fua).filter(waits))
    }

    /// Returns a figure of writes of a candidate.
    pub(super) fn met(&self, goal: &Goal, spec: &Spec) -> Option<f64> {
        if self.watcher.interrupted() {
            return None;
        }
        self.count();
        goal.met_by(&self.bench.writes(spec).ok()?)
    }

    /// Returns when a drive begins to program what was written, in nanoseconds after the write, if reads show it.
    pub(super) fn programmed(&self, samples: &Samples) -> Option<f64> {
        let began = samples.get(&(What::AfterAt, 0))?;
        Some(self.bench.rounds()?.together(began)?.from)
    }

    /// Returns true if the record has figures of some views.
    pub(super) fn has(&self, views: &[View]) -> bool {
        let mut goals = self.goals.iter();
        goals.any(|goal| views.iter().any(|view| (view.of)(goal.what)))
    }

    /// Returns the distance of a candidate over some views, very large if it is no drive.
    pub(super) fn distance(&self, spec: &Spec, views: &[View]) -> f64 {
        let all = views.iter().map(|view| self.seen_by(spec, view));
        all.sum()
    }

    fn seen_by(&self, spec: &Spec, view: &View) -> f64 {
        let View { measure, of } = view;
        if !self.has(&[*view]) {
            return 0.0;
        }
        if self.watcher.interrupted() {
            return f64::MAX;
        }
        self.count();
        match spec.check().is_ok().then(|| measure(&self.bench, spec)) {
            Some(Ok(samples)) => {
                let apart = match of(What::Slowest) {
                    true => apart(self.recorded, &samples),
                    false => 0.0,
                };
                distance(self.goals, &samples, of) + apart
            }
            _ => 1e9,
        }
    }

    /// Returns the longest program, in nanoseconds, with which all dies together are as fast as a fill in order. Reads that wait
    /// for collection would otherwise make it longer.
    fn longest_program(&self, spec: &Spec) -> Option<f64> {
        let bytes_per_second = self.goal(What::Fill)?;
        let stations = f64::from(Geometry::new(spec).stations);
        let page = spec.flash.clustered_page.0 as f64;
        Some(SLACK * stations * page / bytes_per_second * 1e9)
    }

    /// Searches the values of some knobs for those nearest to the goals.
    pub(super) fn search(&self, start: &Spec, knobs: &[Knob], views: &[View]) -> Spec {
        let most = self.longest_program(start);
        let most = |knob: &Knob| match knob {
            Knob::Program => most.map_or(f64::MAX, f64::ln),
            _ => f64::MAX,
        };
        let (knobs, from): (Vec<Knob>, Vec<f64>) = knobs
            .iter()
            .filter_map(|knob| Some((*knob, knob.get(start)?.ln().min(most(knob)))))
            .unzip();
        if knobs.is_empty() || !self.has(views) || self.is_over() {
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
        let first = drive(&from);
        let begin = self.distance(&first, views);
        let best = RefCell::new((begin, first));
        let cost = |x: &[f64], _: &mut ()| {
            if self.is_over() {
                // The library has no other way to end: all that it asks for from here on is worse.
                return begin + 1.0;
            }
            let spec = drive(x);
            let cost = self.distance(&spec, views);
            let mut best = best.borrow_mut();
            if cost < best.0 {
                *best = (cost, spec);
            }
            // Zero would end the search by a division.
            cost + 1e-9
        };
        let bound = |(x, knob): (&f64, &Knob)| (x - REACH, (x + REACH).min(most(knob)));
        let bounds: Vec<(f64, f64)> = from.iter().zip(&knobs).map(bound).collect();
        let none: Vec<&dyn Func<()>> = Vec::new();
        let step = match knobs.contains(&Knob::FastProgram) {
            true => STEP_FAST,
            false => STEP,
        };
        let evaluations = EVALUATIONS * knobs.len() + EVALUATIONS_MORE;
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
            evaluations,
            RhoBeg::All(step),
            Some(tolerance),
        );
        best.into_inner().1
    }
}

//! The times of programs, by fills and flushes.

use super::knob::Knob;
use super::search::{Fitting, View, WRITES};
use crate::twin::figures::What;
use fathom_ssd::Spec;

/// The share of the link's rate from which a fill with a flush behind each piece is as fast as the link.
const BY_LINK: f64 = 0.7;

/// The largest share of a write that waits for one program by which a search may have traded it, and the steps to its time.
const TRADED: f64 = 0.1;
const STEPS_OF_PROGRAM: usize = 3;

/// Fits the times of programs.
pub(super) fn writes(fitting: &Fitting<'_>, spec: &Spec) -> Spec {
    let fast = View {
        of: |what| what == What::FastFill,
        ..WRITES
    };
    // Fills at the rate of the link do not show it.
    let link = spec.host.bandwidth.bytes_per_second() as f64;
    let shows = fitting
        .goal(What::FastFill)
        .is_some_and(|rate| rate < BY_LINK * link);
    let knobs: &[Knob] = if shows { &[Knob::FastProgram] } else { &[] };
    let spec = fitting.search(spec, knobs, &[fast]);
    fitting.search(&spec, &[Knob::Program], &[WRITES])
}

/// Sets the program by the shortest write that waits for one: the search has traded its time against fills, which also follow from
/// the order in which dies and buses are used.
pub(super) fn by_one_program(fitting: &Fitting<'_>, spec: &Spec) -> Spec {
    let Some(goal) = fitting.one_program().filter(|_| !fitting.is_over()) else {
        return spec.clone();
    };
    let off = |spec: &Spec| Some(goal.value - fitting.met(goal, spec)?);
    let mut best = spec.clone();
    let Some(mut least) = off(spec).filter(|off| off.abs() < TRADED * goal.value) else {
        return best;
    };
    // Which of both a flush waits for depends on whether the fast cache has room.
    for knob in [Knob::FastProgram, Knob::Program] {
        for _ in 0..STEPS_OF_PROGRAM {
            let mut next = best.clone();
            let Some(program) = knob.get(&best) else {
                break;
            };
            knob.set(&mut next, program + least);
            match off(&next) {
                Some(now) if now.abs() < least.abs() => (best, least) = (next, now),
                _ => break,
            }
        }
    }
    best
}

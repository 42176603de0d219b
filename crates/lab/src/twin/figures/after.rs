//! Slow reads after a write: when the drive programs what its memory holds, and how long reads wait for that.

use super::limits::Limits;
use super::what::{Samples, What};
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_base::Dur;
use fathom_probe::{Level, Parameter};
use fathom_stats::excess::{Together, together};
use fathom_stats::location::{mad, median};

/// The writes of a step, and the name with which its steps begin (parameter `stalls`).
const OF_STEP: usize = 8;
const STEP: &str = "after writes";
/// A read is slow from this many times the typical one on, and from so many robust standard deviations of the logarithm.
const SLOW_TIMES: f64 = 1.1;
const SLOW_DEVIATIONS: f64 = 4.0;
const MAD_OF_NORMAL: f64 = 0.6745;
/// What is added to the number of slow reads of a write, so that none is a figure, too.
pub(super) const MORE: f64 = 0.1;

/// For how long reads follow a write of a candidate: this many times as long as the slow reads of the record come together, and
/// this much more.
const LONGER: f64 = 2.0;
const LOOK: Dur = Dur::ms(4);

/// How the record has looked for slow reads after a write.
#[derive(Clone, Copy, Debug)]
pub(in crate::twin) struct Rounds {
    /// The writes.
    pub(in crate::twin) count: usize,
    /// How long reads followed each of them.
    pub(in crate::twin) read: Dur,
    /// For how long reads of a candidate follow: those of the record come together in this time.
    pub(in crate::twin) look: Dur,
    /// From where on a read is slow, in nanoseconds.
    pub(in crate::twin) slow_ns: f64,
}

impl Rounds {
    pub(in crate::twin) fn of(seen: &Seen<'_>) -> Option<Self> {
        let steps = seen.record.steps.iter();
        let steps =
            steps.filter(|step| step.parameter == Parameter::Stalls && step.name.starts_with(STEP));
        let count = steps.count() * OF_STEP;
        let alone = seen.times(Parameter::Stalls, series::ALONE, None);
        let logs: Vec<f64> = alone.iter().map(|ns| ns.max(1.0).ln()).collect();
        let far = (SLOW_DEVIATIONS * mad(&logs)? / MAD_OF_NORMAL).exp();
        let read = Dur::ms(match seen.record.meta.level {
            Level::Quick => 40,
            Level::Full => 100,
        });
        let near = together(&began(seen), read.0 as f64);
        let look = near.map_or(LOOK, |near| LOOK + Dur((LONGER * near.to) as u64));
        (count > 0).then_some(Self {
            count,
            read,
            look: look.min(read),
            slow_ns: median(&alone)? * SLOW_TIMES.max(far),
        })
    }

    /// Makes samples of slow reads: when each began after its write, and how long it took. Those that come at any time are
    /// none.
    pub(in crate::twin) fn samples(&self, slow: &[(f64, f64)], all: &mut Samples) {
        let began: Vec<f64> = slow.iter().map(|(began, _)| *began).collect();
        let near = self.together(&began);
        let of = |(began, _): &&(f64, f64)| near.is_some_and(|t| (t.from..=t.to).contains(began));
        let took: Vec<f64> = slow.iter().filter(of).map(|(_, took)| *took).collect();
        let count = MORE + took.len() as f64 / self.count as f64;
        all.insert((What::AfterCount, 0), vec![count]);
        if near.is_some() {
            all.insert((What::After, 0), took);
            all.insert((What::AfterAt, 0), began);
        }
    }

    /// Returns when the slow reads begin that come together.
    pub(in crate::twin) fn together(&self, began: &[f64]) -> Option<Together> {
        together(began, self.read.0 as f64)
    }
}

fn began(seen: &Seen<'_>) -> Vec<f64> {
    slow(seen).iter().map(|(began, _)| *began).collect()
}

/// Returns the slow reads after a write of a record, as [`Rounds::samples`] takes them.
fn slow(seen: &Seen<'_>) -> Vec<(f64, f64)> {
    let samples = seen.series(Parameter::Stalls, series::AFTER_WRITE).iter();
    samples
        .map(|sample| (sample.x as f64, sample.ns.max(1) as f64))
        .collect()
}

/// Adds the slow reads after a write of a record.
pub(super) fn add(seen: &Seen<'_>, limits: &Limits, all: &mut Samples) {
    if let Some(rounds) = Rounds::of(seen).filter(|_| limits.let_lone_pass()) {
        rounds.samples(&slow(seen), all);
    }
}

/// Returns when the drive of a record begins to program what was written, in nanoseconds after the write, if reads show it.
pub(in crate::twin) fn programmed(seen: &Seen<'_>) -> Option<f64> {
    let rounds = Rounds::of(seen).filter(|_| Limits::of(seen).let_lone_pass())?;
    Some(rounds.together(&began(seen))?.from)
}

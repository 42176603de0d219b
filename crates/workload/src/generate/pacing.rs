//! Generation of access times.

use super::Pacing;
use fathom_base::{Dur, Rng, Time};

const NS_PER_SECOND: f64 = 1e9;

/// The state of a pacing.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pacing: Pacing,
    now: Time,
    given: u64,
    /// Remaining time of the current on period, in nanoseconds.
    burst_left: f64,
}

impl Clock {
    pub(super) fn new(pacing: Pacing, rng: &mut Rng) -> Self {
        let burst_left = match pacing {
            Pacing::Bursts { on, .. } => rng.exponential(on.0 as f64),
            _ => 0.0,
        };
        Self {
            pacing,
            now: Time::ZERO,
            given: 0,
            burst_left,
        }
    }

    /// Returns the time of the next access.
    #[inline(always)]
    pub(super) fn next(&mut self, rng: &mut Rng) -> Time {
        let now = self.now;
        self.given += 1;
        match self.pacing {
            Pacing::Closed => {}
            // Computed from the start, so that rounding errors do not accumulate.
            Pacing::Fixed { per_second } => {
                self.now = Time((self.given as f64 * NS_PER_SECOND / per_second).round() as u64);
            }
            Pacing::Poisson { per_second } => {
                self.pass(rng.exponential(NS_PER_SECOND / per_second));
            }
            Pacing::Bursts {
                per_second,
                on,
                off,
            } => {
                let gap = self.gap_with_pauses(NS_PER_SECOND / per_second, on, off, rng);
                self.pass(gap);
            }
        }
        now
    }

    fn pass(&mut self, ns: f64) {
        self.now += Dur(ns.round() as u64);
    }

    /// Draws an exponential gap that counts on periods only. When an on period ends, the rest of the gap is drawn again;
    /// this does not change the distribution, because exponential times are memoryless.
    fn gap_with_pauses(&mut self, mean_ns: f64, on: Dur, off: Dur, rng: &mut Rng) -> f64 {
        let mut passed = 0.0;
        loop {
            let gap = rng.exponential(mean_ns);
            if gap <= self.burst_left {
                self.burst_left -= gap;
                return passed + gap;
            }
            passed += self.burst_left + rng.exponential(off.0 as f64);
            self.burst_left = rng.exponential(on.0 as f64);
        }
    }
}

//! Limits of rates, and the operations that end a thread.

use super::state::Filebench;
use super::thread::{Count, Outcome};
use crate::program::filebench::language::{Flowop, Kind};
use fathom_base::Time;
use fathom_platform::Step;

const MIB: u64 = 1 << 20;

impl Filebench {
    /// Performs a limit, or an operation that ends the thread.
    pub(super) fn limit(&mut self, thread: usize, flowop: &Flowop, now: Time) -> Outcome {
        let count = self.counted(thread, flowop);
        let value = flowop.value.fixed().unwrap_or(0);
        match flowop.kind {
            Kind::FinishOnCount if count.operations >= value => Outcome::Stop,
            Kind::FinishOnBytes if count.bytes() > value => Outcome::Stop,
            Kind::FinishOnCount | Kind::FinishOnBytes => Outcome::done(),
            _ if !self.events.enabled() => Outcome::Skipped,
            Kind::EventLimit => self.events_for(1, now),
            Kind::BwLimit => self.paced(thread, count.bytes(), MIB, now),
            Kind::IopsLimit => self.paced(thread, count.accesses(), 1, now),
            _ => self.paced(thread, count.operations, 1, now),
        }
    }

    /// What the target of a flowop has done, in its thread; all threads if there is no target.
    fn counted(&self, thread: usize, flowop: &Flowop) -> Count {
        let of = &self.threads[thread];
        let flowops = &self.groups[of.group].flowops;
        let target = flowop.target.as_ref();
        let at = target.and_then(|name| flowops.iter().position(|other| other.name == *name));
        at.map_or(self.totals, |at| of.counts[at])
    }

    fn events_for(&mut self, events: u64, now: Time) -> Outcome {
        match self.events.take(events, now) {
            Ok(()) => Outcome::done(),
            Err(at) => Outcome::Again(Step::SleepUntil(at.min(self.end))),
        }
    }

    /// Takes an event for each `unit` that was counted since the last time, as filebench's buckets do.
    fn paced(&mut self, thread: usize, count: u64, unit: u64, now: Time) -> Outcome {
        let of = &mut self.threads[thread];
        let limit = of.limits.entry(of.at).or_default();
        if limit.last == 0 {
            limit.last = count;
            return Outcome::Skipped;
        }
        limit.bucket -= (count - limit.last) as i64;
        limit.last = count;
        if limit.bucket >= 0 {
            return Outcome::done();
        }
        let missing = limit.bucket.unsigned_abs();
        let events = match unit {
            1 => missing,
            unit => missing / unit + 1,
        };
        let outcome = self.events_for(events, now);
        if let Outcome::Done(_) = outcome {
            let of = &mut self.threads[thread];
            let limit = of.limits.entry(of.at).or_default();
            limit.bucket = limit.bucket.saturating_add((events * unit) as i64);
        }
        outcome
    }
}

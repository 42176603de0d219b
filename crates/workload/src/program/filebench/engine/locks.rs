//! Semaphores, and waiting for writes.

use super::state::Filebench;
use super::thread::{Outcome, Stage};
use crate::program::filebench::language::{Flowop, Kind};
use fathom_base::Time;
use fathom_platform::{Host, Step};

impl Filebench {
    /// Performs `semblock`, `sempost` or `aiowait`.
    pub(super) fn lock(
        &mut self,
        thread: usize,
        flowop: &Flowop,
        host: &mut Host,
        now: Time,
    ) -> Outcome {
        let value = flowop.value.fixed().unwrap_or(1);
        match flowop.kind {
            Kind::SemBlock => self.block(thread, value, host, now),
            Kind::SemPost => self.post(thread, flowop, host, now),
            _ => {
                let in_flight = host.writes_in_flight(thread);
                if in_flight > 0 {
                    let at_most = in_flight - (in_flight / 2).max(1);
                    self.threads[thread].then.push(Step::Settle { at_most });
                }
                Outcome::done()
            }
        }
    }

    /// Allows posts once, then waits for them.
    fn block(&mut self, thread: usize, value: u64, host: &mut Host, now: Time) -> Outcome {
        let of = &mut self.threads[thread];
        let Some(&semaphore) = of.semaphores.get(&of.at) else {
            return Outcome::Skipped;
        };
        let semaphore = &mut self.semaphores[semaphore];
        if of.stage == Stage::Begin {
            of.stage = Stage::Wait;
            for poster in semaphore.allow(value) {
                host.wake(poster, now);
            }
        }
        match semaphore.take(value) {
            true => {
                of.stage = Stage::Begin;
                Outcome::done()
            }
            false => Outcome::Again(Step::SleepUntil(self.end)),
        }
    }

    /// Posts to each semaphore of the target in turn.
    fn post(&mut self, thread: usize, flowop: &Flowop, host: &mut Host, now: Time) -> Outcome {
        let value = flowop.value.fixed().unwrap_or(1);
        let targets = flowop
            .target
            .as_ref()
            .and_then(|name| self.targets.get(name));
        let targets = targets.map_or(&[][..], |targets| targets);
        let of = &mut self.threads[thread];
        let first = match of.stage {
            Stage::Post(at) => at,
            _ => 0,
        };
        for (at, &target) in targets.iter().enumerate().skip(first) {
            let semaphore = &mut self.semaphores[target];
            if !semaphore.post(thread, value, flowop.blocking) {
                of.stage = Stage::Post(at);
                return Outcome::Again(Step::SleepUntil(self.end));
            }
            if semaphore.wakes_owner() {
                host.wake(semaphore.owner, now);
            }
        }
        of.stage = Stage::Begin;
        Outcome::done()
    }
}

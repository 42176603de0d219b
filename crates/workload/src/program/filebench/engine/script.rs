//! The threads as a script: each repeats its list until the run is over.

use super::state::Filebench;
use super::thread::{Count, Outcome};
use crate::program::filebench::language::{Flowop, Kind, Quit};
use fathom_base::{Dur, Time};
use fathom_platform::{Counter, Failed, Host, Script, Step};
use std::sync::Arc;

/// Time that a list costs in which no other time passes, so that a run ends.
const ROUND_MIN: Dur = Dur::us(1);

impl Filebench {
    fn is_over(&self, now: Time) -> bool {
        let reached = |limit: Option<u64>, count| limit.is_some_and(|limit| count >= limit);
        self.over
            || now >= self.end
            || reached(self.limits.operations, self.totals.operations)
            || reached(self.limits.accesses, self.totals.accesses())
    }

    /// Ends a thread. If the run is over, wakes all others so that they end as well.
    fn end(&mut self, all: bool, host: &mut Host, now: Time) -> Step {
        if all && !self.over {
            self.over = true;
            (0..self.threads.len()).for_each(|thread| host.wake(thread, now));
        }
        self.ended = self.ended.max(now);
        Step::End
    }

    /// Ends a thread that finds no file or has reached its count.
    fn stop(&mut self, flowop: &Flowop, host: &mut Host, now: Time) -> Step {
        let finishes = matches!(flowop.kind, Kind::FinishOnBytes | Kind::FinishOnCount);
        self.stopped_early |= self.quit == Quit::Timeout && !finishes;
        self.end(self.quit != Quit::AllDone, host, now)
    }

    /// Goes to the next flowop. Returns a step if the thread was through its list in no time.
    fn advance(&mut self, thread: usize, host: &Host, now: Time) -> Option<Step> {
        let of = &mut self.threads[thread];
        of.left = None;
        of.at += 1;
        if of.at < self.groups[of.group].flowops.len() {
            return None;
        }
        of.at = 0;
        let stands = of.began == now;
        of.began = now;
        stands.then(|| Step::Compute(host.operation().max(ROUND_MIN)))
    }

    fn perform(
        &mut self,
        thread: usize,
        flowop: &Flowop,
        host: &mut Host,
        now: Time,
    ) -> Result<Outcome, Failed> {
        use Kind as K;
        Ok(match flowop.kind {
            K::Hog | K::Delay => {
                let of = &mut self.threads[thread];
                let value = of.rngs.draw(&flowop.value);
                of.then.push(match flowop.kind {
                    // A nanosecond a loop is an assumption.
                    K::Hog => Step::Compute(Dur(value)),
                    _ => {
                        let wait = value.saturating_mul(1_000_000_000);
                        Step::SleepUntil(Time(now.0.saturating_add(wait)).min(self.end))
                    }
                });
                Outcome::done()
            }
            K::SemBlock | K::SemPost | K::AioWait => self.lock(thread, flowop, host, now),
            K::EventLimit
            | K::BwLimit
            | K::IopsLimit
            | K::OpsLimit
            | K::FinishOnBytes
            | K::FinishOnCount => self.limit(thread, flowop, now),
            _ => return self.on_files(thread, flowop, host, now),
        })
    }

    /// Accounts a flowop that is done. Returns its processor time.
    fn account(&mut self, thread: usize, flowop: &Flowop, done: &Count, host: &Host) -> Dur {
        self.totals.add(done);
        let of = &mut self.threads[thread];
        of.counts[of.at].add(done);
        let left = of.left.map_or(0, |left| left.saturating_sub(1));
        of.left = Some(left);
        match is_call(flowop.kind) && done.operations > 0 {
            true => host.operation(),
            false if left > 0 && of.then.is_empty() => ROUND_MIN,
            false => Dur::ZERO,
        }
    }
}

/// Whether a flowop is a system call on a file.
fn is_call(kind: Kind) -> bool {
    use Kind as K;
    !matches!(
        kind,
        K::Hog
            | K::Delay
            | K::SemBlock
            | K::SemPost
            | K::AioWait
            | K::EventLimit
            | K::BwLimit
            | K::IopsLimit
            | K::OpsLimit
            | K::FinishOnBytes
            | K::FinishOnCount
    )
}

impl Script for Filebench {
    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn step(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        if let Some(step) = self.threads[thread].then.pop() {
            return Ok(step);
        }
        let groups = Arc::clone(&self.groups);
        let flowops = &groups[self.threads[thread].group].flowops;
        loop {
            if self.is_over(now) {
                return Ok(self.end(true, host, now));
            }
            let of = &mut self.threads[thread];
            let flowop = &flowops[of.at];
            let left = match of.left {
                Some(left) => left,
                None => of.rngs.draw(&flowop.iterations),
            };
            of.left = Some(left);
            if left == 0 {
                match self.advance(thread, host, now) {
                    Some(step) => return Ok(step),
                    None => continue,
                }
            }
            return Ok(match self.perform(thread, flowop, host, now)? {
                Outcome::Done(count) => Step::Compute(self.account(thread, flowop, &count, host)),
                Outcome::Skipped => {
                    Step::Compute(self.account(thread, flowop, &Count::default(), host))
                }
                Outcome::Again(step) => step,
                Outcome::Stop => self.stop(flowop, host, now),
            });
        }
    }

    fn part(&self, now: Time) -> Option<f64> {
        Some(now.0 as f64 / self.end.0.max(1) as f64)
    }

    fn counters(&self) -> Vec<Counter> {
        let ran = self.ended.since(Time::ZERO);
        let rate = |name, value: u64, scale: f64, unit| Counter {
            name,
            value: value as f64 / scale / ran.as_secs_f64().max(1e-9),
            unit,
        };
        let all = &self.totals;
        vec![
            Counter::count("operations", all.operations, ""),
            Counter::count("reads", all.reads, ""),
            Counter::count("writes", all.writes, ""),
            Counter::count("file-syncs", self.syncs, ""),
            Counter::count("bytes-read", all.bytes_read, "B"),
            Counter::count("bytes-written", all.bytes_written, "B"),
            Counter::count("stopped-early", u64::from(self.stopped_early), ""),
            Counter::seconds("ran", ran),
            rate("operation-rate", all.operations, 1.0, "/s"),
            rate("bandwidth", all.bytes(), 1e6, "MB/s"),
        ]
    }
}

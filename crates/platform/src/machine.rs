//! A script on a machine, as a program for the run loop.

use crate::host::Event;
use crate::{Counter, Failed, Host, Mount, Processors, Step, System};
use fathom_base::{Bytes, Time};
use fathom_block::program::{Done, Next, Program};

/// The behaviour of the threads of a program: the part of a benchmark that is independent of cache and drive.
pub trait Script {
    /// Number of threads.
    fn threads(&self) -> usize;

    /// Returns the next step of a thread (from 0), which has finished its previous one.
    ///
    /// # Errors
    /// The reason why the run ends.
    fn step(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed>;

    /// The counters of the script.
    fn counters(&self) -> Vec<Counter>;

    /// The part of the script that is done at a time, from 0 to 1; `None` if its end is unknown.
    fn part(&self, _now: Time) -> Option<f64> {
        None
    }
}

/// A program with counters: a benchmark.
pub trait Benchmark: Program<Error = Failed> {
    /// The counters so far, in the order in which they are shown.
    fn counters(&self) -> Vec<Counter>;

    /// Makes the threads compute on these processors instead of their own, before the run. What they share them with
    /// delays them, such as the system below that carries their requests.
    fn compute_on(&mut self, processors: Processors);

    /// Bounds the length of every request by what the drive takes at a time, as the kernel does (`max_sectors_kb`). At
    /// least a block of the file system stays.
    fn bound_requests(&mut self, longest: Bytes);
}

/// A script on a machine.
#[derive(Debug)]
pub struct Machine<S> {
    script: S,
    host: Host,
}

impl<S: Script> Machine<S> {
    /// Starts all threads with an empty cache.
    pub fn new(script: S, mount: Mount, system: System) -> Self {
        let host = Host::new(mount, system, script.threads());
        Self { script, host }
    }

    /// The machine below the script.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Handles all events up to and including `now`.
    fn advance(&mut self, now: Time) -> Result<(), Failed> {
        while let Some((at, event)) = self.host.due(now) {
            match event {
                Event::Run(thread) => self.run(thread as usize, at)?,
                Event::Through(job) => self.host.resume(job, at)?,
                Event::Commit => self.host.commit_due(at),
                Event::Expire => self.host.expire(at),
            }
            self.host.pump(at);
        }
        Ok(())
    }

    fn run(&mut self, thread: usize, now: Time) -> Result<(), Failed> {
        while self.host.go_on(thread, now)? {
            let step = self.script.step(thread, &mut self.host, now)?;
            self.host.begin(thread, step, now);
        }
        Ok(())
    }
}

impl<S: Script> Program for Machine<S> {
    type Error = Failed;

    fn actors(&self) -> usize {
        self.host.actors()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, Failed> {
        self.advance(now)?;
        Ok(match self.host.take_request(actor) {
            Some(request) => Next::Request(request),
            // Any completion may be of a page that another thread waits for.
            None => Next::Watch(self.host.next_event()),
        })
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), Failed> {
        self.host.done(actor, done)
    }

    fn part(&self, now: Time) -> Option<f64> {
        self.script.part(now)
    }
}

impl<S: Script> Benchmark for Machine<S> {
    fn counters(&self) -> Vec<Counter> {
        let mut counters = self.script.counters();
        counters.extend(self.host.counters());
        counters
    }

    fn compute_on(&mut self, processors: Processors) {
        self.host.compute_on(processors);
    }

    fn bound_requests(&mut self, longest: Bytes) {
        self.host.bound_requests(longest);
    }
}

//! A machine that runs a program of files over a drive: threads, processors, a page cache, write-back and a journal.
//!
//! What ext3 in ordered mode and Linux 2.6.23 do in outline, as a drive below sees it:
//! - A read of a page that is not in memory waits for the drive; reading ahead is [`ReadAhead`]. A write makes pages
//!   dirty and goes on, unless too many are ([`System::dirty_percent`]).
//! - Creating, deleting, growing, writing and (with [`System::access_times`]) reading a file change blocks of metadata.
//!   A block that is not in memory is read first. A changed block is held until its transaction is committed.
//! - A transaction commits so long after its first change ([`System::commit`]), or when it fills a quarter of the
//!   journal: all dirty data is written and waited for, then the blocks of metadata go to the journal one behind the
//!   other, then the commit record behind them. Nobody waits for a commit. The metadata goes to its places
//!   [`System::expire`] later.
//! - Above [`System::background_percent`] dirty pages are written in the background. One actor, the last one, does all
//!   of this, with so many requests in flight ([`System::window`]): files in the order in which they became dirty,
//!   pages by offset, one request for what lies in one piece.
//! - A dirty page whose file is deleted is dropped.
//! - When all threads have ended everything is written, as by `sync`.
//!
//! Left out: reading the blocks of one operation one after the other (they are asked for together), waiting for a
//! journal that is full, buffers for the metadata beside the cache, swapping, time slices (computing is first come,
//! first served), `O_DIRECT` and mapped files.
//!
//! Within the program everything is an event in one queue, so that threads that wake each other do so at once and every
//! actor, when asked, has its answer ready. An actor waits until the next event of the whole machine.

mod flush;
mod host;
mod metadata;
mod settings;
mod thread;

pub use host::{Counter, Host};
pub use settings::System;
pub(crate) use settings::want;

use super::cache::{ReadAhead, Window};
use super::files::{FileId, Full, Volume};
use super::{Answer, Benchmark, Next, Program};
use fathom_base::{Dur, Time};
use host::Event;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It computes.
    Compute(Dur),
    /// It reads in calls of so many bytes each.
    Read {
        /// Which file.
        file: FileId,
        /// From which byte.
        from: u64,
        /// How many bytes; what is over the end of the file is not read.
        len: u64,
        /// Bytes of a call; reading ahead starts from it.
        call: u64,
    },
    /// It writes; pages become dirty. Where there is no room for all of it, it ends there and is counted.
    Write {
        /// Which file.
        file: FileId,
        /// From which byte, at most the file's length.
        from: u64,
        /// How many bytes.
        len: u64,
    },
    /// It writes to the drive (`O_DSYNC`) and goes on while that is done (`aio_write`), as long as at most so many of
    /// its writes are in flight.
    WriteThrough {
        /// Which file.
        file: FileId,
        /// From which byte, at most the file's length.
        from: u64,
        /// How many bytes.
        len: u64,
        /// Its writes in flight, this one included; at least 1.
        at_most: u32,
    },
    /// It waits until at most so many of its writes to the drive are in flight.
    Settle {
        /// How many.
        at_most: u32,
    },
    /// It waits until [`Host::wake`].
    Sleep,
    /// It ends.
    End,
}

/// What the threads of a program do: the part of a benchmark that knows no cache and no drive.
pub trait Script {
    /// How many threads.
    fn threads(&self) -> usize;

    /// What a thread (from 0) does now; it has done what it did before.
    ///
    /// # Errors
    /// The end of the run.
    fn step(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed>;

    /// What it has counted.
    fn counters(&self) -> Vec<Counter>;
}

/// Why a program of files ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// There is no room for a directory, or for what is written to the drive at once.
    #[error("the file system is full: {0}; use fewer or shorter files, or fill the drive less")]
    Full(#[from] Full),
    /// An answer came to nothing that was asked for.
    #[error("an answer came for byte {offset}, where nothing was in flight")]
    Stray {
        /// Where, in bytes.
        offset: u64,
    },
}

/// A script on a machine.
#[derive(Debug)]
pub struct Machine<S> {
    script: S,
    host: Host,
}

impl<S: Script> Machine<S> {
    /// Starts all threads. Nothing is in memory.
    pub fn new(script: S, volume: Volume, system: System) -> Self {
        let host = Host::new(volume, system, script.threads());
        Self { script, host }
    }

    /// The machine below the script.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Everything up to and including `now`.
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
        Ok(match self.host.take_ask(actor) {
            Some(ask) => Next::Ask(ask),
            // Any answer may be to a page that another thread waits for.
            None => Next::Watch(self.host.next_event()),
        })
    }

    fn done(&mut self, _actor: usize, answer: Answer<'_>) -> Result<(), Failed> {
        self.host.answered(answer)
    }
}

impl<S: Script> Benchmark for Machine<S> {
    fn counters(&self) -> Vec<Counter> {
        let mut counters = self.script.counters();
        counters.extend(self.host.counters());
        counters
    }
}

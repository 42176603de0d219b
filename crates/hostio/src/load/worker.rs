//! A thread of a load: sets up its engine, waits for the start, warms up, measures.

use super::aio::AioQueue;
use super::config::{Caching, Engine, LoadConfig};
use super::helper::{self, KernelThread};
use super::offsets::Offsets;
use super::pass::{End, Limit, Loop};
use super::queue::Queue;
use super::report::ThreadLoad;
use super::seen::Seen;
use super::sync::SyncQueue;
use super::target::Target;
use super::ticks::Ticks;
use super::uring::{RingWish, UringQueue, Way};
use super::usage::{Start, Usage};
use crate::error::{HostError, os_error};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::{CpuSet, gettid, sched_getcpu, sched_setaffinity};
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// When the parts of a load end, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub(super) warm_end: u64,
    pub(super) end: u64,
}

/// A thread of a load.
pub(super) struct Worker<'a> {
    pub(super) config: &'a LoadConfig,
    pub(super) target: &'a Target,
    /// Number of the thread.
    pub(super) number: u32,
    pub(super) ticks: Ticks,
    /// The caller's flag.
    pub(super) stop: &'a AtomicBool,
    /// Set by the first thread that fails.
    pub(super) failed: &'a AtomicBool,
}

/// The ends of the channels between a worker and the caller.
pub(super) struct Signals {
    /// Tells that the worker is ready; dropped without a word if it has failed.
    pub(super) ready: Sender<()>,
    /// Brings the schedule; closed if the load does not start.
    pub(super) start: Receiver<Schedule>,
}

impl Worker<'_> {
    /// Does everything. Returns `None` if the load does not start.
    ///
    /// # Errors
    /// The engine is not available, or a read failed.
    pub(super) fn run(&self, signals: Signals) -> Result<Option<ThreadLoad>, HostError> {
        let result = self.with_engine(signals);
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }

    fn with_engine(&self, signals: Signals) -> Result<Option<ThreadLoad>, HostError> {
        self.pin()?;
        let (config, target) = (self.config, self.target);
        let file = target.open()?;
        let none = |errno| target.no_queue(errno);
        let (depth, len) = (config.depth, target.block_bytes);
        let way = match config.engine {
            Engine::Pread => {
                return self.load(SyncQueue::new(file, len).map_err(none)?, signals);
            }
            Engine::Libaio => {
                return self.load(AioQueue::new(file, depth, len).map_err(none)?, signals);
            }
            Engine::IoUring => Way::Interrupt,
            Engine::IoUringPolled => Way::Polled,
            Engine::IoUringSqThread => Way::SqThread {
                cpu: config.sq_cpu,
                idle_ms: config.sq_idle_ms,
            },
        };
        let wish = RingWish {
            way,
            depth,
            len,
            register_buffers: config.register_buffers,
        };
        let ring = UringQueue::new(file, wish);
        let errno = |error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        self.load(ring.map_err(|error| none(errno(error)))?, signals)
    }

    /// Stays on its processor from now on.
    fn pin(&self) -> Result<(), HostError> {
        let cpus = &self.config.cpus;
        let Some(&cpu) = cpus.get(self.number as usize % cpus.len().max(1)) else {
            return Ok(());
        };
        let mut only = CpuSet::new();
        only.set(cpu as usize);
        let pinned = sched_setaffinity(None, &only);
        pinned.map_err(|errno| os_error(&self.target.path, "stay on a processor", errno.into()))
    }

    fn load<Q: Queue>(
        &self,
        mut queue: Q,
        signals: Signals,
    ) -> Result<Option<ThreadLoad>, HostError> {
        let config = self.config;
        // A second descriptor, whose only use is the page cache.
        let cache = match config.caching {
            Caching::Direct => None,
            _ => Some(self.target.open()?),
        };
        let check = match config.verify {
            true => Some(File::open(&self.target.path)),
            false => None,
        };
        let check = check
            .transpose()
            .map_err(|e| os_error(&self.target.path, "read", e))?;
        let mut offsets = self.offsets();
        let mut seen = Seen::new(self.ticks.tick_ns, config.stamps_max);
        let stops = [self.stop, self.failed];
        let pass = Loop::new(self.target, self.ticks, stops, config.depth);
        let mut part = Ready {
            worker: self,
            pass: pass.batched(config.batch_max).checked(check),
            cache: cache.as_ref(),
        };
        if let (Caching::Hit, Some(cache)) = (config.caching, &cache) {
            self.target.fill_cache(cache)?;
        }
        let Signals { ready, start } = signals;
        // The caller listens until all have answered.
        let _caller_is_gone = ready.send(());
        drop(ready);
        let Ok(Schedule { warm_end, end }) = start.recv() else {
            return Ok(None);
        };
        let warm = Limit {
            end: warm_end,
            ios: u64::MAX,
        };
        part.until(warm, &mut queue, &mut offsets, &mut seen)?;
        seen.clear();
        part.pass.mismatches = 0;
        let limit = Limit {
            end,
            ios: config.ios_max.unwrap_or(u64::MAX),
        };
        let used = part.until(limit, &mut queue, &mut offsets, &mut seen)?;
        Ok(Some(self.report(
            used,
            part.pass.mismatches,
            seen,
            queue.granted(),
        )))
    }

    /// Returns the source of its places. Where no place may be read twice, each of the threads on a target has a part of it.
    fn offsets(&self) -> Offsets {
        let targets = self.config.targets.len() as u64;
        let (number, threads) = (u64::from(self.number), u64::from(self.config.threads));
        let miss = self.config.caching == Caching::Miss;
        let part = match miss {
            true => {
                let sharing = (threads - number % targets).div_ceil(targets);
                self.target.part.piece(number / targets, sharing)
            }
            false => self.target.part,
        };
        Offsets::new(part, self.config.seed, number, miss)
    }

    fn report(&self, used: Used, mismatches: u64, seen: Seen, granted: &'static str) -> ThreadLoad {
        let Used {
            mut usage,
            kernel_threads,
            calls,
        } = used;
        for thread in &kernel_threads {
            let both = usage.device_read_bytes.zip(thread.device_read_bytes);
            usage.device_read_bytes = both.map(|(a, b)| a + b);
        }
        ThreadLoad {
            target: self.number as usize % self.config.targets.len(),
            tid: gettid().as_raw_nonzero().get().unsigned_abs(),
            cpu: sched_getcpu() as u32,
            ios: seen.ios,
            bytes: seen.ios * u64::from(self.target.block_bytes),
            calls,
            usage,
            kernel_threads,
            latency: seen.latency,
            stamps: seen.stamps,
            mismatches,
            granted,
        }
    }
}

/// What was used in a part of a load.
struct Used {
    usage: Usage,
    kernel_threads: Vec<KernelThread>,
    calls: u64,
}

/// A thread that is set up.
struct Ready<'a> {
    worker: &'a Worker<'a>,
    pass: Loop<'a>,
    cache: Option<&'a OwnedFd>,
}

impl Ready<'_> {
    /// Reads until the limit, and returns what the reads used.
    fn until<Q: Queue>(
        &mut self,
        limit: Limit,
        queue: &mut Q,
        offsets: &mut Offsets,
        seen: &mut Seen,
    ) -> Result<Used, HostError> {
        let mut used = Used {
            usage: Usage::none(),
            kernel_threads: Vec::new(),
            calls: 0,
        };
        loop {
            if let (true, Some(cache)) = (offsets.listed(), self.cache) {
                self.worker.target.drop_cached(cache, offsets.part())?;
                offsets.refill();
            }
            let (helpers, calls) = (self.helpers(), queue.calls());
            let start = Start::now();
            let end = self.pass.pass(queue, offsets, limit, seen)?;
            used.usage.add(&start.until_now());
            used.calls += queue.calls() - calls;
            helper::add_since(&mut used.kernel_threads, &helpers, self.helpers());
            if end == End::Limit {
                return Ok(used);
            }
        }
    }

    /// Returns the kernel's threads that work for this one.
    fn helpers(&self) -> Vec<KernelThread> {
        match self.worker.config.engine {
            Engine::Pread | Engine::Libaio => Vec::new(),
            _ => helper::of(gettid().as_raw_nonzero().get().unsigned_abs()),
        }
    }
}

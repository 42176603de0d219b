//! Runs a load: checks the configuration, starts the threads at the same time, collects their reports.

use super::config::{Engine, LoadConfig, StampClock};
use super::cpus::{CpuTimes, CpuWatch};
use super::facts::ClockFacts;
use super::report::{LoadReport, ThreadLoad};
use super::target::Target;
use super::ticks::Ticks;
use super::worker::{Schedule, Signals, Worker};
use crate::clock::{Clock, pause};
use crate::config::{MAX_REQUEST_BYTES, QUEUE_DEPTH_MAX};
use crate::error::{HostError, os_error};
use fathom_base::Time;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, Builder, ScopedJoinHandle};

/// Maximum number of threads.
const THREADS_MAX: u32 = 1024;
/// Time between two looks at the caller's flag during the warm-up, in milliseconds.
const LOOK_MS: u32 = 5;

/// Runs a load until its limits, or until `stop` is true.
///
/// All threads begin at the same time. What they used and read is counted from the end of the warm-up, when each thread has
/// completed the reads of the warm-up, until it has completed its last read.
///
/// # Errors
/// [`HostError::EngineUnavailable`] if the engine does not work here. [`HostError::CpuNotAllowed`],
/// [`HostError::QueueDepth`] and [`HostError::Unsuitable`] for what cannot be configured. [`HostError::ReadFailed`] and
/// [`HostError::ShortRead`] for the first read that fails, which ends the load. Any other [`HostError`] if a target cannot
/// be opened.
pub fn run(
    config: &LoadConfig,
    clock: &ClockFacts,
    stop: &AtomicBool,
) -> Result<LoadReport, HostError> {
    check(config)?;
    let targets = config
        .targets
        .iter()
        .map(|path| Target::check(path, config));
    let targets = targets.collect::<Result<Vec<_>, _>>()?;
    let wish = config.clock == StampClock::Tsc && clock.usable();
    let ticks = Ticks::new(clock.tsc_hz.filter(|_| wish));
    let failed = AtomicBool::new(false);
    let workers = (0..config.threads).zip(targets.iter().cycle());
    let workers: Vec<Worker<'_>> = workers
        .map(|(number, target)| Worker {
            config,
            target,
            number,
            ticks,
            stop,
            failed: &failed,
        })
        .collect();
    let Measured {
        threads,
        cpus,
        wall_ns,
    } = measure(config, &workers)?;
    Ok(LoadReport {
        threads,
        clock: match ticks.is_tsc() {
            true => StampClock::Tsc,
            false => StampClock::Monotonic,
        },
        cpus_wall_ns: wall_ns,
        cpus,
        stopped: stop.load(Ordering::Relaxed),
    })
}

/// Checks what does not depend on the targets.
fn check(config: &LoadConfig) -> Result<(), HostError> {
    let first = config.targets.first().map_or(Path::new(""), |path| path);
    let unsuitable = |what: String, advice| HostError::Unsuitable {
        path: first.to_owned(),
        what,
        advice,
    };
    if config.targets.is_empty() {
        return Err(unsuitable(
            "no target is named".into(),
            "name a file or a drive to read",
        ));
    }
    let max = match config.engine {
        Engine::Pread => 1,
        _ => QUEUE_DEPTH_MAX,
    };
    if !(1..=max).contains(&config.depth) {
        let depth = config.depth;
        return Err(HostError::QueueDepth { depth, max });
    }
    if !(1..=THREADS_MAX).contains(&config.threads) {
        let what = format!("{} threads are not in 1..={THREADS_MAX}", config.threads);
        return Err(unsuitable(what, "give a number in this range"));
    }
    if !(1..=MAX_REQUEST_BYTES).contains(&config.block_bytes) {
        let what = format!(
            "a read of {} bytes is not in 1..={MAX_REQUEST_BYTES}",
            config.block_bytes
        );
        return Err(unsuitable(what, "give a length in this range"));
    }
    check_cpus(config, first)
}

/// Checks that this process may run on all processors named.
fn check_cpus(config: &LoadConfig, path: &Path) -> Result<(), HostError> {
    let allowed = sched_getaffinity(None)
        .map_err(|errno| os_error(path, "ask for the processors", errno.into()))?;
    let may = |cpu: u32| (cpu as usize) < CpuSet::MAX_CPU && allowed.is_set(cpu as usize);
    let named = config.cpus.iter().copied().chain(config.sq_cpu);
    match named.into_iter().find(|&cpu| !may(cpu)) {
        None => Ok(()),
        Some(cpu) => {
            let all = (0..CpuSet::MAX_CPU as u32).filter(|&cpu| may(cpu));
            let all: Vec<String> = all.map(|cpu| cpu.to_string()).collect();
            Err(HostError::CpuNotAllowed {
                cpu,
                allowed: all.join(", "),
            })
        }
    }
}

struct Measured {
    threads: Vec<ThreadLoad>,
    cpus: Vec<CpuTimes>,
    /// Time over which `cpus` was counted.
    wall_ns: u64,
}

type Running<'scope> = ScopedJoinHandle<'scope, Result<Option<ThreadLoad>, HostError>>;

fn measure(config: &LoadConfig, workers: &[Worker<'_>]) -> Result<Measured, HostError> {
    thread::scope(|scope| {
        let (ready, answers) = mpsc::channel();
        let mut starts = Vec::new();
        let mut running: Vec<Running<'_>> = Vec::new();
        let mut refused = None;
        for worker in workers {
            let (start, waits) = mpsc::channel();
            let signals = Signals {
                ready: ready.clone(),
                start: waits,
            };
            let name = format!("load-{}", worker.number);
            match Builder::new()
                .name(name)
                .spawn_scoped(scope, move || worker.run(signals))
            {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    refused = Some(os_error(&worker.target.path, "start a thread", error));
                    break;
                }
            }
            starts.push(start);
        }
        drop(ready);
        // Ends when every worker has answered or failed.
        let all_ready = answers.iter().count() == workers.len() && refused.is_none();
        let clock = Clock::start();
        let mut watch = None;
        if let (true, Some(worker)) = (all_ready, workers.first()) {
            start(config, worker.ticks, &starts);
            sleep(clock, Time(config.warm_up.0), worker);
            watch = Some(CpuWatch::start());
        }
        drop(starts);
        let threads = collect(running);
        let (cpus, wall_ns) = watch.map(|watch| watch.seen()).unwrap_or_default();
        match refused {
            Some(error) => Err(error),
            None => Ok(Measured {
                threads: threads?,
                cpus,
                wall_ns,
            }),
        }
    })
}

/// Tells all workers when the parts of the load end.
fn start(config: &LoadConfig, ticks: Ticks, starts: &[mpsc::Sender<Schedule>]) {
    let warm_end = ticks.after(ticks.now(), config.warm_up.0);
    let end = ticks.after(warm_end, config.time_max.0);
    for start in starts {
        // A worker that has ended since tells why when it is collected.
        let _ended = start.send(Schedule { warm_end, end });
    }
}

/// Sleeps until the warm-up has ended, or the load is stopped.
fn sleep(clock: Clock, until: Time, worker: &Worker<'_>) {
    let stops = [worker.stop, worker.failed];
    while clock.now() < until && !stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
        let left = until.since(clock.now()).0 / 1_000_000;
        match left {
            0 => clock.sleep(until),
            ms => pause(LOOK_MS.min(ms as u32)),
        }
    }
}

/// Waits for all threads and returns their reports, or the first error.
fn collect(running: Vec<Running<'_>>) -> Result<Vec<ThreadLoad>, HostError> {
    // All are joined before the first error is returned.
    let ended: Vec<_> = running.into_iter().map(ScopedJoinHandle::join).collect();
    let mut loads = Vec::new();
    for thread in ended {
        match thread {
            Ok(load) => loads.extend(load?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(loads)
}

//! The steady rate of random reads behind a platform: closed loops whose filling and draining count in no figure.
//!
//! A whole run is slower than the rate that it settles at, by about its I/Os in flight: they are few in the beginning and at
//! the end. A search over depths would compare that instead of the machine.

use super::stand::{Load, Stand, StandError};
use crate::replay::RunError;
use fathom_base::{Bytes, Time};
use fathom_block::{Device as _, Subject};
use fathom_platform::{Charged, Interface, Platform, Processors};
use fathom_run::{Observer, PlayError, Played, play};
use fathom_workload::generate::{Config, Generator, Name, Range, Sizes};
use fathom_workload::program::{Processes, closed_loop};
use std::convert::Infallible;

/// Bytes of the reads that are counted, and the number of reads: the first that is reached, for the number of events of a
/// drive grows with the bytes.
const COUNTED_BYTES: u64 = 256 << 20;
const COUNTED: (u64, u64) = (1_500, 12_000);
/// The most reads of a drive whose head seeks: each costs the model several times as much.
const COUNTED_SEEKING: u64 = 4_000;

/// A steady rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reading {
    /// Reads per second.
    pub(super) iops: f64,
    /// Mean latency, in nanoseconds.
    pub(super) latency_ns: f64,
    /// The latency below which 99 % of the reads are, in nanoseconds.
    pub(super) p99_ns: f64,
    /// Share of the processors' time in which they compute, from 0 to 1.
    pub(super) utilisation: f64,
    /// Clocks of the processors for a read.
    pub(super) clocks: f64,
}

/// Reads at random over the first `drives` of a platform.
///
/// # Errors
/// [`RunError`].
pub(super) fn steady(
    stand: &Stand,
    platform: &Platform,
    drives: u32,
    load: Load,
) -> Result<Reading, StandError> {
    let all = platform.drives_in_all() as usize;
    let copies = vec![stand.drive.clone(); all];
    let processors = Processors::new(platform.cores);
    let charged = Charged::new(platform.clone(), copies, processors);
    let mut charged = charged.map_err(RunError::from)?;
    let window = count(stand, &mut charged, drives, platform.interface, load)?;
    let work = charged.work();
    Ok(Reading {
        utilisation: work.utilisation(),
        clocks: work.clocks_per_io().unwrap_or_default(),
        ..window.reading()
    })
}

/// Reads at random on one drive without a host.
///
/// # Errors
/// [`RunError`].
pub(super) fn bare(stand: &Stand, depth: u32) -> Result<Reading, StandError> {
    let mut drive = stand.drive.clone();
    let load = Load {
        threads: depth,
        depth: 1,
    };
    Ok(count(stand, &mut drive, 1, Interface::Pread, load)?.reading())
}

fn count(
    stand: &Stand,
    device: &mut dyn Subject,
    drives: u32,
    interface: Interface,
    load: Load,
) -> Result<Window, StandError> {
    let in_flight = u64::from(load.threads) * u64::from(load.depth);
    let mut window = Window::new(in_flight, stand);
    let reads = |process: u32| generator(stand, drives, window.end, process);
    let ended = match interface {
        Interface::Pread => {
            let mut program = closed_loop(reads(0)?, load.threads);
            play(device, &mut program, &mut window)
        }
        _ => {
            let sources: Result<Vec<_>, RunError> = (0..load.threads).map(reads).collect();
            let sources = sources?
                .into_iter()
                .map(|reads| reads.map(Ok::<_, Infallible>));
            let mut program = Processes::new(sources, load.depth);
            play(device, &mut program, &mut window)
        }
    };
    match ended {
        Err(PlayError::Interrupted) if window.is_over() => Ok(window),
        Ok(()) | Err(PlayError::Interrupted) => Err(RunError::Interrupted.into()),
        Err(PlayError::Device { number, error, .. }) => Err(RunError::Device {
            number,
            error,
            misfit: None,
        }
        .into()),
        Err(PlayError::Stopped { in_flight }) => Err(RunError::Stopped { in_flight }.into()),
        Err(PlayError::Program(never)) => match never {},
    }
}

/// The reads of a process: more than are counted, so that none ends before the window does.
fn generator(stand: &Stand, drives: u32, end: u64, process: u32) -> Result<Generator, RunError> {
    let block = stand.block;
    let all = stand.drive.info().capacity_bytes * u64::from(drives);
    let config = Config {
        accesses: Some(2 * end),
        read_percent: Some(100.0),
        sizes: Some(Sizes::One(block)),
        align: Some(block),
        range: Some(Range {
            start: Bytes(0),
            len: Bytes(all / block.0 * block.0),
        }),
        ..Config::of(Name::Uniform)
    };
    Ok(config.generator(stand.seed.wrapping_add(u64::from(process)))?)
}

/// The completions that are counted.
struct Window {
    /// Number of completions before it, and to its end.
    begin: u64,
    end: u64,
    seen: u64,
    from: Time,
    to: Time,
    latencies: Vec<u64>,
    stop: fn() -> bool,
}

impl Window {
    /// Begins after every read that filled the queues has completed twice.
    fn new(in_flight: u64, stand: &Stand) -> Self {
        let most = match stand.drive.info().rotational {
            Some(true) => COUNTED_SEEKING,
            _ => COUNTED.1,
        };
        let counted = (COUNTED_BYTES / stand.block.0.max(1)).clamp(COUNTED.0, most);
        let begin = 2 * in_flight;
        Self {
            begin,
            end: begin + counted.max(in_flight),
            seen: 0,
            from: Time::ZERO,
            to: Time::ZERO,
            latencies: Vec::new(),
            stop: stand.stop,
        }
    }

    fn is_over(&self) -> bool {
        self.seen >= self.end
    }

    fn reading(mut self) -> Reading {
        let count = self.latencies.len();
        let seconds = self.to.since(self.from).0.max(1) as f64 / 1e9;
        let sum: f64 = self.latencies.iter().map(|ns| *ns as f64).sum();
        let last = count.saturating_sub(1);
        let p99 = match count {
            0 => 0,
            _ => *self.latencies.select_nth_unstable(last * 99 / 100).1,
        };
        Reading {
            iops: count as f64 / seconds,
            latency_ns: sum / count.max(1) as f64,
            p99_ns: p99 as f64,
            ..Reading::default()
        }
    }
}

impl Observer for Window {
    fn played(&mut self, played: &Played, _moment: &dyn Fn() -> fathom_run::Moment) {
        self.seen += 1;
        if self.seen == self.begin {
            self.from = played.completed;
        }
        if self.seen > self.begin && self.seen <= self.end {
            self.to = played.completed;
            self.latencies.push(played.completed.since(played.asked).0);
        }
    }

    fn interrupted(&self) -> bool {
        self.is_over() || (self.stop)()
    }
}

//! Recordings of the kernel's events beside a load.

use super::bench::Bench;
use super::options::MeasureOptions;
use fathom_block::kernel::{Call, Tracepoint};
use fathom_hostio::load::{Engine, LoadReport, Stamp, StampClock};
use fathom_hostio::{
    HostError, IoDevices, Purpose, Recorded, Recorder, RecorderConfig, TraceClock,
};
use fathom_platform::measured::{Io, Load, Route};
use fathom_report::platform::Missing;

/// The kernel's buffer for each processor.
const BUFFER_BYTES: u64 = 32 << 20;

/// Returns why the kernel's events cannot be recorded, if that is so.
pub(super) fn obstacle(bench: &Bench<'_>) -> Option<Missing> {
    let MeasureOptions { trace: true, .. } = bench.options else {
        return Some(Missing {
            what: "layers and phases: tracing was not asked for".into(),
            help: "leave `--no-trace` out".into(),
        });
    };
    let error = Trace::start_latency(bench).and_then(Trace::finish).err()?;
    Some(super::error::missing("layers and phases", &error))
}

/// The events that this kernel does not have, and what it cannot say without them.
pub(super) fn lacks(bench: &Bench<'_>) -> Result<Vec<Missing>, HostError> {
    let mut all = Vec::new();
    for trace in [
        Trace::start_latency(bench)?,
        Trace::start_clocks(bench, Engine::IoUring)?,
    ] {
        all.extend(trace.recorder.missing().to_vec());
        trace.finish()?;
    }
    all.sort_unstable();
    all.dedup();
    let missing = |point: Tracepoint| Missing {
        what: format!("the kernel's event {}: {}", point.name(), point.without()),
        help: String::new(),
    };
    Ok(all.into_iter().map(missing).collect())
}

/// A recording in progress. Dropping it ends it, and restores the kernel's tracing.
pub(super) struct Trace {
    recorder: Recorder,
    devices: IoDevices,
}

/// The calls of an engine.
fn calls(engine: Engine) -> Vec<Call> {
    match engine {
        Engine::Pread => vec![Call::Pread],
        Engine::Libaio => vec![Call::Submit, Call::GetEvents, Call::PgetEvents],
        Engine::IoUring | Engine::IoUringPolled | Engine::IoUringSqThread => vec![Call::UringEnter],
    }
}

impl Trace {
    /// Records the way of single reads by `pread`.
    pub(super) fn start_latency(bench: &Bench<'_>) -> Result<Self, HostError> {
        Self::start(bench, Purpose::Latency, calls(Engine::Pread))
    }

    /// Records what all processors do.
    pub(super) fn start_clocks(bench: &Bench<'_>, engine: Engine) -> Result<Self, HostError> {
        Self::start(bench, Purpose::Clocks, calls(engine))
    }

    fn start(bench: &Bench<'_>, purpose: Purpose, calls: Vec<Call>) -> Result<Self, HostError> {
        let first = bench.targets.first();
        let devices = first.map(|target| IoDevices::under(&target.path));
        let devices = devices.transpose()?.unwrap_or_default();
        let recorder = Recorder::start(&RecorderConfig {
            purpose,
            calls,
            devices: devices.clone(),
            // The load makes its threads later.
            threads: Vec::new(),
            clocks: bench.clock.usable(),
            buffer_bytes: BUFFER_BYTES,
        })?;
        (bench.options.before_the_end)(Box::new(recorder.at_the_end()));
        Ok(Self { recorder, devices })
    }

    pub(super) fn drain(&mut self) -> Result<(), HostError> {
        self.recorder.drain()
    }

    pub(super) fn finish(self) -> Result<Recorded, HostError> {
        self.recorder.finish()
    }

    /// The clock with which the load's stamps can be compared.
    pub(super) fn stamp_clock(&self) -> StampClock {
        match self.recorder.clock() {
            TraceClock::Tsc => StampClock::Tsc,
            TraceClock::Monotonic => StampClock::Monotonic,
        }
    }

    pub(super) fn route(&self) -> Route {
        let has_no_calls = |point: &Tracepoint| matches!(point, Tracepoint::Enter(_));
        Route {
            queued: self.devices.queued.clone(),
            issued: self.devices.issued.clone(),
            submitter: None,
            polls: false,
            without_calls: self.recorder.missing().iter().any(has_no_calls),
        }
    }

    /// The load, while all of its threads read: from the first stamp of the last thread to begin to the last stamp of the
    /// first one to end. What the threads do before and after is no part of a read.
    pub(super) fn load(&self, report: &LoadReport, engine: Engine) -> Load {
        let threads = report.threads.iter();
        let submitters = threads.clone().flat_map(|thread| &thread.kernel_threads);
        let mut submitters = submitters.filter(|thread| thread.name.starts_with("iou-sqp"));
        let submitter = submitters.next().map(|thread| thread.tid);
        let stamps = threads.clone().map(|thread| &thread.stamps);
        let began = |stamps: &Vec<Stamp>| stamps.iter().map(|stamp| stamp.before).min();
        let ended = |stamps: &Vec<Stamp>| stamps.iter().map(|stamp| stamp.after).max();
        Load {
            from: stamps.clone().filter_map(began).max().unwrap_or_default(),
            to: stamps.filter_map(ended).min().unwrap_or_default(),
            threads: threads.map(|thread| thread.tid).chain(submitter).collect(),
            route: Route {
                submitter,
                polls: engine == Engine::IoUringPolled,
                ..self.route()
            },
            cpus: 0,
            missing: self.recorder.missing().to_vec(),
        }
    }
}

/// The reads of a load, as their callers saw them.
pub(super) fn ios(report: &LoadReport) -> Vec<Io> {
    let of = |thread: &fathom_hostio::load::ThreadLoad| {
        let tid = thread.tid;
        let io = move |stamp: &Stamp| Io {
            thread: tid,
            before: stamp.before,
            after: stamp.after,
        };
        thread.stamps.iter().map(io).collect::<Vec<_>>()
    };
    report.threads.iter().flat_map(of).collect()
}

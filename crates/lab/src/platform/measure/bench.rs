//! The targets, and loads on them.

use super::background::Background;
use super::error::MeasureError;
use super::options::MeasureOptions;
use fathom_base::Dur;
use fathom_hostio::load::{Caching, ClockFacts, Engine, LoadConfig, LoadReport, run};
use fathom_hostio::{HostError, Inspection, Kind, inspect, refuse_memory};
use fathom_platform::Interface;
use fathom_report::platform::Path;
use rustix::thread::{Timespec, nanosleep, sched_getaffinity};
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// A target with less than this is refused: its reads would be served from a cache, or hit the same blocks.
const BYTES_MIN: u64 = 16 << 20;
/// Time between two looks at the kernel's buffers and at Ctrl-C.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Least share of the bytes of direct reads that come from the drive.
const REACHED_MIN: f64 = 0.9;
/// Largest number of a processor that is looked for.
const CPUS_MAX: usize = 1024;

/// A way of reads to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Direct,
    Buffered,
}

impl Way {
    pub(super) const ALL: [Self; 2] = [Self::Direct, Self::Buffered];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Buffered => "buffered",
        }
    }

    pub(super) fn caching(self) -> Caching {
        match self {
            Self::Direct => Caching::Direct,
            Self::Buffered => Caching::Miss,
        }
    }
}

/// What is measured, and what is known of it.
pub(super) struct Bench<'a> {
    pub(super) options: &'a MeasureOptions,
    pub(super) clock: &'a ClockFacts,
    pub(super) targets: Vec<Inspection>,
    /// The processors that this process may use.
    pub(super) cpus: Vec<u32>,
    /// Whether the kernel's events can be recorded.
    pub(super) traced: bool,
    /// What others use of the processors.
    pub(super) others: Background,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        options: &'a MeasureOptions,
        clock: &'a ClockFacts,
    ) -> Result<Self, MeasureError> {
        let targets = options.targets.iter();
        let targets: Vec<_> = targets
            .map(|path| checked(path))
            .collect::<Result<_, _>>()?;
        distinct(&targets)?;
        Ok(Self {
            options,
            clock,
            targets,
            cpus: allowed_cpus(),
            traced: false,
            others: Background::look(),
        })
    }

    pub(super) fn subject(&self) -> String {
        let paths = self.targets.iter().map(|t| t.path.display().to_string());
        paths.collect::<Vec<_>>().join(", ")
    }

    /// Clocks in a second, if the counter can be used.
    pub(super) fn clock_hz(&self) -> Option<u64> {
        let hz = self.clock.tsc_hz.filter(|_| self.clock.usable());
        hz.map(|hz| hz.round() as u64)
    }

    /// Clocks in a nanosecond; 1 if there is no counter, so that costs are nanoseconds.
    pub(super) fn clocks_per_ns(&self) -> f64 {
        self.clock_hz().map_or(1.0, |hz| hz as f64 / 1e9)
    }

    /// The way of an interface to the first target.
    pub(super) fn path(&self, engine: Engine, way: Way) -> Path {
        Path {
            interface: interface(engine),
            buffered: way == Way::Buffered,
            file_system: self.targets.first().is_some_and(|t| t.kind == Kind::File),
        }
    }

    /// A load on the first target, by one thread on the first processor.
    pub(super) fn load(&self, engine: Engine, way: Way) -> LoadConfig {
        let first = self.targets.first().map(|target| target.path.clone());
        LoadConfig {
            engine,
            caching: way.caching(),
            block_bytes: self.options.block.0,
            cpus: self.cpus.first().copied().into_iter().collect(),
            sq_cpu: self.cpus.last().copied().filter(|_| self.cpus.len() > 1),
            time_max: self.options.time,
            seed: self.options.seed,
            ..LoadConfig::new(first.unwrap_or_default())
        }
    }

    /// Runs a load until its end, or until the user ends it. Calls `drain` meanwhile, to empty the buffers of a recording.
    pub(super) fn run(
        &self,
        config: &LoadConfig,
        mut drain: impl FnMut() -> Result<(), HostError>,
    ) -> Result<LoadReport, MeasureError> {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let load = scope.spawn(|| run(config, self.clock, &stop));
            let mut drained: Result<(), HostError> = Ok(());
            while !load.is_finished() {
                let _woken_early_is_fine = nanosleep(&PAUSE);
                if drained.is_ok() {
                    drained = drain();
                }
                if (self.options.stop)() || drained.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            let report = load.join().map_err(|_| MeasureError::Ended)??;
            drained?;
            self.others.add(&report);
            Ok(report)
        })
    }

    /// Refuses targets whose reads do not reach their drives: preallocated files that were never written, or compressed ones.
    ///
    /// # Errors
    /// Also if a target may not be read. Anything else that is wrong with it shows later, and may be so for direct reads only.
    pub(super) fn reach_their_drives(&self) -> Result<(), MeasureError> {
        for target in &self.targets {
            let config = LoadConfig {
                targets: vec![target.path.clone()],
                time_max: Dur::ms(30),
                ..self.load(Engine::Pread, Way::Direct)
            };
            match self.plain(&config) {
                Err(error @ MeasureError::Host(HostError::NoPermission { .. })) => {
                    return Err(error);
                }
                Err(MeasureError::Host(_)) => {}
                Err(error) => return Err(error),
                Ok(report) => reaches(&target.path, &report)?,
            }
        }
        Ok(())
    }

    /// Refuses targets that have changed their size since the beginning.
    ///
    /// # Errors
    /// One has, or is gone.
    pub(super) fn unchanged(&self) -> Result<(), HostError> {
        for target in &self.targets {
            let now = inspect(&target.path)?.size_bytes;
            if now != target.size_bytes {
                return Err(HostError::Unsuitable {
                    path: target.path.clone(),
                    what: format!(
                        "its size has changed from {} to {now} bytes while it was measured",
                        target.size_bytes
                    ),
                    advice: "measure it while nothing else changes it",
                });
            }
        }
        Ok(())
    }

    /// Runs a load without tracing.
    pub(super) fn plain(&self, config: &LoadConfig) -> Result<LoadReport, MeasureError> {
        self.run(config, || Ok(()))
    }

    /// Ends the measurement if the user asked for it.
    pub(super) fn go_on(&self) -> Result<(), MeasureError> {
        match (self.options.stop)() {
            true => Err(MeasureError::Interrupted),
            false => Ok(()),
        }
    }
}

/// Refuses a target if the kernel counted less from its drive than was read.
fn reaches(path: &std::path::Path, report: &LoadReport) -> Result<(), HostError> {
    let read: u64 = report.threads.iter().map(|thread| thread.bytes).sum();
    let counted = report.threads.iter().map(|t| t.usage.device_read_bytes);
    match counted.sum::<Option<u64>>() {
        Some(bytes) if (bytes as f64) < REACHED_MIN * read as f64 => Err(HostError::Unsuitable {
            path: path.to_owned(),
            what: format!("only {bytes} of {read} bytes read came from its drive"),
            advice: "write the file once with data that cannot be compressed (`fallocate` alone leaves it empty)",
        }),
        _ => Ok(()),
    }
}

fn checked(path: &std::path::Path) -> Result<Inspection, HostError> {
    let found = inspect(path)?;
    let unsuitable = |what: String, advice| HostError::Unsuitable {
        path: path.to_owned(),
        what,
        advice,
    };
    if found.kind == Kind::Directory {
        let advice = "name a block device, or a file of at least 16 MiB in it (fallocate -l 1G FILE and write it once)";
        return Err(unsuitable("it is a directory".into(), advice));
    }
    // The node of a device is in a memory file system, too.
    if found.kind == Kind::File {
        refuse_memory(path, &found.path)?;
    }
    if found.size_bytes < BYTES_MIN {
        let what = format!("it has {} bytes", found.size_bytes);
        return Err(unsuitable(what, "name one of at least 16 MiB"));
    }
    if found.kind == Kind::File && has_holes(path) {
        let advice =
            "write it once; reads of holes do not reach the drive (`fallocate` alone leaves them)";
        return Err(unsuitable(
            "the file has holes, or is compressed".into(),
            advice,
        ));
    }
    Ok(found)
}

/// Whether a file takes less space than its length.
fn has_holes(path: &std::path::Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.blocks().saturating_mul(512) < found.len() / 512 * 512)
}

/// Refuses the same target twice: it is no second drive.
fn distinct(targets: &[Inspection]) -> Result<(), HostError> {
    for (index, target) in targets.iter().enumerate() {
        if targets[..index]
            .iter()
            .any(|other| other.path == target.path)
        {
            return Err(HostError::Unsuitable {
                path: target.path.clone(),
                what: "it is named twice".into(),
                advice: "name each drive once",
            });
        }
    }
    Ok(())
}

/// The name of an engine in platform files.
pub(super) fn interface(engine: Engine) -> Interface {
    match engine {
        Engine::Pread => Interface::Pread,
        Engine::Libaio => Interface::Libaio,
        Engine::IoUring => Interface::IoUring,
        Engine::IoUringPolled => Interface::IoUringPolled,
        Engine::IoUringSqThread => Interface::IoUringSqThread,
    }
}

/// The processors that this process may use.
fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else {
        return vec![0];
    };
    let all = (0..CPUS_MAX).filter(|cpu| set.is_set(*cpu));
    all.map(|cpu| cpu as u32).collect()
}

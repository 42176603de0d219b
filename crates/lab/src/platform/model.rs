//! Shows what a modelled platform does: latency by phase, clocks by layer, and the rate until something limits it.

use super::limit::limit;
use super::stand::{Load, Shown, Stand, StandError};
use fathom_base::Bytes;
use fathom_platform::{HostWork, Interface, Layer, Platform};
use fathom_report::platform::{Cost, Fact, Latency, Path, PlatformReport, Scaling};
use std::collections::BTreeMap;

/// I/Os in flight of an asynchronous thread, and threads of a synchronous program, that saturate a processor.
const SATURATING: u32 = 128;
/// Most threads that are tried.
const THREADS_MAX: u32 = 1024;
/// The rate has stopped rising below this.
const RISE_MIN: f64 = 0.02;
/// Reads of a run at least, and for each I/O in flight.
const READS: (u64, u64) = (20_000, 400);

/// What is shown of a platform.
#[derive(Clone, Copy, Debug)]
pub struct ModelOptions {
    /// Length of a read.
    pub block: Bytes,
    /// The seed of all random choices.
    pub seed: u64,
    /// Called regularly; `true` ends it.
    pub stop: fn() -> bool,
}

/// Shows what a platform does with its own drives.
///
/// # Errors
/// [`StandError`]: the drive is no modelled one, or a run failed.
pub fn model(
    platform: &Platform,
    options: ModelOptions,
    part: &dyn Fn(&str),
) -> Result<PlatformReport, StandError> {
    part("filling the drive");
    let stand = Stand::new(&platform.drive, options.block, options.seed, options.stop)?;
    part("latency of one read at a time");
    let latency = latencies(&stand, platform)?;
    part("clocks of a read, many in flight on one processor");
    let costs = costs(&stand, platform)?;
    let scaling = scaling(&stand, platform, part)?;
    Ok(PlatformReport {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        subject: platform.name.clone(),
        measured: false,
        facts: facts(platform),
        clock_hz: Some(platform.clock.hertz()),
        block_bytes: options.block.0,
        latency,
        costs,
        scaling,
        notes: notes(platform),
        ..PlatformReport::default()
    })
}

fn facts(platform: &Platform) -> Vec<Fact> {
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let of_one = |count: u32, one: &str, all: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {all}"),
    };
    let ceiling = platform.adapter.iops;
    let ceiling = ceiling.map_or(String::new(), |iops| format!(", {iops} I/Os a second each"));
    let striped = match platform.stripe.0 {
        0 => String::new(),
        _ => format!(", striped in chunks of {} (RAID 0)", platform.stripe),
    };
    vec![
        fact(
            "processors",
            format!("{} of {}", platform.cores, platform.clock),
        ),
        fact(
            "adapters",
            format!(
                "{}{ceiling}",
                of_one(platform.adapters, "adapter", "adapters")
            ),
        ),
        fact(
            "drives",
            format!(
                "{} of {} an adapter{striped}",
                platform.drives, platform.drive
            ),
        ),
    ]
}

fn notes(platform: &Platform) -> Vec<String> {
    let mut notes = vec![
        "The costs of a processor are shown with as many drives as saturate it and without the ceiling of the adapter."
            .to_owned(),
    ];
    if platform.clocks.copy_per_byte == 0.0 {
        notes.push("The platform file has no cost of copies: buffered reads are not shown.".into());
    }
    notes
}

/// The ways of a read that a platform has costs for.
fn paths(platform: &Platform) -> Vec<Path> {
    let buffered = [false, true].into_iter();
    let buffered = buffered.filter(|&copies| !copies || platform.clocks.copy_per_byte > 0.0);
    let with = |buffered| {
        let file_systems = [false, true].into_iter();
        let some = file_systems.filter(|&file| !file || platform.clocks.file_system > 0);
        some.map(move |file_system| Path {
            interface: Interface::Pread,
            buffered,
            file_system,
        })
    };
    buffered.flat_map(with).collect()
}

/// The platform with one drive, or as many as one processor can use, on this way.
fn on(platform: &Platform, path: Path) -> Platform {
    Platform {
        interface: path.interface,
        buffered: path.buffered,
        file_system: path.file_system,
        adapters: 1,
        drives: 1,
        ..platform.clone()
    }
}

fn latencies(stand: &Stand, platform: &Platform) -> Result<Vec<Latency>, StandError> {
    let of = |path: Path| {
        let alone = Load {
            threads: 1,
            depth: 1,
        };
        let Shown { work, .. } = stand.show(&on(platform, path), alone, READS.0)?;
        let ios = work.ios.max(1) as f64;
        let phases = work.phases.iter();
        Ok(Latency {
            path,
            ios: work.ios,
            latency_ns: work.latency_ns().unwrap_or_default(),
            phases: phases
                .map(|(phase, time)| (*phase, time.0 as f64 / ios))
                .collect(),
            ..Latency::default()
        })
    };
    paths(platform).into_iter().map(of).collect()
}

/// Number of processors of a saturated program: one, and one for a thread of the kernel that submits.
pub(super) fn cores_for(interface: Interface) -> u32 {
    1 + u32::from(interface == Interface::IoUringSqThread)
}

fn costs(stand: &Stand, platform: &Platform) -> Result<Vec<Cost>, StandError> {
    let others = Interface::ALL
        .into_iter()
        .filter(|interface| *interface != Interface::Pread);
    let others = others.map(|interface| Path {
        interface,
        ..Path::default()
    });
    let of = |path: Path| {
        let mut one = on(platform, path);
        (one.cores, one.drives) = (cores_for(path.interface), 16);
        (one.adapter.iops, one.adapter.rate) = (None, None);
        let load = match path.interface {
            Interface::Pread => Load {
                threads: SATURATING,
                depth: 1,
            },
            _ => Load {
                threads: 1,
                depth: SATURATING,
            },
        };
        let shown = stand.show(&one, load, 100_000)?;
        Ok(cost(path, stand.block, &shown))
    };
    paths(platform).into_iter().chain(others).map(of).collect()
}

fn cost(path: Path, block: Bytes, shown: &Shown) -> Cost {
    let HostWork {
        ios,
        system_calls,
        sleeps,
        clocks,
        ..
    } = &shown.work;
    let each = |n: u64| n as f64 / (*ios).max(1) as f64;
    let spent = clocks.iter().filter(|(layer, _)| **layer != Layer::Idle);
    let layers: BTreeMap<Layer, f64> = spent.map(|(layer, n)| (*layer, each(*n))).collect();
    Cost {
        path,
        block_bytes: block.0,
        depth: SATURATING,
        iops: shown.iops,
        clocks: layers.values().sum(),
        layers,
        switches: Some(each(*sleeps)),
        system_calls: Some(each(*system_calls)),
        utilisation: shown.work.utilisation(),
        ..Cost::default()
    }
}

/// Doubles the threads until the rate no longer rises, and says what limits it then.
fn scaling(
    stand: &Stand,
    platform: &Platform,
    part: &dyn Fn(&str),
) -> Result<Vec<Scaling>, StandError> {
    let mut rows: Vec<Scaling> = Vec::new();
    let mut threads = 1;
    loop {
        part(&format!("{threads} I/Os in flight"));
        let load = load(platform, threads);
        let reads = READS.0.max(READS.1 * u64::from(threads));
        let shown = stand.show(platform, load, reads)?;
        let mut row = row(platform, stand.block, load, &shown);
        let before = rows.last().map_or(0.0, |row| row.iops);
        let ends = shown.iops < before * (1.0 + RISE_MIN) || threads >= THREADS_MAX;
        if ends {
            part("what limits the rate");
            row.limit = Some(limit(stand, platform, load, reads)?);
        }
        rows.push(row);
        if ends {
            return Ok(rows);
        }
        threads *= 2;
    }
}

/// Threads and their depth for a number of I/Os in flight.
fn load(platform: &Platform, in_flight: u32) -> Load {
    match platform.interface {
        Interface::Pread => Load {
            threads: in_flight,
            depth: 1,
        },
        _ => {
            let threads = in_flight.min(platform.program_cores());
            Load {
                threads,
                depth: in_flight.div_ceil(threads),
            }
        }
    }
}

fn row(platform: &Platform, block: Bytes, load: Load, shown: &Shown) -> Scaling {
    Scaling {
        path: Path {
            interface: platform.interface,
            buffered: platform.buffered,
            file_system: platform.file_system,
        },
        block_bytes: block.0,
        threads: load.threads,
        depth: load.depth,
        cores: platform.cores,
        adapters: Some(platform.adapters),
        drives: platform.drives_in_all(),
        iops: shown.iops,
        utilisation: shown.work.utilisation(),
        latency_ns: shown.work.latency_ns().unwrap_or_default(),
        limit: None,
    }
}

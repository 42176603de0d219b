//! What a rate of I/Os takes: searches for the smallest numbers of drives, adapters and processors with which the model
//! reaches it, and shows what one change would do.

use super::limit::{doubled, limit};
use super::model::cores_for;
use super::stand::{Load, Shown, Stand, StandError};
use fathom_base::{Bytes, Dur};
use fathom_platform::{Interface, Platform};
use fathom_report::plan::{Change, PlanReport, Sensitivity, Takes, Used};
use fathom_report::platform::{Limit, interface};

/// Most steps of a search.
const STEPS_MAX: usize = 16;
/// Most drives, adapters or processors of a search: each drive is a model in memory.
const MOST: u32 = 1024;
/// Most I/Os in flight.
const IN_FLIGHT_MAX: u32 = 1 << 14;
/// I/Os in flight of each drive in the beginning.
const PER_DRIVE: u32 = 32;
const READS: u64 = 40_000;
/// Smaller changes of the rate are not shown, in percent.
const EFFECT_MIN: f64 = 0.05;
/// A resource that is used up to this share is at its limit.
const FULL: f64 = 0.97;
/// Larger blocks that are tried.
const LARGER: u64 = 4;
/// Coalescing that is tried.
const COALESCED: (u32, Dur) = (8, Dur::us(50));

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct PlanOptions {
    /// I/Os per second.
    pub iops: f64,
    /// Length of an I/O.
    pub block: Bytes,
    /// The seed of all random choices.
    pub seed: u64,
    /// Called regularly; `true` ends it.
    pub stop: fn() -> bool,
}

/// Answers what a rate takes.
///
/// # Errors
/// [`StandError`]: the drive is no modelled one, or a run failed.
pub fn plan(
    platform: &Platform,
    options: PlanOptions,
    part: &dyn Fn(&str),
) -> Result<PlanReport, StandError> {
    part("filling the drive");
    let stand = Stand::new(&platform.drive, options.block, options.seed, options.stop)?;
    part("searching");
    let (takes, most_iops) = search(&stand, platform, options.iops)?;
    let mut changes = Vec::new();
    for (what, changed, larger) in variants(platform) {
        part(&what);
        let block = Bytes(stand.block.0 * larger);
        let own = stand.with_block(block);
        let (takes, _) = search(&own, &changed, options.iops / larger as f64)?;
        changes.push(Change { what, takes });
    }
    part("sensitivity");
    let sensitivity = match &takes {
        Some(takes) => sensitivity(&stand, platform, takes)?,
        None => Vec::new(),
    };
    Ok(PlanReport {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        platform: platform.name.clone(),
        drive: platform.drive.clone(),
        wanted_iops: options.iops,
        block_bytes: options.block.0,
        takes,
        most_iops,
        changes,
        sensitivity,
    })
}

/// Platforms with one change, and the factor of the block.
fn variants(platform: &Platform) -> Vec<(String, Platform, u64)> {
    let interfaces = [
        Interface::Pread,
        Interface::Libaio,
        Interface::IoUring,
        Interface::IoUringPolled,
        Interface::IoUringSqThread,
    ];
    let others = interfaces
        .into_iter()
        .filter(|to| *to != platform.interface);
    let mut all: Vec<(String, Platform, u64)> = others
        .map(|to| {
            let changed = Platform {
                interface: to,
                ..platform.clone()
            };
            (interface(to).to_owned(), changed, 1)
        })
        .collect();
    if platform.interrupts.count == 1 {
        let mut changed = platform.clone();
        (changed.interrupts.count, changed.interrupts.time) = COALESCED;
        all.push((
            format!("{} completions an interrupt", COALESCED.0),
            changed,
            1,
        ));
    }
    all.push((
        format!("blocks {LARGER} times as large, the same bytes a second"),
        platform.clone(),
        LARGER,
    ));
    all
}

/// Searches for the resources of a rate. Returns them, or else the most that was reached.
fn search(
    stand: &Stand,
    platform: &Platform,
    wanted: f64,
) -> Result<(Option<Takes>, Option<f64>), StandError> {
    let drive = drive_iops(stand, platform)?;
    let core = core_iops(stand, platform)?;
    let least = |all: f64, one: f64| (all / one).ceil().clamp(1.0, 4096.0) as u32;
    let mut now = platform.clone();
    now.cores = least(wanted, core) * cores_for(now.interface);
    now.adapters = now
        .adapter
        .iops
        .map_or(1, |iops| least(wanted, iops as f64));
    now.drives = least(wanted, drive).div_ceil(now.adapters);
    let mut per_drive = PER_DRIVE;
    let mut most = 0.0_f64;
    for _ in 0..STEPS_MAX {
        if exceeds(&now) {
            break;
        }
        let load = load(&now, per_drive);
        let shown = stand.show(&now, load, READS)?;
        if shown.iops >= wanted {
            return Ok((Some(takes(&now, load, &shown, drive)), None));
        }
        most = most.max(shown.iops);
        match limited(stand, &now, load, &shown)? {
            Limit::Cores => now.cores += step(now.cores, wanted / shown.iops),
            Limit::Adapters => now.adapters += step(now.adapters, wanted / shown.iops),
            Limit::Drives => now.drives += step(now.drives, wanted / shown.iops),
            Limit::Threads if in_flight(load) < IN_FLIGHT_MAX => per_drive *= 2,
            Limit::Threads | Limit::Unknown => {
                // Nothing alone raises it: some of everything.
                now.cores += 1;
                now.drives += 1;
            }
        }
    }
    Ok((None, Some(most).filter(|most| *most > 0.0)))
}

/// Whether a platform is larger than a search goes.
fn exceeds(platform: &Platform) -> bool {
    let counts = [platform.cores, platform.adapters, platform.drives_in_all()];
    counts.into_iter().any(|count| count > MOST)
}

/// What limits a rate: what is used up, or else what raises the rate when it is doubled.
fn limited(
    stand: &Stand,
    platform: &Platform,
    load: Load,
    shown: &Shown,
) -> Result<Limit, StandError> {
    let adapters = platform.adapter.iops;
    let adapters = adapters.map(|iops| iops as f64 * f64::from(platform.adapters));
    Ok(match adapters {
        Some(most) if shown.iops > FULL * most => Limit::Adapters,
        _ if shown.work.utilisation() > FULL => Limit::Cores,
        _ => limit(stand, platform, load, READS)?.by,
    })
}

/// Adds a part of what is missing, at least one.
fn step(count: u32, factor: f64) -> u32 {
    ((f64::from(count) * (factor - 1.0) * 0.7) as u32).max(1)
}

fn in_flight(load: Load) -> u32 {
    load.threads * load.depth
}

/// Threads and their depth: with an asynchronous interface one thread for each processor that runs programs.
fn load(platform: &Platform, per_drive: u32) -> Load {
    let all = platform
        .drives_in_all()
        .saturating_mul(per_drive)
        .min(IN_FLIGHT_MAX);
    let threads = platform.program_cores();
    match platform.interface {
        Interface::Pread => Load {
            threads: all,
            depth: 1,
        },
        _ => Load {
            threads,
            depth: all.div_ceil(threads),
        },
    }
}

/// The rate of one drive whose host is never short of anything.
fn drive_iops(stand: &Stand, platform: &Platform) -> Result<f64, StandError> {
    let mut alone = platform.clone();
    (alone.cores, alone.adapters, alone.drives) = (64, 1, 1);
    (alone.adapter.iops, alone.interface) = (None, Interface::Pread);
    let load = Load {
        threads: 256,
        depth: 1,
    };
    Ok(stand.show(&alone, load, READS)?.iops)
}

/// The rate of one processor that is never short of drives.
fn core_iops(stand: &Stand, platform: &Platform) -> Result<f64, StandError> {
    let mut alone = platform.clone();
    (alone.cores, alone.adapters, alone.drives) = (cores_for(alone.interface), 1, 16);
    alone.adapter.iops = None;
    Ok(stand.show(&alone, load(&alone, 16), READS)?.iops)
}

fn takes(platform: &Platform, load: Load, shown: &Shown, drive: f64) -> Takes {
    let drives = platform.drives_in_all();
    let used = |of, share: f64| Used {
        of,
        share: share.min(1.0),
    };
    let ceiling = platform.adapter.iops;
    let of_adapters = ceiling.map(|iops| {
        let all = iops as f64 * f64::from(platform.adapters);
        used(Limit::Adapters, shown.iops / all)
    });
    let cores = used(Limit::Cores, shown.work.utilisation());
    let of_drives = used(Limit::Drives, shown.iops / (drive * f64::from(drives)));
    Takes {
        drives,
        adapters: platform.adapters,
        cores: platform.cores,
        in_flight: in_flight(load),
        iops: shown.iops,
        clocks: shown.work.clocks_per_io().unwrap_or_default(),
        latency_ns: shown.work.latency_ns().unwrap_or_default(),
        used: [cores, of_drives].into_iter().chain(of_adapters).collect(),
    }
}

/// Changes one input of the platform by 10 % after the other, with the threads doubled so that the host is saturated.
fn sensitivity(
    stand: &Stand,
    platform: &Platform,
    takes: &Takes,
) -> Result<Vec<Sensitivity>, StandError> {
    let mut found = platform.clone();
    (found.cores, found.adapters) = (takes.cores, takes.adapters);
    found.drives = takes.drives / takes.adapters.max(1);
    let base = load(&found, takes.in_flight.div_ceil(takes.drives.max(1)));
    let (_, base) = doubled(&found, base, Limit::Threads).unwrap_or((found.clone(), base));
    let rate = |platform: &Platform| stand.show(platform, base, READS).map(|shown| shown.iops);
    let before = rate(&found)?;
    let mut all = Vec::new();
    for (input, changed) in found.with_more(0.1) {
        let percent = 100.0 * (rate(&changed)? / before - 1.0);
        all.push(Sensitivity { input, percent });
    }
    all.retain(|one| one.percent.abs() >= EFFECT_MIN);
    all.sort_by(|a, b| b.percent.abs().total_cmp(&a.percent.abs()));
    Ok(all)
}

//! What limits the rate of a modelled platform: the resource whose doubling raises it most.

use super::stand::{Load, Stand, StandError};
use fathom_platform::{Interface, Platform};
use fathom_report::platform::{Limit, Limited};

/// A rise below this is none.
const RISE_MIN: f64 = 0.03;

/// Returns a platform with twice of a resource, and the load; `None` if it has no limit there.
pub(super) fn doubled(platform: &Platform, load: Load, what: Limit) -> Option<(Platform, Load)> {
    let mut more = platform.clone();
    let mut load = load;
    match what {
        Limit::Threads if platform.interface == Interface::Pread => load.threads *= 2,
        Limit::Threads => load.depth *= 2,
        Limit::Cores => {
            more.cores *= 2;
            // A thread of an asynchronous interface has a processor; more of them need more threads.
            if platform.interface != Interface::Pread {
                load = Load {
                    threads: load.threads * 2,
                    depth: load.depth.div_ceil(2),
                };
            }
        }
        Limit::Adapters => {
            more.adapter.iops = Some(platform.adapter.iops?.saturating_mul(2));
        }
        Limit::Drives => more.drives *= 2,
        Limit::Unknown => return None,
    }
    // Twice as many as a platform may have.
    more.check().is_ok().then_some((more, load))
}

/// Finds what limits a rate.
///
/// # Errors
/// A run failed.
pub(super) fn limit(
    stand: &Stand,
    platform: &Platform,
    load: Load,
    reads: u64,
) -> Result<Limited, StandError> {
    let base = stand.show(platform, load, reads)?.iops;
    let all = [
        (Limit::Cores, "processors"),
        (Limit::Adapters, "I/Os of the adapters"),
        (Limit::Drives, "drives"),
        (Limit::Threads, "I/Os in flight"),
    ];
    let mut rises = Vec::new();
    for (what, words) in all {
        if let Some((more, load)) = doubled(platform, load, what) {
            let rise = stand.show(&more, load, reads)?.iops / base - 1.0;
            rises.push((what, words, rise));
        }
    }
    let told: Vec<String> = rises
        .iter()
        .map(|(_, words, rise)| format!("{words} {:+.0} %", 100.0 * rise))
        .collect();
    let most = rises.iter().max_by(|a, b| a.2.total_cmp(&b.2));
    let by = most.filter(|most| most.2 >= RISE_MIN);
    Ok(Limited {
        by: by.map_or(Limit::Unknown, |most| most.0),
        evidence: format!("twice as much of one changes the rate: {}", told.join(", ")),
    })
}

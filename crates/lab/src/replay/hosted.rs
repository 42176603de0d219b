//! Runs a plan with a platform between the workload and its drives.

use super::run::{Plan, RunError, Watch, measure, of_source};
use super::source::Source;
use crate::store::Staging;
use fathom_block::{Device, DeviceInfo, Narrow, Subject};
use fathom_iosched::BlockQueue;
use fathom_model::Drive;
use fathom_platform::{Charged, Platform, Processors};
use fathom_run::RunRecord;
use std::num::NonZeroU32;

/// Runs a plan on copies of a drive behind the adapters of a platform. Each drive has a block layer of its own, if the plan
/// has one.
///
/// # Errors
/// [`RunError`].
pub(super) fn hosted(
    platform: &Platform,
    drive: Drive,
    plan: &Plan,
    requests: Option<&mut Staging>,
    watch: Watch<'_>,
) -> Result<RunRecord, RunError> {
    platform.check()?;
    let info = drive.info();
    platform.check_drive(info)?;
    let info = DeviceInfo {
        capacity_bytes: platform.capacity(info.capacity_bytes),
        ..info.clone()
    };
    let processors = Processors::new(platform.cores);
    let mut source = Source::open(plan, &info)?;
    source.compute_on(&processors.counted_from(drive.now()));
    let drives = vec![drive; platform.drives_in_all() as usize].into_iter();
    let mut record = match &plan.queue {
        None => {
            let depth = plan.depth.unwrap_or(NonZeroU32::MAX);
            let drives = drives.map(|drive| Narrow::new(drive, depth)).collect();
            let charged = Charged::new(platform.clone(), drives, processors)?;
            play(charged, plan, source, requests, watch)?.0
        }
        Some(config) => {
            let config = of_source(config, &source)?;
            let queue = |drive| BlockQueue::new(drive, config.clone());
            let drives = drives.map(queue).collect::<Result<_, _>>()?;
            let charged = Charged::new(platform.clone(), drives, processors)?;
            let (record, charged) = play(charged, plan, source, requests, watch)?;
            let mut queues = charged.drives();
            let first = queues.next().map(|queue| queue.stats().clone());
            // The counters of several block layers have no sum.
            let queue = first.filter(|_| queues.next().is_none());
            RunRecord { queue, ..record }
        }
    };
    record.notes.extend(several(platform));
    Ok(record)
}

fn play<D: Subject>(
    charged: Charged<D>,
    plan: &Plan,
    source: Source,
    requests: Option<&mut Staging>,
    watch: Watch<'_>,
) -> Result<(RunRecord, Charged<D>), RunError> {
    let mut charged = match source.has_cache() {
        true => charged.below_a_cache(),
        false => charged,
    };
    let record = measure(&mut charged, plan, source, requests, watch)?;
    let host = Some(charged.work());
    Ok((RunRecord { host, ..record }, charged))
}

/// Says how the drives are one address space.
fn several(platform: &Platform) -> Option<String> {
    let all = platform.drives_in_all();
    let stripe = platform.stripe;
    match (all, stripe.0) {
        (1, 0) => None,
        (all, 0) => Some(format!(
            "{all} drives of the platform, one after the other in one address space (JBOD)"
        )),
        (1, _) => Some(format!("a RAID 0 of one drive, in chunks of {stripe}")),
        (all, _) => Some(format!(
            "{all} drives of the platform, striped in chunks of {stripe} (RAID 0)"
        )),
    }
}

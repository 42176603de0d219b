//! The attributes of the request queue: `/sys/block/NAME/queue` (Linux, Documentation/ABI/stable/sysfs-block).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::{bytes, count};

pub(super) const FAMILY: Family = Family {
    name: "queue",
    rules: &[
        Rule {
            setting: "scheduler",
            decide: scheduler,
        },
        Rule {
            setting: "nr_requests",
            decide: nr_requests,
        },
        Rule {
            setting: "max_sectors_kb",
            decide: max_sectors_kb,
        },
        Rule {
            setting: "read_ahead_kb",
            decide: read_ahead_kb,
        },
        Rule {
            setting: "rq_affinity",
            decide: rq_affinity,
        },
        Rule {
            setting: "wbt_lat_usec",
            decide: wbt_lat_usec,
        },
    ],
};

/// From this rate on, the time of a scheduler's lock and sorting counts. Assumption: a scheduler takes about 1 µs of a
/// processor for each request, a tenth of the time between two requests at this rate. The kernel's own default is the
/// same two schedulers: `none` for a drive with several hardware queues, `mq-deadline` for one (elevator_init_mq).
const FAST_IOPS: f64 = 100_000.0;
const KIB: u64 = 1024;

fn knee(case: &Case<'_>) -> Result<(u64, f64), Undecided> {
    let knee = case.measured.known("queue_knee")?;
    let iops = case
        .measured
        .figure(knee.parameter, "iops")
        .ok_or_else(|| {
            Undecided::identified(knee.parameter, "the queue knee has no rate beside it")
        })?;
    Ok((knee.high, iops))
}

fn scheduler(case: &Case<'_>) -> Decision {
    let (depth, iops) = knee(case)?;
    let fast = iops >= FAST_IOPS;
    let name = if fast { "none" } else { "mq-deadline" };
    let offered = case.reported.schedulers();
    if !offered.is_empty() && !offered.contains(&name) {
        return Err(Undecided::identified(
            "queue_knee",
            format!("`{name}` would follow, which the kernel does not offer for this drive"),
        ));
    }
    let rate = count(iops as u64);
    let reason = match fast {
        true => format!(
            "the drive completes {rate} reads a second with {depth} in flight, and at that rate a scheduler's own time \
             counts"
        ),
        false => format!(
            "the drive completes {rate} reads a second with {depth} in flight, so there is time to serve reads before \
             queued writes"
        ),
    };
    Ok(Decided::new(name, "queue_knee", reason))
}

/// The least that the kernel accepts (BLKDEV_MIN_RQ, include/linux/blkdev.h).
const REQUESTS_MIN: u64 = 4;
/// More than any drive takes; the kernel refuses more than its tags.
const REQUESTS_MAX: u64 = 1024;

fn nr_requests(case: &Case<'_>) -> Decision {
    let depth = case.depth()?.high;
    let requests = (2 * depth.min(REQUESTS_MAX)).next_power_of_two();
    let requests = requests.clamp(REQUESTS_MIN, REQUESTS_MAX);
    let reason = format!(
        "beyond {depth} requests in flight only the latency grows; twice as many keep the drive busy while others complete"
    );
    Ok(Decided::new(requests, "queue_knee", reason))
}

/// The longest request by default (BLK_DEF_MAX_SECTORS_CAP, 2560 sectors, until Linux 6.14).
const REQUEST_DEFAULT: u64 = 1280 * KIB;
const REQUEST_MIN: u64 = 128 * KIB;

fn max_sectors_kb(case: &Case<'_>) -> Decision {
    let unit = case.request_unit()?;
    if !unit.value.is_multiple_of(KIB) {
        let why = format!("a unit of {} is no whole number of KiB", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let hard = case.reported.size("max_hw_sectors_kb");
    let hard = hard.map_or(u64::MAX, |kib| kib.saturating_mul(KIB));
    let stripe = case.stripe().ok();
    let now = case.reported.size("max_sectors_kb").map(|kib| kib * KIB);
    let wanted = match &stripe {
        Some(stripe) => stripe.bytes.max(REQUEST_MIN),
        None => now.unwrap_or(REQUEST_DEFAULT),
    };
    let length = wanted.min(hard) / unit.value * unit.value;
    if length == 0 {
        let why = format!(
            "no request of this drive is as long as a unit of {}",
            unit.said
        );
        return Err(Undecided::identified(unit.parameter, why));
    }
    let cut = format!(
        "a longer request is cut into pieces of this length, a multiple of {}",
        unit.said
    );
    let reason = match stripe {
        Some(stripe) => format!("{cut}, and {} keep all of the drive busy", stripe.said),
        None => cut,
    };
    Ok(Decided::new(length / KIB, unit.parameter, reason))
}

/// The kernel's own read-ahead (VM_READAHEAD_PAGES), and a bound for ours.
const READ_AHEAD_MIN: u64 = 128 * KIB;
const READ_AHEAD_MAX: u64 = 8 << 20;

fn read_ahead_kb(case: &Case<'_>) -> Decision {
    let stripe = case.stripe()?;
    let wanted = 2 * stripe.bytes;
    // The kernel counts in pages of at most 64 KiB.
    let length = wanted.clamp(READ_AHEAD_MIN, READ_AHEAD_MAX);
    let length = length.next_multiple_of(64 * KIB);
    let mut reason = format!(
        "two requests of {} keep all of the drive busy while a program reads the first",
        stripe.said
    );
    let best = case.reported.size("optimal_io_size");
    if let Some(best) = best.filter(|best| !best.is_multiple_of(stripe.bytes)) {
        reason += &format!(
            "; the kernel's value comes from a reported best I/O of {}, which does not fit what was measured",
            bytes(best)
        );
    }
    Ok(Decided::new(length / KIB, stripe.parameter, reason))
}

fn rq_affinity(case: &Case<'_>) -> Decision {
    let (_, iops) = knee(case)?;
    match iops >= FAST_IOPS {
        true => Ok(Decided::new(
            2,
            "queue_knee",
            format!(
                "at {} completions a second one processor of a group would complete for the others; 2 lets each complete its \
                 own",
                count(iops as u64)
            ),
        )),
        false => Ok(Decided::new(
            1,
            "queue_knee",
            format!(
                "{} completions a second do not fill a processor, and completing on one that shares the cache is enough",
                count(iops as u64)
            ),
        )),
    }
}

/// The kernel's target for a solid state drive, in microseconds (wbt_default_latency_nsec): none below it.
const WBT_MIN_US: u64 = 500;
const WBT_MAX_US: u64 = 75_000;

fn wbt_lat_usec(case: &Case<'_>) -> Decision {
    let reads = case.read_target()?;
    let target = ((reads.ns / 1e3).ceil() as u64).clamp(WBT_MIN_US, WBT_MAX_US);
    let reason = format!(
        "{}; slower ones mean that writes are in their way",
        reads.said
    );
    Ok(Decided::new(target, reads.parameter, reason))
}

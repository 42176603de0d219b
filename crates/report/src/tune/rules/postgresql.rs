//! PostgreSQL's settings (PostgreSQL, Server Configuration).
//!
//! `full_page_writes`, `fsync`, `synchronous_commit` and `wal_sync_method` protect data. No rule touches them: no measurement
//! here proves that a drive writes a page whole.

use super::family::{Family, Rule};
use super::loads::Load;
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::{count, duration};

pub(super) const FAMILY: Family = Family {
    name: "postgresql",
    rules: &[
        Rule {
            setting: "effective_io_concurrency",
            decide: concurrency,
        },
        Rule {
            setting: "maintenance_io_concurrency",
            decide: concurrency,
        },
        Rule {
            setting: "random_page_cost",
            decide: random_page_cost,
        },
        Rule {
            setting: "commit_delay",
            decide: commit_delay,
        },
    ],
};

/// The range of the setting.
const CONCURRENCY_MAX: u64 = 1000;

fn concurrency(case: &Case<'_>) -> Decision {
    let depth = case
        .depth()
        .or_else(|why| case.measured.known("parallelism").map_err(|_| why))?;
    let value = depth.value.clamp(1, CONCURRENCY_MAX);
    let reason = match depth.parameter {
        "queue_knee" => format!(
            "beyond {} reads in flight the drive is no faster",
            depth.said
        ),
        _ => format!("the drive works on {} reads at once", depth.said),
    };
    Ok(Decided::new(value, depth.parameter, reason))
}

/// A page, in bytes, and the planner's default cost of a random one.
const PAGE: f64 = 8192.0;
const COST_MAX: f64 = 4.0;

fn random_page_cost(case: &Case<'_>) -> Decision {
    let rates = Load::rates(&[Load::ReadRandom, Load::ReadBytes], case)?;
    let [random, sequential] = rates[..] else {
        return Err(Undecided::identified(
            "queue_knee",
            "the rates are incomplete",
        ));
    };
    let pages = sequential.per_second as f64 / PAGE;
    let cost = (pages / random.per_second as f64).clamp(1.0, COST_MAX);
    let reason = format!(
        "the drive reads {} pages a second in order and {} at random",
        count(pages as u64),
        count(random.per_second)
    );
    Ok(Decided::new(format!("{cost:.1}"), random.parameter, reason))
}

/// A shorter flush is over before another commit comes: half of it is the delay.
const FLUSH_MIN_NS: u64 = 500_000;
/// The longest delay, in microseconds.
const DELAY_MAX_US: u64 = 100_000;
/// A flush whose interval ends at more than so many times its begin tells no delay: half of it would be more than twice too
/// long or too short at an end.
const TOO_WIDE: u64 = 4;

fn commit_delay(case: &Case<'_>) -> Decision {
    let flush = case.measured.known("flush")?;
    if flush.high > TOO_WIDE.saturating_mul(flush.low) {
        let why = format!(
            "a flush takes {} to {}, and no delay fits both",
            duration(flush.low),
            duration(flush.high)
        );
        return Err(Undecided::identified(flush.parameter, why));
    }
    let dirty = case.measured.figure(flush.parameter, "dirty1_ns");
    let takes = dirty.map_or(flush.value, |ns| ns as u64);
    if takes < FLUSH_MIN_NS {
        let why = format!(
            "a flush takes {}, too short for others to join it",
            duration(takes)
        );
        return Err(Undecided::identified(flush.parameter, why));
    }
    let delay = (takes / 2000).min(DELAY_MAX_US);
    let reason = format!(
        "a flush takes {}, so a commit that waits for half of that lets others share its flush",
        duration(takes)
    );
    Ok(Decided::new(delay, flush.parameter, reason))
}

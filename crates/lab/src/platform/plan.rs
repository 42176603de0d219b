//! What a rate of I/Os takes: the least hardware with which the model reaches it, what saturates first, and what one change
//! would do.

mod beginning;
mod bounds;
mod change;
mod faster;
mod least;
mod search;
mod setup;
#[cfg(test)]
mod tests;

use super::stand::{Stand, StandError};
use bounds::{Alone, CORES_MAX, DEPTH_MAX, DRIVES_MAX, IN_FLIGHT_MAX, alone};
use change::{Changed, changes};
use fathom_base::{Bytes, Dur};
use fathom_block::Device as _;
use fathom_platform::Platform;
use fathom_report::plan::{Bounds, Change, Counts, PlanReport, Sensitivity, Takes, Unreached};
use search::{Found, Search};

/// How close the I/Os in flight of a changed platform come to the fewest, as a share: the last steps of seven searches are a
/// third of the time.
const CHANGED_NEAR: f64 = 0.03;

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct PlanOptions {
    /// I/Os per second.
    pub iops: f64,
    /// Length of an I/O.
    pub block: Bytes,
    /// The highest mean latency; `None` for any.
    pub latency_max: Option<Dur>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Called regularly; `true` ends it.
    pub stop: fn() -> bool,
}

/// Answers what a rate takes.
///
/// # Errors
/// [`StandError`]: the drive is no modelled one or does not take the block, or a run failed.
pub fn plan(
    platform: &Platform,
    options: PlanOptions,
    part: &dyn Fn(&str),
) -> Result<PlanReport, StandError> {
    part("filling the drive");
    let stand = Stand::new(&platform.drive, options.block, options.seed, options.stop)?;
    part("searching");
    let own = alone(&stand)?;
    let search = Search {
        stand: &stand,
        platform,
        alone: &own,
        wanted: options.iops,
        latency_max: options.latency_max,
        near: 0.0,
    };
    let answer = answer(&search)?;
    let mut changes = Vec::new();
    for changed in self::changes(platform, stand.block.0, longest(&stand)) {
        part(&changed.what);
        changes.push(change(&search, &changed)?);
    }
    let sensitivity = match (&answer.found, &answer.takes) {
        (Some(found), Some(takes)) => {
            part("sensitivity");
            search.sensitivity(found, &takes.used)?
        }
        _ => Vec::new(),
    };
    Ok(report(&search, &options, answer, changes, sensitivity))
}

/// The longest I/O that the drive takes.
fn longest(stand: &Stand) -> u64 {
    let info = stand.drive.info();
    info.max_request_bytes.min(info.capacity_bytes)
}

/// What a search has found, or why not.
struct Answer {
    found: Option<Found>,
    takes: Option<Takes>,
    unreached: Option<Unreached>,
}

fn answer(search: &Search<'_>) -> Result<Answer, StandError> {
    Ok(match search.find()? {
        Ok(found) => Answer {
            takes: Some(takes(search, &found)?),
            found: Some(found),
            unreached: None,
        },
        Err(unreached) => Answer {
            found: None,
            takes: None,
            unreached: Some(unreached),
        },
    })
}

fn takes(search: &Search<'_>, found: &Found) -> Result<Takes, StandError> {
    let Found {
        setup,
        reading,
        deep,
        saturated,
    } = *found;
    let load = setup.load(search.platform);
    let deep = deep.load(search.platform);
    Ok(Takes {
        drives: setup.drives,
        adapters: setup.adapters(),
        drives_per_adapter: setup.per_adapter,
        cores: setup.cores,
        threads: load.threads,
        in_flight: load.threads * load.depth,
        iops: reading.iops,
        clocks: reading.clocks,
        latency_ns: reading.latency_ns,
        p99_ns: reading.p99_ns,
        saturated_in_flight: deep.threads * deep.depth,
        saturated_iops: saturated.iops,
        used: search.used(found)?,
    })
}

fn change(search: &Search<'_>, changed: &Changed) -> Result<Change, StandError> {
    let Changed {
        what,
        platform,
        larger,
    } = changed;
    let larger_blocks = search
        .stand
        .with_block(Bytes(search.stand.block.0 * larger));
    let (own, wanted): (Alone, f64);
    let mut search = Search {
        platform,
        near: CHANGED_NEAR,
        ..*search
    };
    if *larger > 1 {
        own = alone(&larger_blocks)?;
        wanted = search.wanted / *larger as f64;
        search = Search {
            stand: &larger_blocks,
            alone: &own,
            wanted,
            ..search
        };
    }
    let answer = answer(&search)?;
    Ok(Change {
        what: what.clone(),
        takes: answer.takes,
        unreached: answer.unreached,
    })
}

fn report(
    search: &Search<'_>,
    options: &PlanOptions,
    answer: Answer,
    changes: Vec<Change>,
    sensitivity: Vec<Sensitivity>,
) -> PlanReport {
    let Search {
        platform,
        alone,
        latency_max,
        ..
    } = *search;
    PlanReport {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        platform: platform.name.clone(),
        drive: platform.drive.clone(),
        drive_bytes: search.stand.drive.info().capacity_bytes,
        drive_iops: alone.most,
        wanted_iops: options.iops,
        latency_max_ns: latency_max.map(|most| most.0),
        block_bytes: options.block.0,
        seed: options.seed,
        bounds: Bounds {
            drives: DRIVES_MAX,
            cores: CORES_MAX,
            depth: alone.deepest.min(DEPTH_MAX),
            in_flight: IN_FLIGHT_MAX,
        },
        has: Counts {
            drives: platform.drives_in_all(),
            adapters: platform.adapters,
            cores: platform.cores,
        },
        takes: answer.takes,
        unreached: answer.unreached,
        changes,
        sensitivity,
    }
}

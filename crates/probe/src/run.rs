//! A run: the probes of a method, one parameter after the other, into a record; and the answers, from the record
//! alone.
//!
//! A parameter that needs what it may not have (writing, more budget) is *inconclusive* with the reason, and the
//! run goes on with the next one. An interruption or a drive that fails ends the run; what was measured is kept.

use crate::probes::{self, Probe, Space, robust};
use crate::profile::{Cost, Estimate, Parameter, Profile, Verdict};
use crate::record::{Method, Record, RecordMeta, Target};
use crate::session::{Ending, Observer, OtherRun, Session, Stop, marks};
use fathom_base::Dur;
use fathom_block::{Device, DeviceInfo};
use std::ops::Range;

/// What to measure, how, and within which limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// Of every random choice.
    pub seed: u64,
    /// How to measure.
    pub method: Method,
    /// What to measure, beside what that needs ([`crate::probes::Probe::after`]); the order is always that of [`Parameter::ALL`].
    pub parameters: Vec<Parameter>,
    /// Write nothing.
    pub read_only: bool,
    /// The most to write, in bytes.
    pub budget_bytes: Option<u64>,
    /// The longest to take, on the drive's clock.
    pub budget_time: Option<Dur>,
    /// The part of the drive to use, in bytes; all of it where absent.
    pub region: Option<Range<u64>>,
    /// How much thinner than printed the papers' grids are; 1 is as printed.
    pub thin: u32,
    /// Which drive, for the record; [`target_of`] the device where absent.
    pub target: Option<Target>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            method: Method::default(),
            parameters: Parameter::ALL.to_vec(),
            read_only: false,
            budget_bytes: None,
            budget_time: None,
            region: None,
            thin: 1,
            target: None,
        }
    }
}

/// The smallest region that can be measured, in logical blocks: four slots of four.
pub const REGION_BLOCKS_MIN: u64 = 16;

/// The smallest region that the robust probes measure, in bytes: their places lie up to a mebibyte apart, and four of
/// them must differ.
pub const REGION_BYTES_MIN: u64 = 4 << 20;

/// Why a run gave no record, or ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The region is smaller than [`REGION_BLOCKS_MIN`], leaves the drive, or does not lie on logical blocks.
    #[error(
        "the region {start}..{end} is not a stretch of at least {REGION_BLOCKS_MIN} whole logical blocks \
         ({block_bytes} bytes each) of the drive's {capacity_bytes} bytes; choose another"
    )]
    Region {
        /// First byte.
        start: u64,
        /// First byte after it.
        end: u64,
        /// The drive's unit, in bytes.
        block_bytes: u64,
        /// The drive's size, in bytes.
        capacity_bytes: u64,
    },
    /// The region is smaller than [`REGION_BYTES_MIN`], and the method needs that much.
    #[error(
        "{bytes} bytes are too few to measure in: the robust method needs {REGION_BYTES_MIN} ({} MiB) at least; choose a \
         larger file, drive or region",
        REGION_BYTES_MIN >> 20
    )]
    Small {
        /// The region's length, in bytes.
        bytes: u64,
    },
    /// The record to go on from belongs to another run.
    #[error(transparent)]
    OtherRun(#[from] OtherRun),
    /// The drive failed, or the record does not fit it.
    #[error("the run ended in {parameter}: {stop}")]
    Failed {
        /// What was being measured.
        parameter: Parameter,
        /// What happened.
        #[source]
        stop: Stop,
        /// Everything measured before; not complete.
        record: Box<Record>,
    },
}

/// A drive as it tells of itself: its name is all its identity.
pub fn target_of(info: &DeviceInfo) -> Target {
    Target {
        name: info.name.clone(),
        identity: info.name.clone(),
        modelled: info.modelled,
        capacity_bytes: info.capacity_bytes,
        logical_block_bytes: info.logical_block_bytes,
        max_request_bytes: info.max_request_bytes,
        queue_depth: info.queue_depth,
        volatile_cache: info.volatile_cache,
        spec: None,
    }
}

/// Measures. With `previous`, goes on where that run was cut short: on a real drive from the next step, on a
/// modelled one (which must be as fresh as the first time) from the start, checking against the record.
///
/// An interrupted run is no error: its record is not `complete`.
///
/// # Errors
/// [`RunError`]; a run that failed hands its record back.
pub fn run(
    device: &mut dyn Device,
    config: &RunConfig,
    previous: Option<Record>,
    observer: &mut dyn Observer,
) -> Result<Record, RunError> {
    check(config, device.info())?;
    let bound = write_bound(config, device.info());
    let meta = meta(config, device.info());
    let parameters = meta.parameters.clone();
    let mut session = Session::open(device, observer, meta, previous, bound)?;
    for parameter in parameters {
        match measure(&mut session, parameter) {
            Ok(()) => {}
            Err(Stop::Interrupted) => return Ok(session.finish(Some(parameter))),
            Err(stop) => {
                return Err(RunError::Failed {
                    parameter,
                    stop,
                    record: Box::new(session.finish(Some(parameter))),
                });
            }
        }
    }
    Ok(session.finish(None))
}

/// Measures one parameter; an error ends the run.
fn measure(session: &mut Session<'_>, parameter: Parameter) -> Result<(), Stop> {
    let Some(probe) = probes::find(session.record().meta.method, parameter) else {
        return Ok(());
    };
    let space = Space::from(&*session);
    let prepares = probe.needs().prepared && !robust::prepared(session.record());
    let preparation = if prepares { space.span() } else { 0 };
    session.begin(parameter, probe.bound(&space).saturating_add(preparation));
    let result = if probe.needs().writes && session.read_only() {
        Err(Stop::ReadOnly)
    } else {
        probe.run(session)
    };
    match result {
        Err(stop) if stop.ends_run() => return Err(stop),
        other => session.close(parameter, other.as_ref().copied()),
    }
    let estimate = answer(session.record(), parameter);
    session.learn(parameter, estimate);
    Ok(())
}

/// What a run is going to write, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// On a drive that gives answers; a rule of thumb, at most the bound.
    pub expected_bytes: u64,
    /// Never more than this.
    pub bound_bytes: u64,
}

/// What a run is going to write: what is shown before the first byte is written. A resumed run counts only what it
/// writes itself.
pub fn announce(config: &RunConfig, info: &DeviceInfo) -> Announcement {
    if config.read_only || info.read_only {
        return Announcement::default();
    }
    let space = Space {
        region: config.region.clone().unwrap_or(0..info.capacity_bytes),
        block_bytes: u64::from(info.logical_block_bytes).max(1),
        thin: config.thin.max(1),
    };
    let probes = wanted(config).into_iter();
    let probes: Vec<&dyn Probe> = probes
        .filter_map(|parameter| probes::find(config.method, parameter))
        .collect();
    let prepared = probes.iter().any(|probe| probe.needs().prepared);
    let prepared = if prepared { space.span() } else { 0 };
    let sum = |bytes: &dyn Fn(&dyn Probe) -> u64| {
        let each = probes.iter().map(|probe| bytes(*probe));
        each.fold(prepared, u64::saturating_add)
    };
    let most = config.budget_bytes.unwrap_or(u64::MAX);
    Announcement {
        expected_bytes: sum(&|probe| probe.expected(&space)).min(most),
        bound_bytes: sum(&|probe| probe.bound(&space)).min(most),
    }
}

/// The most that a run may write, in bytes: the bound of [`announce`].
pub fn write_bound(config: &RunConfig, info: &DeviceInfo) -> u64 {
    announce(config, info).bound_bytes
}

/// The answers, from the record alone.
pub fn solve(record: &Record) -> Profile {
    let parameters = in_order(&record.meta.parameters);
    let mut cost = Cost::default();
    record.steps.iter().for_each(|step| cost += step.cost);
    Profile {
        fathom: record.meta.fathom.clone(),
        seed: record.meta.seed,
        method: record.meta.method,
        target: record.meta.target.clone(),
        cost,
        parameters: parameters
            .into_iter()
            .map(|parameter| (parameter, answer(record, parameter)))
            .collect(),
    }
}

/// One parameter's answer, from the record alone; a parameter that was not measured to its end has none.
pub fn answer(record: &Record, parameter: Parameter) -> Estimate {
    let method = record.meta.method;
    let inconclusive =
        |reason: &str| Estimate::without_value(parameter, method, Verdict::Inconclusive, reason);
    let estimate = match (
        probes::find(method, parameter),
        marks::ending(record, parameter),
    ) {
        (None, _) => inconclusive("this method has no probe for it"),
        (Some(probe), Ending::Whole) => solved(probe, record),
        (Some(_), Ending::Stopped(reason)) => inconclusive(&reason),
        (Some(_), Ending::Open) => {
            inconclusive("the run ended before this was measured; resume it")
        }
    };
    Estimate {
        cost: record.cost_of(parameter),
        ..estimate
    }
}

fn solved(probe: &dyn Probe, record: &Record) -> Estimate {
    let estimate = probe.solve(record);
    match record.meta.thin {
        0 | 1 => estimate,
        thin if record.meta.method == Method::Paper => estimate.figure("thin", f64::from(thin)),
        _ => estimate,
    }
}

/// The parameters that were asked for and those that they need, in the order in which they are measured.
fn wanted(config: &RunConfig) -> Vec<Parameter> {
    let asked = config.parameters.iter().copied();
    let probes = asked.clone().filter_map(|p| probes::find(config.method, p));
    let needed = probes.filter_map(|probe| probe.after());
    in_order(&asked.chain(needed).collect::<Vec<_>>())
}

fn in_order(parameters: &[Parameter]) -> Vec<Parameter> {
    let mut all = Parameter::ALL.to_vec();
    all.retain(|parameter| parameters.contains(parameter));
    all
}

fn meta(config: &RunConfig, info: &DeviceInfo) -> RecordMeta {
    RecordMeta {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        seed: config.seed,
        method: config.method,
        parameters: wanted(config),
        read_only: config.read_only || info.read_only,
        budget_bytes: config.budget_bytes,
        budget_ns: config.budget_time.map(|time| time.0),
        region: config.region.as_ref().map(|r| [r.start, r.end]),
        thin: config.thin.max(1),
        target: config.target.clone().unwrap_or_else(|| target_of(info)),
        complete: false,
    }
}

/// Whether a drive can be measured so, before anything is written to it.
///
/// # Errors
/// [`RunError::Region`] and [`RunError::Small`].
pub fn check(config: &RunConfig, info: &DeviceInfo) -> Result<(), RunError> {
    let capacity_bytes = info.capacity_bytes;
    let Range { start, end } = config.region.clone().unwrap_or(0..capacity_bytes);
    let block_bytes = u64::from(info.logical_block_bytes).max(1);
    let whole = start.is_multiple_of(block_bytes) && end.is_multiple_of(block_bytes);
    let long = end.saturating_sub(start) / block_bytes >= REGION_BLOCKS_MIN;
    let bytes = end.saturating_sub(start);
    if whole && long && end <= capacity_bytes {
        return match config.method == Method::Robust && bytes < REGION_BYTES_MIN {
            true => Err(RunError::Small { bytes }),
            false => Ok(()),
        };
    }
    Err(RunError::Region {
        start,
        end,
        block_bytes,
        capacity_bytes,
    })
}

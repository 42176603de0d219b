//! A run: the probes of a method, one parameter after the other as planned, into a record; and the answers, from the record
//! alone.
//!
//! A parameter that needs what it may not have (writing, more budget) is *inconclusive* with the reason, and the
//! run goes on with the next one. An interruption or a drive that fails ends the run; what was measured is kept.

use crate::plan::{self, Needed, Plan, Reach};
use crate::probes::{self, Probe, Space, robust};
use crate::profile::{Cost, Estimate, Parameter, Profile, Verdict};
use crate::record::{Method, Record, RecordMeta, Target};
use crate::session::{Ending, Observer, OtherRun, Session, Stop, marks};
use fathom_base::Dur;
use fathom_block::{Device, DeviceInfo};
use std::borrow::Cow;
use std::ops::Range;

pub use crate::plan::{Announcement, Part};

/// What to measure, how, and within which limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// Of every random choice.
    pub seed: u64,
    /// How to measure.
    pub method: Method,
    /// What to measure, beside what that needs ([`crate::probes::Probe::after`]); [`crate::plan`] says in which order.
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
    /// Whether the cheapest parameter comes first ([`crate::plan`]): as in the record of a real drive that the run goes on from,
    /// and else, where absent, under a budget.
    pub cheapest_first: Option<bool>,
}

impl RunConfig {
    /// Whether the cheapest parameter comes first.
    pub fn cheapest_first(&self) -> bool {
        let budget = self.budget_bytes.is_some() || self.budget_time.is_some();
        self.cheapest_first.unwrap_or(budget)
    }

    /// As far as a run that goes on from `record` has no choice: what was measured on a real drive was measured in that order.
    #[must_use]
    pub fn going_on_from(self, record: &RecordMeta) -> Self {
        match record.target.modelled {
            true => self,
            false => Self {
                cheapest_first: Some(record.cheapest_first),
                ..self
            },
        }
    }
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
            cheapest_first: None,
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
    let config = match &previous {
        Some(record) => &config.clone().going_on_from(&record.meta),
        None => config,
    };
    let plan = Plan::of(config, device.info());
    let bound = plan.announcement().bound_bytes;
    let meta = meta(config, device.info());
    let mut session = Session::open(device, observer, meta, previous, bound)?;
    let mut reach = Reach::default();
    for part in &plan.parts {
        let parameter = part.parameter;
        match measure(&mut session, part, &mut reach) {
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
fn measure(session: &mut Session<'_>, part: &Part, reach: &mut Reach) -> Result<(), Stop> {
    let parameter = part.parameter;
    let Some(probe) = probes::find(session.record().meta.method, parameter) else {
        return Ok(());
    };
    let space = Space::from(&*session).within(part.region.clone());
    let preparation = match session.read_only() {
        true => 0,
        false => {
            plan::prepared(probe, &space).saturating_sub(robust::prepared_bytes(session.record()))
        }
    };
    let bound = probe.bound(&space).saturating_add(preparation);
    session.begin(parameter, part.region.clone(), bound);
    let result = if probe.needs().writes && session.read_only() {
        Err(Stop::ReadOnly)
    } else if session.record().meta.cheapest_first {
        // Where what it needs has no value it answers from that alone.
        let needs = match probe.after().and_then(|other| session.known(other)) {
            Some(other) if other.value.is_none() && reach.reaches() => Needed::default(),
            _ if reach.reaches() => session.still_needs(parameter, part.needs_after(preparation)),
            // What one before it needs is prepared then.
            _ => session.still_needs(parameter, part.needs()),
        };
        let budget = (session.spent_bytes(), session.budget_left());
        reach.begin(needs, budget).and_then(|()| probe.run(session))
    } else {
        probe.run(session)
    };
    match result {
        Err(stop) if stop.ends_run() => return Err(stop),
        Err(stop) => {
            reach.stopped(&stop);
            session.close(parameter, Err(&stop));
        }
        Ok(()) => session.close(parameter, Ok(())),
    }
    let estimate = answer(session.record(), parameter);
    session.learn(parameter, estimate);
    Ok(())
}

/// What a run is going to write: what is shown before the first byte is written. A resumed run counts only what it
/// writes itself.
pub fn announce(config: &RunConfig, info: &DeviceInfo) -> Announcement {
    Plan::of(config, info).announcement()
}

/// The most that a run may write, in bytes: the bound of [`announce`].
pub fn write_bound(config: &RunConfig, info: &DeviceInfo) -> u64 {
    announce(config, info).bound_bytes
}

/// The answers, from the record alone.
pub fn solve(record: &Record) -> Profile {
    let parameters = plan::in_order(&record.meta.parameters);
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
    let seen = seen(probe, record);
    let mut estimate = probe.solve(&seen);
    if let (Cow::Owned(part), false) = (&seen, estimate.verdict == Verdict::Identified) {
        let mib = Space::of(part).bytes() >> 20;
        let within = format!("; looked for in {mib} MiB, because of the budget");
        estimate.evidence.reason.push_str(&within);
    }
    match record.meta.thin {
        0 | 1 => estimate,
        thin if record.meta.method == Method::Paper => estimate.figure("thin", f64::from(thin)),
        _ => estimate,
    }
}

/// A record as it would be of a run in the part of the region that a probe was given.
fn seen<'r>(probe: &dyn Probe, record: &'r Record) -> Cow<'r, Record> {
    let space = Space::of(record);
    let part = plan::region(probe, &space);
    if !record.meta.cheapest_first || record.meta.read_only || part == space.region {
        return Cow::Borrowed(record);
    }
    let mut record = record.clone();
    record.meta.region = Some([part.start, part.end]);
    Cow::Owned(record)
}

fn meta(config: &RunConfig, info: &DeviceInfo) -> RecordMeta {
    RecordMeta {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        seed: config.seed,
        method: config.method,
        parameters: plan::wanted(config),
        read_only: config.read_only || info.read_only,
        budget_bytes: config.budget_bytes,
        budget_ns: config.budget_time.map(|time| time.0),
        region: config.region.as_ref().map(|r| [r.start, r.end]),
        thin: config.thin.max(1),
        target: config.target.clone().unwrap_or_else(|| target_of(info)),
        cheapest_first: config.cheapest_first(),
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

//! A run: executes the probes of a method in the order of the plan and returns a record. The answers come from the record
//! alone.
//!
//! A parameter that needs something that it may not have (writes, more budget) becomes *inconclusive* with the reason, and
//! the run goes on with the next one. An interruption or a drive that fails ends the run; what was measured is kept.

use crate::plan::{Part, Plan, prepared, wanted};
use crate::reach::{Needed, Reach};
use crate::record::Target;
use crate::robust::prepare;
use crate::watch::Watch;
use crate::{Look, Observer, Parameter, Record, RecordMeta, Session, Stop, look};
use fathom_block::{Device, DeviceInfo};

pub use crate::config::{RunConfig, check};
pub use crate::error::{REGION_BLOCKS_MIN, REGION_BYTES_MIN, RunError};
pub use crate::plan::Announcement;
pub use crate::solve::{answer, solve};

/// Returns the description of a drive as it describes itself; its name also serves as its identity.
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
        reported: None,
    }
}

/// Measures a drive. With `previous`, resumes that run: on a real drive from the next step; on a modelled one, which must be
/// as fresh as the first time, from the start, checking every step against the record.
///
/// An interrupted run is no error: it returns a record that is not `complete`.
///
/// # Errors
/// Any [`RunError`]. [`RunError::Failed`] contains the record of the run that failed.
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
    let seen = previous
        .as_ref()
        .and_then(|record| record.meta.look.clone());
    let mut session = Session::open(device, observer, meta, previous, bound)?;
    let mut reach = Reach::default();
    let watch = Watch::of(config, session.info(), plan.parts.len());
    for (number, part) in plan.parts.iter().enumerate() {
        let parameter = part.parameter;
        let looked = match number == 0 && config.fitting {
            true => first_look(&mut session, seen.clone()),
            false => Ok(()),
        };
        let looked = match number {
            0 => looked.and_then(|()| watch.refer(&mut session, None)),
            _ => looked,
        };
        let done = looked.and_then(|()| match unfit(&session, parameter) {
            Some(why) => {
                session.skip(parameter, why);
                Ok(())
            }
            None => measure(&mut session, part, &mut reach, &watch),
        });
        match done {
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

/// Looks at the drive before the first parameter. A run that resumes on a real drive keeps what it saw. A look that the
/// budget does not allow is left out, and every question is asked.
fn first_look(session: &mut Session<'_>, seen: Option<Look>) -> Result<(), Stop> {
    let seen = match seen.filter(|_| !session.info().modelled) {
        Some(look) => Ok(look),
        None => look::look(session),
    };
    match seen {
        Ok(look) => session.saw(look),
        Err(stop) if stop.ends_run() => return Err(stop),
        Err(_) => {}
    }
    Ok(())
}

/// Returns why the question of a parameter does not fit the drive, if a look at it says so.
fn unfit(session: &Session<'_>, parameter: Parameter) -> Option<&'static str> {
    let look = session.record().meta.look.as_ref()?;
    (parameter.about().fits)(look).err()
}

/// Measures one parameter. An error ends the run.
fn measure(
    session: &mut Session<'_>,
    part: &Part,
    reach: &mut Reach,
    watch: &Watch,
) -> Result<(), Stop> {
    let parameter = part.parameter;
    let method = session.record().meta.method;
    let Some(probe) = parameter.about().probe(method) else {
        return Ok(());
    };
    let space = session.space().within(part.region.clone());
    let preparation = match session.read_only() {
        true => 0,
        false => prepared(method, &space).saturating_sub(prepare::bytes(session.record())),
    };
    session.begin(
        parameter,
        part.region.clone(),
        [preparation, probe.bound(&space)],
    );
    let result = if parameter.about().writes && session.read_only() {
        Err(Stop::ReadOnly)
    } else if session.record().meta.cheapest_first {
        // If the parameter it needs has no value, the probe answers from that alone and needs no budget.
        let needs = match probe.after().and_then(|other| session.known(other)) {
            Some(other) if other.value.is_none() && reach.reaches() => Needed::default(),
            _ if reach.reaches() => part
                .needs_after(preparation)
                .beside(session.done_bytes(parameter)),
            // The budget has run out before. Count the planned preparation: an earlier part would have done the rest.
            _ => part.needs().beside(session.done_bytes(parameter)),
        };
        let (spent, left) = (session.spent_bytes(), session.budget_left());
        reach
            .begin(needs, spent, left)
            .and_then(|()| probe.run(session))
    } else {
        probe.run(session)
    };
    match &result {
        Err(stop) if stop.ends_run() => {}
        _ => watch.refer(session, Some(parameter))?,
    }
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

/// Returns the bytes that a run is going to write, to be shown before the first byte is written. A resumed run counts only
/// what it writes itself.
pub fn announce(config: &RunConfig, info: &DeviceInfo) -> Announcement {
    Plan::of(config, info).announcement()
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
        cheapest_first: config.cheapest_first(),
        level: config.level,
        fitting: config.fitting,
        look: None,
        log: None,
        references: Vec::new(),
        complete: false,
    }
}

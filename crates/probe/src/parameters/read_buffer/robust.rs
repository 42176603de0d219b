//! The read buffer (`parameter-aware-io` 4.2.5): how much can be read a second time without reading flash.
//!
//! The first stage finds the reads that show a buffer best: places are read one by one or many at a time, and a second time
//! at once. Then more and more neighbouring places are read twice, in an order that is no sequential stream. If lines are
//! evicted in order of their last use, all of the second pass is served up to the capacity, and nothing beyond it. Both
//! sides of the edge are measured again after a pause.
//!
//! A read that is faster the second time does not prove that data is buffered: a drive that reads its map from flash saves
//! that read. Its second read still takes longer than a read of a place that holds nothing, which no buffered read does. A
//! read-only run has no such place; there the time of buffered reads must not depend on the place.

use super::manner::{Manner, READ_MAX, of, rank, trial};
use super::measure::TRIALS;
use super::search::Stage;
use super::{measure, search};
use crate::robust::prepare::{prepare, prepared};
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_stats::location;

const PARAMETER: Parameter = Parameter::ReadBuffer;
/// The largest ratio of a second read of data to a read of nothing if memory serves it.
const MEMORY: f64 = 1.1;

pub(crate) struct ReadBuffer;

fn stage(record: &Record, space: &Space) -> Stage {
    let mut best: Option<(Manner, f64)> = None;
    let all = Manner::all(space, record.meta.target.max_request_bytes);
    for manner in &all {
        match trial(record, *manner) {
            None => return Stage::Try(*manner),
            Some((miss, hit, true))
                if best.is_none_or(|b| rank(*manner, miss / hit) > rank(b.0, b.1)) =>
            {
                best = Some((*manner, miss / hit));
            }
            Some(_) => {}
        }
    }
    let Some((best, ratio)) = best else {
        return Stage::Nothing;
    };
    match from_data(record, best) {
        None => return Stage::Unmapped(best),
        Some(false) => return Stage::Map,
        Some(true) => {}
    }
    // Shorter reads may bypass the buffer, so a pass must not end with one.
    let mut shortest = best.read;
    let saves = |m: &&Manner| trial(record, **m).is_some_and(|(_, _, saves)| saves);
    for manner in all.iter().filter(saves) {
        match from_data(record, *manner) {
            None => return Stage::Unmapped(*manner),
            Some(false) => {}
            Some(true) => {
                shortest = manner.read;
                break;
            }
        }
    }
    let good: Vec<Manner> = all
        .into_iter()
        .filter(|m| {
            trial(record, *m).is_some_and(|(miss, hit, saves)| {
                saves
                    && (m.group, m.many) == (best.group, best.many)
                    && m.read >= best.read
                    && (miss / hit).ln() > 0.5 * ratio.ln()
            })
        })
        .collect();
    search::search(record, space.span() / 2, shortest, &good, best)
}

/// Returns true if a second read saves reading data and not a look-up in the map: it takes no longer than a read of a place
/// that holds nothing. A read-only run has no such place and assumes so. `None` if it was not measured.
fn from_data(record: &Record, manner: Manner) -> Option<bool> {
    if !prepared(record) {
        return Some(true);
    }
    let nothing = of(record, &manner.name("unmapped"), Series::HIT);
    let nothing = location::median(&nothing)?;
    let hit = trial(record, manner).map_or(0.0, |t| t.1);
    Some(hit <= MEMORY * nothing)
}

impl Probe for ReadBuffer {
    fn bound(&self, space: &Space) -> u64 {
        let each = u64::from(TRIALS) * 2 * READ_MAX;
        (Manner::all(space, READ_MAX).len() as u64 * each).min(2 * space.span())
    }

    fn expected(&self, space: &Space) -> u64 {
        (u64::from(TRIALS) * 2 * READ_MAX).min(space.span())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if !session.read_only() {
            prepare(session, PARAMETER)?;
        }
        let space = session.space();
        loop {
            match stage(session.record(), &space) {
                Stage::Try(manner) => measure::try_out(session, manner)?,
                Stage::Unmapped(manner) => measure::unmapped(session, manner)?,
                Stage::Make(pass, round) => measure::make(session, pass, round)?,
                Stage::Within(pass) => measure::within(session, pass)?,
                // A faster second read would prove that the first one read flash. Without one, check that data was written.
                Stage::Nothing if session.read_only() => return prepare(session, PARAMETER),
                _ => return Ok(()),
            }
        }
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let space = Space::of(record);
        match stage(record, &space) {
            Stage::Nothing => Estimate::absent("a second read at once is no faster at any size"),
            Stage::Map => Estimate::absent(
                "a second read is faster, but still takes longer than one of a place that holds nothing: what is kept is not data",
            ),
            Stage::Flash => Estimate::inconclusive(
                "a second read is faster, but its time depends on the place as that of flash does: perhaps the map is kept and \
                 no data; a run that may write tells",
            ),
            Stage::Found(low, high) => {
                let reason = format!(
                    "all of {} is faster when it is read again at once, and nothing of {}, both again after a pause",
                    size(low),
                    size(high)
                );
                Estimate::identified(Value::Bytes(low), reason)
                    .between(Value::Bytes(low), Value::Bytes(high - space.block_bytes))
            }
            Stage::Larger(low) => Estimate::not_identifiable(format!(
                "a second pass is faster at every size up to {}: the capacity is larger",
                size(low)
            )),
            Stage::Unsettled(bytes) => Estimate::inconclusive(format!(
                "a second read is faster, but of {} it is not settled how much is",
                size(bytes)
            )),
            Stage::Try(_) | Stage::Unmapped(_) | Stage::Make(..) | Stage::Within(_) => {
                Estimate::inconclusive("it was not measured to its end")
            }
        }
    }
}

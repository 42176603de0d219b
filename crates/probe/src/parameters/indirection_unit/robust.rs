//! The indirection unit by two signals: the latency of flushed writes, and the throughput of many in flight.

use super::confirm::{self, By, Compared};
use super::model::{LARGEST, Shown, candidates};
use super::{latency, stream};
use crate::robust::prepare::prepare;
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::separate::Decision;

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// The bytes that it needs under a budget: enough for writes at different places.
const REACH: u64 = 512 << 20;

pub(crate) struct IndirectionUnit;

/// A unit that a signal shows and new writes confirm.
struct Found {
    bytes: u64,
    shown: Shown,
    compared: Compared,
}

fn found(record: &Record, by: By, shown: &[Shown]) -> Option<Found> {
    let (shown, bytes, compared) = confirm::confirmed(record, by, shown)?;
    Some(Found {
        bytes,
        shown,
        compared,
    })
}

fn by_latency(record: &Record) -> Option<Found> {
    found(record, By::Latency, &latency::shown(record))
}

fn by_throughput(record: &Record) -> Option<Found> {
    let (streams, shown) = stream::shown(record);
    found(record, By::Throughput(streams), &shown)
}

/// Returns what streams say of a unit that single writes show.
fn beside(record: &Record, bytes: u64) -> Option<Compared> {
    let streams = stream::usual(&Space::of(record));
    confirm::compared(record, By::Throughput(streams), bytes)
}

/// Returns why an answer does not agree with the clustered page, if it does not. A unit of the flash array that consists of
/// whole mapping units is a right answer there.
fn contradiction(bytes: u64, others: &Answers<'_>) -> Option<String> {
    let page = others(Parameter::ClusteredPage).bytes()?;
    (!page.is_multiple_of(bytes)).then(|| {
        format!(
            "the writes here show a unit of {}, those of the clustered page one of {}",
            size(bytes),
            size(page)
        )
    })
}

fn named_by_latency(record: &Record, found: &Found) -> Estimate {
    let unit = size(found.bytes);
    let second = beside(record, found.bytes);
    let streams = match second {
        Some(Compared {
            ratio,
            decision: Decision::Greater,
            ..
        }) => format!("; the same streams at depth 32 take {ratio:.2} times as long"),
        Some(_) => "; streams at depth 32 do not show it".to_owned(),
        None => String::new(),
    };
    let reason = format!(
        "a flushed write of {unit} takes {:.2} times as long without one logical block, which is read then{streams}",
        found.compared.ratio
    );
    let mut named = Estimate::identified(Value::Bytes(found.bytes), reason)
        .figure("incomplete_ratio", found.compared.ratio)
        .figure("bic_gain", found.shown.gain)
        .figure("bic_lead", found.shown.lead);
    if let Some(second) = second {
        named = named.figure("stream_incomplete_ratio", second.ratio);
    }
    named
}

fn named_by_throughput(found: &Found) -> Estimate {
    let reason = format!(
        "flushed writes do not show it; random writes of {} at depth 32 take {:.2} times as long without one logical block",
        size(found.bytes),
        found.compared.ratio
    );
    Estimate::identified(Value::Bytes(found.bytes), reason)
        .figure("stream_incomplete_ratio", found.compared.ratio)
        .figure("bic_gain", found.shown.gain)
        .figure("bic_lead", found.shown.lead)
}

fn nameless(record: &Record) -> Estimate {
    if candidates(&Space::of(record)).is_empty() {
        return Estimate::inconclusive("the region is too small to measure it in");
    }
    if let Some(shown) = latency::shown(record).first() {
        return Estimate::inconclusive(format!(
            "the times of writes fit a unit of {}, but a whole unit is not clearly faster than one without a block",
            size(shown.bytes)
        ));
    }
    if let Some(shown) = stream::shown(record).1.first() {
        return Estimate::inconclusive(format!(
            "the throughput of writes fits a unit of {}, but whole units are not clearly faster than ones without a block",
            size(shown.bytes)
        ));
    }
    if latency::from_memory(record) {
        return Estimate::inconclusive(
            "flushed writes are answered sooner than reads, so memory takes them, and the throughput shows no unit",
        );
    }
    if latency::nothing(record) {
        return Estimate::absent(format!(
            "no write up to {} takes longer for where it begins or ends: a partly written unit costs nothing that can be seen",
            size(LARGEST)
        ));
    }
    Estimate::inconclusive("the noise hides whether a partly written unit takes longer")
}

impl Probe for IndirectionUnit {
    fn bound(&self, space: &Space) -> u64 {
        latency::bound(space)
            + 3 * confirm::bound(By::Latency, LARGEST)
            + stream::bound(space)
            + 3 * confirm::bound(By::Throughput(stream::longest(space)), LARGEST)
    }

    fn expected(&self, space: &Space) -> u64 {
        latency::one_round(space) * 2 + confirm::bound(By::Throughput(stream::usual(space)), 0) / 4
    }

    fn fruitless(&self, space: &Space) -> u64 {
        latency::bound(space) + stream::bound(space)
    }

    fn reach(&self, _: &Space) -> u64 {
        REACH
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        if candidates(&session.space()).is_empty() {
            return Ok(());
        }
        latency::look(session)?;
        let shown = latency::shown(session.record());
        if let Some(unit) = confirm::any(session, By::Latency, &shown)? {
            let by = By::Throughput(stream::usual(&session.space()));
            return confirm::look(session, by, unit);
        }
        if !latency::from_memory(session.record()) {
            return Ok(());
        }
        stream::look(session)?;
        let (streams, shown) = stream::shown(session.record());
        confirm::any(session, By::Throughput(streams), &shown).map(|_| ())
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let first = by_latency(record);
        let second = if first.is_none() {
            by_throughput(record)
        } else {
            None
        };
        let Some(bytes) = first.as_ref().or(second.as_ref()).map(|found| found.bytes) else {
            return nameless(record);
        };
        if let Some(why) = contradiction(bytes, others) {
            return Estimate::inconclusive(why);
        }
        match (first, second) {
            (Some(found), _) => named_by_latency(record, &found),
            (None, Some(found)) => named_by_throughput(&found),
            (None, None) => nameless(record),
        }
    }
}

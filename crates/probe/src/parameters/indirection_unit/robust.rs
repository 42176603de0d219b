//! The indirection unit by two signals: the latency of flushed writes, and the throughput of many in flight.

use super::confirm::{self, By, Compared};
use super::media::{self, Logged};
use super::model::{LARGEST, Shown, candidates};
use super::{latency, stream};
use crate::parameters::clustered_page::robust::COMMANDS;
use crate::robust::prepare::prepare;
use crate::robust::size::{SEEN, size};
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

/// Returns the unit that streams confirm: one that they show, or one that single writes show but do not confirm.
fn by_throughput(record: &Record) -> Option<Found> {
    let (streams, shown) = stream::shown(record);
    let usual = By::Throughput(stream::usual(&Space::of(record)));
    found(record, usual, &latency::shown(record))
        .or_else(|| found(record, By::Throughput(streams), &shown))
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
        "flushed writes do not confirm it; random writes of {} at depth 32 take {:.2} times as long without one logical block",
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
        ))
        .figure(SEEN, shown.bytes as f64);
    }
    if let Some(shown) = stream::shown(record).1.first() {
        return Estimate::inconclusive(format!(
            "the throughput of writes fits a unit of {}, but whole units are not clearly faster than ones without a block",
            size(shown.bytes)
        ))
        .figure(SEEN, shown.bytes as f64);
    }
    if latency::from_memory(record) {
        return Estimate::inconclusive(
            "flushed writes are answered sooner than reads, so memory takes them, and the throughput shows no unit",
        );
    }
    if latency::nothing(record) && latency::in_reads(record).is_some_and(|reads| reads < COMMANDS) {
        return Estimate::inconclusive(
            "no write takes longer for where it begins or ends, but flushed writes take less time than two reads: memory may take them",
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
            + confirm::bound(By::Throughput(stream::usual(space)), LARGEST)
            + stream::bound(space)
            + 2 * confirm::bound(By::Throughput(stream::longest(space)), LARGEST)
            + media::bound(space)
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
        match timed(session)? {
            Some(unit) => {
                let by_times_of_streams = by_latency(session.record()).is_none();
                media::check(session, unit, by_times_of_streams)
            }
            None => media::look(session),
        }
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let first = by_latency(record);
        let second = if first.is_none() {
            by_throughput(record)
        } else {
            None
        };
        let by_log = media::shown(record);
        let timed = first.as_ref().or(second.as_ref()).map(|found| found.bytes);
        let Some(bytes) = timed.or(by_log) else {
            return nameless(record);
        };
        if let Some(why) = contradiction(bytes, others) {
            return Estimate::inconclusive(why);
        }
        // Streams alone may show what collection does to them: then no round of the log may speak against the unit.
        let alone = first.is_none() && by_log.is_none();
        let named = match (first, second, by_log) {
            (Some(found), _, _) => named_by_latency(record, &found),
            (None, Some(found), _) => named_by_throughput(&found),
            (None, None, Some(bytes)) => named_by_log(record, bytes),
            (None, None, None) => nameless(record),
        };
        with_log(named, bytes, media::logged(record, bytes), alone)
    }
}

/// Takes the samples of times. Returns the unit that they confirm.
fn timed(session: &mut Session<'_>) -> Result<Option<u64>, Stop> {
    latency::look(session)?;
    let shown = latency::shown(session.record());
    let usual = By::Throughput(stream::usual(&session.space()));
    if let Some(unit) = confirm::any(session, By::Latency, &shown)? {
        confirm::look(session, usual, unit)?;
        return Ok(Some(unit));
    }
    if let Some(unit) = confirm::any(session, usual, &shown)? {
        return Ok(Some(unit));
    }
    let from_memory = latency::from_memory(session.record());
    if !from_memory {
        // Where noise hides single writes, streams may show it.
        if !latency::nothing(session.record()) {
            stream::look(session, false)?;
        }
        let (streams, shown) = stream::shown(session.record());
        return confirm::any(session, By::Throughput(streams), &shown);
    }
    // The log shows what streams must be long for, in memory that takes many writes.
    media::look(session)?;
    if let Some(unit) = media::shown(session.record()) {
        let longest = By::Throughput(stream::longest(&session.space()));
        confirm::look(session, longest, unit)?;
        return Ok(Some(unit));
    }
    stream::look(session, true)?;
    let (streams, shown) = stream::shown(session.record());
    confirm::any(session, By::Throughput(streams), &shown)
}

fn named_by_log(record: &Record, bytes: u64) -> Estimate {
    let longest = By::Throughput(stream::longest(&Space::of(record)));
    let streams = confirm::compared(record, longest, bytes);
    let times = streams.map_or(String::new(), |seen| {
        format!(
            "; at depth 32 they take {:.2} times as long without one logical block",
            seen.ratio
        )
    });
    let reason = format!(
        "memory hides it from flushed writes, but writes of {} make the drive write more to the media when they are \
         shifted by half{times}",
        size(bytes)
    );
    let named = Estimate::identified(Value::Bytes(bytes), reason);
    match streams {
        Some(seen) => named.figure("stream_incomplete_ratio", seen.ratio),
        None => named,
    }
}

/// Adds what the log says to an answer; the answer is none if the log contradicts it, or only doubts what streams `alone` show.
fn with_log(named: Estimate, bytes: u64, logged: Option<Logged>, alone: bool) -> Estimate {
    let Some(logged) = logged else {
        return named;
    };
    if logged.contradicts() || (alone && logged.doubts()) {
        return Estimate::inconclusive(format!(
            "times show a unit of {}, but the drive's log does not: shifted by half, writes of it take {:.2} times as many \
             bytes of the media, and writes of twice the length {:.2} times",
            size(bytes),
            logged.one(),
            logged.two()
        ));
    }
    named
        .figure("media_shifted_ratio", logged.one())
        .figure("media_shifted_double_ratio", logged.two())
}

//! The over-provisioning from the speed of random overwrites at several utilisations, with a range over victim policies.

use super::invert::{self, Inverted, Point, invert};
use super::steady::{self, ORDER_MAX, Steady, USED};
use super::waf::Table;
use crate::robust::{limits, overwritten};
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value, Verdict};

/// The least number of utilisations with a steady speed.
const STEADY_MIN: usize = 5;
/// The least ratio of the times on a full and on a nearly empty drive for collection to show.
const SHOWS: f64 = 1.15;
/// The largest misfit, in squared errors per degree of freedom.
const MISFIT: f64 = 2.5;
/// The largest ratio of the ends of an answer's range.
const RANGE_MAX: f64 = 3.0;

pub(crate) struct OverProvisioning;

fn unfit(record: &Record) -> Option<Estimate> {
    overwritten::unfit(record, steady::bound, "serves garbage collection")
}

fn points(record: &Record) -> Vec<(u64, Steady)> {
    let steady = |used: &u64| Some((*used, steady::steady(record, *used)?));
    USED.iter().filter_map(steady).collect()
}

/// What else takes flash or time where it writes.
struct Beside {
    /// The writes themselves are slowed by a limit.
    limited: bool,
    /// Something other than the host's data is written to the flash, or data is written twice.
    more: Option<&'static str>,
}

impl Beside {
    fn of(others: &Answers<'_>) -> Self {
        let has = |parameter| others(parameter).verdict == Verdict::Identified;
        let more = match () {
            () if has(Parameter::MapReach) => Some("a map in flash is written and collected, too"),
            () if has(Parameter::FastCache) => {
                Some("a fast cache takes writes first, and its data is written again")
            }
            () => None,
        };
        Self {
            limited: limits::any(others),
            more,
        }
    }
}

fn answer(record: &Record, beside: &Beside) -> Estimate {
    if let Some(more) = beside.more {
        return Estimate::not_identifiable(format!(
            "{more}, so that more than garbage collection makes random overwrites slow"
        ));
    }
    if let Some(order) = steady::order(record).filter(|order| *order > ORDER_MAX) {
        return Estimate::not_identifiable(format!(
            "random overwrites take {order:.1} times as long as those in order even on a nearly empty drive: something \
             other than the lack of free flash slows them"
        ));
    }
    let seen = points(record);
    let ends = seen.first().zip(seen.last());
    let Some((full, empty)) = ends.filter(|_| seen.len() >= STEADY_MIN) else {
        return Estimate::inconclusive("the speed of random overwrites did not become steady");
    };
    let slower = full.1.ns_per_byte / empty.1.ns_per_byte;
    let timed = match beside.limited {
        true => {
            Estimate::not_identifiable("a limit in front of the drive sets the speed of writes")
        }
        false => by_times(&seen, slower),
    };
    let told = |(used, steady): &(u64, Steady)| Some((*used as f64 / 100.0, steady.media?));
    let told: Vec<(f64, f64)> = seen.iter().filter_map(told).collect();
    match invert::logged(&told, &Table::all()) {
        Some(logged) if full.0 == USED[0] => by_log(&logged, &timed),
        _ => timed,
    }
}

fn by_times(seen: &[(u64, Steady)], slower: f64) -> Estimate {
    if seen.first().is_none_or(|full| full.0 != USED[0]) || slower < SHOWS {
        return Estimate::not_identifiable(format!(
            "random overwrites of a full drive take {slower:.2} times as long as of a nearly empty one: collection hides \
             behind something slower, or the drive has much spare flash"
        ));
    }
    let point = |&(used, steady): &(u64, Steady)| Point {
        used: used as f64 / 100.0,
        time: steady.ns_per_byte,
        error: steady.error,
    };
    let points: Vec<Point> = seen.iter().map(point).collect();
    let Some(found) = invert(&points, &Table::all()) else {
        return Estimate::not_identifiable("collection shows at too few utilisations");
    };
    let media = seen.first().and_then(|(_, steady)| steady.media);
    judged(&found, slower, media)
}

/// Returns the answer that the drive's log gives, unless the speeds give another one.
fn by_log(logged: &Inverted, timed: &Estimate) -> Estimate {
    let percent = |value: f64| 100.0 * value;
    if logged.misfit > MISFIT || logged.high > RANGE_MAX * logged.low {
        return timed.clone();
    }
    let ends = timed
        .interval()
        .and_then(|(low, high)| Some((low.number()?, high.number()?)));
    if let Some((low, high)) = ends.filter(|(low, high)| *low > logged.high || *high < logged.low) {
        return Estimate::inconclusive(format!(
            "the bytes that the drive's log counts fit {:.0} % to {:.0} %, the speeds {:.0} % to {:.0} %",
            percent(logged.low),
            percent(logged.high),
            percent(low),
            percent(high)
        ));
    }
    let beside = match ends {
        Some(_) => "the speeds agree",
        None => "the speeds alone do not tell it",
    };
    let reason = format!(
        "the drive's log counts {:.2} bytes written to the media for each of the host when it is full; over the utilisation \
         this fits {:.0} % to {:.0} %, depending on how blocks are chosen for collection; {beside}",
        logged.amplification,
        percent(logged.low),
        percent(logged.high)
    );
    let named = Estimate::identified(Value::Ratio(logged.value), reason)
        .between(Value::Ratio(logged.low), Value::Ratio(logged.high))
        .figure("media_ratio", logged.amplification)
        .figure("media_misfit_ratio", logged.misfit);
    let figures = timed.evidence.figures.iter();
    figures.fold(named, |named, (name, value)| named.figure(name, *value))
}

fn judged(found: &Inverted, slower: f64, media: Option<f64>) -> Estimate {
    let percent = |value: f64| 100.0 * value;
    if found.misfit > MISFIT {
        return Estimate::inconclusive(format!(
            "the speeds over the utilisation do not follow garbage collection of pages (misfit {:.1})",
            found.misfit
        ))
        .figure("misfit_ratio", found.misfit);
    }
    if found.high > RANGE_MAX * found.low {
        return Estimate::inconclusive(format!(
            "the speeds fit anything from {:.0} % to {:.0} %",
            percent(found.low),
            percent(found.high)
        ));
    }
    if let Some(media) = media.filter(|media| *media < 1.0 + 0.5 * (found.amplification - 1.0)) {
        return Estimate::inconclusive(format!(
            "the speeds fit a write amplification of {:.1}, the drive's log says {media:.1}",
            found.amplification
        ));
    }
    let reason = format!(
        "random overwrites of the full drive take {slower:.2} times as long as of a nearly empty one; over the utilisation \
         this fits {:.0} % to {:.0} %, depending on how blocks are chosen for collection",
        percent(found.low),
        percent(found.high)
    );
    let named = Estimate::identified(Value::Ratio(found.value), reason)
        .between(Value::Ratio(found.low), Value::Ratio(found.high))
        .figure("slower_ratio", slower)
        .figure("write_amplification_ratio", found.amplification)
        .figure("misfit_ratio", found.misfit);
    match media {
        Some(media) => named.figure("media_ratio", media),
        None => named,
    }
}

impl Probe for OverProvisioning {
    fn bound(&self, space: &Space) -> u64 {
        let fits = overwritten::fits(space);
        if fits { steady::bound(space) } else { 0 }
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if unfit(session.record()).is_some() || !session.info().trim {
            return Ok(());
        }
        steady::measure(session)
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        if let Some(unfit) = unfit(record) {
            return unfit;
        }
        if steady::order(record).is_none() {
            return Estimate::inconclusive(
                "the drive takes no TRIM, so it cannot be emptied step by step",
            );
        }
        answer(record, &Beside::of(others))
    }
}

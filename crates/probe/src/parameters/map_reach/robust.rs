//! The reach of the map, from the mean latency of random reads over spans of growing length.
//!
//! [`fathom_stats::reach`] decides between no difference, a gradual rise, one cache, and a cache behind another. A cache may
//! hold data instead of the map. Its hits take as long as reads of a place that holds nothing, because neither touches the
//! flash; hits of the map take longer, by a read of the flash. A cache is therefore taken for the map only if the reads
//! within its reach take longer than reads of nothing.

use super::take;
use super::take::{ELSEWHERE, RESTED, SPANNED, STEADY};
use crate::robust::blank::NOTHING;
use crate::robust::limits;
use crate::robust::samples::{at, sizes};
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::location::{mean, median, quantile};
use fathom_stats::reach::{Cached, Explained, Spanned, explain};
use fathom_stats::separate::{Decision, separate};

const PARAMETER: Parameter = Parameter::MapReach;
/// Times beyond this many times the highest 90 % quantile of a span are cut: they are stalls.
const CUT: f64 = 2.0;
/// The share of the time of a hit that a miss must add to matter.
const MATTERS: f64 = 0.05;
/// The ratio, and the standard errors, by which a read of data must exceed a read of nothing.
const FLASH: f64 = 1.12;
const CERTAIN: f64 = 4.0;
/// The largest memory of data, in bytes, that hides no map: maps in memory reach farther.
const DATA_MAX: f64 = (1 << 20) as f64;
/// How many times as far the map may reach behind a memory of data: 64 MiB looked like 51.5 behind 1 to 24 MiB.
const HIDDEN: f64 = 1.25;
/// The least reach that shows, in shortest spans: some spans of different length must lie within it.
const SHOWN: f64 = 2.0;

/// The span elsewhere, as a share of the reach: all of its map fits into memory.
const ELSEWHERE_SHARE: f64 = 0.5;

/// The confidence with which reads one after another must take longer than those after a pause, by the second share of their
/// time, for something to hold the former back.
const HELD: (f64, f64) = (0.999, 0.05);
/// The ratio of the fastest reads and the time between two that a limit lets pass below which the limit holds some of them back.
const BOUND: f64 = 1.15;

pub(crate) struct MapReach;

/// Returns the cache that would be named.
fn reach(explained: Option<Explained>) -> Option<Cached> {
    match explained? {
        Explained::One(cached) | Explained::Two { behind: cached, .. } => Some(cached),
        Explained::Constant | Explained::Gradual => None,
    }
}

/// Returns true if reads over a span within the reach are as fast at other places, or if that was not measured.
fn is_fast_elsewhere(record: &Record, cached: &Cached) -> bool {
    let samples = record.series(PARAMETER, ELSEWHERE);
    let times: Vec<f64> = samples.map(|sample| sample.ns as f64).collect();
    median(&times).is_none_or(|typical| typical < cached.hit + 0.5 * cached.miss)
}

fn spanned(record: &Record) -> Vec<Spanned> {
    let spans = sizes(record, PARAMETER, SPANNED);
    let times: Vec<(u64, Vec<f64>)> = spans
        .into_iter()
        .map(|span| (span, at(record, PARAMETER, SPANNED, span)))
        .collect();
    let high = times.iter().filter_map(|(_, times)| quantile(times, 0.9));
    let cut = CUT * high.fold(0.0, f64::max);
    let of = |(span, times): &(u64, Vec<f64>)| {
        let (mean, error) = average(times, cut)?;
        Some(Spanned {
            span: *span as f64,
            mean,
            error,
        })
    };
    times.iter().filter_map(of).collect()
}

/// Returns the mean of times that are cut, and its standard error: at least a thousandth of it.
fn average(times: &[f64], cut: f64) -> Option<(f64, f64)> {
    let times: Vec<f64> = times.iter().map(|ns| ns.min(cut)).collect();
    let average = mean(&times)?;
    let squares: f64 = times.iter().map(|ns| (ns - average).powi(2)).sum();
    let count = times.len() as f64;
    let error = (squares / (count - 1.0).max(1.0) / count).sqrt();
    Some((average, error.max(1e-3 * average)))
}

/// Returns the times of a read right after another one and of one after a pause if the former is held back.
fn held_back(record: &Record) -> Option<(f64, f64)> {
    let [steady, rested] = [STEADY, RESTED].map(|series| -> Vec<f64> {
        let samples = record.series(PARAMETER, series);
        samples.map(|sample| sample.ns as f64).collect()
    });
    let compared = separate(&steady, &rested, HELD.0, HELD.1)?;
    let held = compared.decision == Decision::Greater;
    held.then_some((median(&steady)?, median(&rested)?))
}

/// Returns the mean time of a read that touches no flash, and its error.
fn nothing(record: &Record) -> Option<(f64, f64)> {
    let times: Vec<f64> = record
        .series(PARAMETER, NOTHING)
        .map(|s| s.ns as f64)
        .collect();
    average(&times, CUT * quantile(&times, 0.9)?)
}

/// Returns true if reads that take `hit` on average touch the flash.
fn touches_flash(hit: f64, blank: (f64, f64)) -> bool {
    hit > FLASH * blank.0 && hit - blank.0 > CERTAIN * blank.1
}

impl Probe for MapReach {
    fn bound(&self, space: &Space) -> u64 {
        take::written(space)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        take::prepared(session)?;
        take::sweep(session)?;
        if let Some(cached) = reach(explain(&spanned(session.record()))) {
            take::elsewhere(session, (ELSEWHERE_SHARE * cached.reach) as u64)?;
        }
        take::rested(session)
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let seen = spanned(record);
        let Some(explained) = explain(&seen) else {
            return Estimate::inconclusive("the region is too small for spans of different length");
        };
        if let Some((steady, rested)) = held_back(record) {
            return Estimate::not_identifiable(format!(
                "a read takes {:.0} us after a pause, and {:.0} us right after another one: a limit in front of the drive sets the \
                 time of reads, whatever they find in memory",
                rested / 1e3,
                steady / 1e3
            ));
        }
        let read = take::read_bytes(&Space::of(record)) as f64;
        let apart = limits::bytes_per_second(others, read).map(|bytes| 1e9 * read / bytes);
        let fastest = seen.iter().map(|span| span.mean).reduce(f64::min);
        if let (Some(apart), Some(fastest)) = (apart, fastest)
            && fastest < BOUND * apart
        {
            return Estimate::not_identifiable(format!(
                "a limit in front of the drive lets a read of {read} B pass every {:.0} us, and the fastest take {:.0} us: it sets \
                 the time of reads, whatever they find in memory",
                apart / 1e3,
                fastest / 1e3
            ));
        }
        let end = |s: Option<&Spanned>| s.map_or(0, |s| s.span as u64);
        let ends = (end(seen.first()), end(seen.last()));
        let blank = nothing(record);
        let cached = reach(Some(explained));
        if cached.is_some_and(|cached| !is_fast_elsewhere(record, &cached)) {
            return Estimate::not_identifiable(
                "reads at the beginning of the region are faster, but not over a span as long elsewhere: the place makes the \
                 difference, such as data that lies in a fast cache, and hides the map",
            );
        }
        let estimate = match explained {
            Explained::Constant => Estimate::absent(format!(
                "random reads take equally long over every span from {} to {}: the map of all of it is in memory, or none",
                size(ends.0),
                size(ends.1)
            )),
            Explained::Gradual => Estimate::not_identifiable(
                "random reads take longer the larger the span, but gradually and from no span on",
            ),
            Explained::One(cached) => one(&cached, blank, ends),
            Explained::Two {
                before,
                first,
                behind,
            } => two(before, first, &behind, blank, ends),
        };
        match blank {
            Some((ns, _)) => estimate.figure("nothing_ns", ns),
            None => estimate,
        }
    }
}

/// Returns true if spans of different length lie within a reach. If none do, the reads of all spans are a mixture of hits and
/// misses, and the time of a hit is not known: a memory of data that is smaller than the spans is no map.
fn shows(reach: f64, shortest: u64) -> bool {
    reach >= SHOWN * shortest as f64
}

fn one(cached: &Cached, blank: Option<(f64, f64)>, (shortest, whole): (u64, u64)) -> Estimate {
    match blank {
        None => Estimate::inconclusive(format!(
            "random reads are faster over spans up to {}, but without TRIM a memory of data cannot be distinguished from a map",
            size(cached.reach as u64)
        )),
        Some(blank) if !touches_flash(cached.hit, blank) && cached.reach > DATA_MAX => {
            Estimate::not_identifiable(format!(
                "a memory of data answers the reads of spans up to {}: it hides a map in memory that reaches less than about three \
                 times as far",
                size(cached.reach as u64)
            ))
        }
        Some(blank) if !touches_flash(cached.hit, blank) => Estimate::absent(format!(
            "random reads are faster over spans up to {}, where they take no longer than a read of nothing: a memory of data \
             answers them, and beyond it the span makes no difference",
            size(cached.reach as u64)
        )),
        Some(_) if !shows(cached.reach, shortest) => Estimate::not_identifiable(format!(
            "random reads take longer the larger the span from the shortest one ({}) on: a memory of data smaller than that \
             answers a share of them, and no larger span makes a difference",
            size(shortest)
        )),
        Some(_) => named(cached, whole),
    }
}

fn two(
    before: f64,
    first: f64,
    behind: &Cached,
    blank: Option<(f64, f64)>,
    (shortest, whole): (u64, u64),
) -> Estimate {
    match blank {
        Some(blank) if shows(before, shortest) && touches_flash(first, blank) => {
            Estimate::inconclusive(format!(
                "random reads become slower twice, from spans of {} and {} on, and both times the flash is read within them",
                size(before as u64),
                size(behind.reach as u64)
            ))
        }
        // The first is a memory of data: reads beyond it touch the flash. So do some of those within it where it is smaller
        // than the shortest span. It answers the second read of each piece, so that a memory in two segments holds less of the
        // map than it could.
        _ => named(
            &Cached {
                high: behind.high * HIDDEN,
                ..*behind
            },
            whole,
        ),
    }
}

fn named(cached: &Cached, whole: u64) -> Estimate {
    let ratio = cached.miss / cached.hit;
    if ratio < MATTERS {
        return Estimate::absent(format!(
            "a read beyond the reach of the map would take only {:.1} % longer",
            100.0 * ratio
        ));
    }
    let bytes = |bytes: f64| Value::Bytes(bytes.round() as u64);
    let reason = format!(
        "random reads over up to {} take {:.0} us, and a share of those over more takes {:.0} us longer, as if the map were \
         read from flash first; looked at up to {}",
        size(cached.reach as u64),
        cached.hit / 1e3,
        cached.miss / 1e3,
        size(whole)
    );
    Estimate::identified(bytes(cached.reach), reason)
        .between(bytes(cached.low), bytes(cached.high))
        .figure("hit_ns", cached.hit)
        .figure("miss_ns", cached.miss)
}

#[cfg(test)]
mod tests {
    use super::{Cached, one, two};
    use crate::{Estimate, Value, Verdict};

    const MIB: f64 = (1 << 20) as f64;
    const BLANK: Option<(f64, f64)> = Some((12e3, 100.0));

    /// Returns a memory of so many MiB whose hits take `hit`.
    fn cached(mib: f64, hit: f64) -> Cached {
        Cached {
            reach: mib * MIB,
            low: 0.95 * mib * MIB,
            high: 1.05 * mib * MIB,
            hit,
            miss: 60e3,
        }
    }

    #[test]
    fn a_memory_of_data_hides_a_map_only_if_it_is_large() {
        let verdict = |mib| one(&cached(mib, 12e3), BLANK, (128 << 10, 1 << 30)).verdict;
        assert_eq!(verdict(0.25), Verdict::Absent);
        assert_eq!(verdict(32.0), Verdict::NotIdentifiable);
    }

    #[test]
    fn a_map_behind_a_memory_of_data_may_reach_farther() {
        let high = |found: Estimate| match found.high {
            Some(Value::Bytes(bytes)) => bytes as f64 / MIB,
            other => panic!("{other:?}"),
        };
        let alone = one(&cached(64.0, 72e3), BLANK, (128 << 10, 1 << 30));
        assert!((high(alone) - 67.2).abs() < 0.1);
        // 51.5 MiB were seen for 64.
        let behind = two(
            4.0 * MIB,
            12e3,
            &cached(51.5, 72e3),
            BLANK,
            (128 << 10, 1 << 30),
        );
        assert!(high(behind) > 64.0);
    }
}

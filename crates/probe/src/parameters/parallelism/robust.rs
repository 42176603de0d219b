//! The parallelism, from the share of random pairs of reads that collide.
//!
//! Of two reads at random places, the second waits for the first if both lie on one die. On `n` dies that are used alike a
//! share of 1/n of the pairs collides, whatever the layout: neither dynamic allocation nor hashing nor random overwrites
//! hide it. Pairs are read until the number is known to a tenth, in rounds that are spread over time: what the share of
//! collisions changes between them, because others use the drive as well, counts as an error.
//!
//! The second signal is what a collision costs: the slow pairs must be slower by the time of the flash, which is known from
//! reads of nothing. Where the controller or the link takes as long for each read as the flash, no two reads meet there, and
//! the parallelism is not identifiable.

use super::blank::{times, without_flash};
use super::collide::{Blind, Pairs, faster_but_read, pairs, random};
use super::take::{FIRST, Manner, PAIR, SECOND};
use super::{pool, take};
use crate::robust::pace::{Pace, paced};
use crate::robust::prepare::{again_bytes, in_order};
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::location::median;

const PARAMETER: Parameter = Parameter::Parallelism;
/// The standard errors of a 99.9 % interval. It is looked at after each round of pairs, and they end once it holds one whole
/// number: with 99 % at each look 2 of 41 numbers were off by one.
const WIDE: f64 = 3.29;
/// The share of the number within which it must be known.
const KNOWN: f64 = 0.1;
/// How far from a whole number it may be, if the interval has none: a small bias.
const WHOLE: f64 = 0.35;
/// The share of colliding pairs from which on all collide.
const ALL: f64 = 0.85;

/// By how many times two reads at least take as long as one on a drive that reads one place at a time; it is 2 less the share of
/// the host, which is half at most.
const TWICE: f64 = 1.5;

pub(crate) struct Parallelism;

/// The number of dies with its interval.
struct Number {
    at: f64,
    low: f64,
    high: f64,
}

fn number(record: &Record, pairs: &Pairs) -> Option<Number> {
    let (share, error, _) = random(record, PARAMETER, pairs)?;
    let high = match share - WIDE * error {
        low if low > 0.0 => 1.0 / low,
        _ => f64::INFINITY,
    };
    Some(Number {
        at: 1.0 / share.max(1e-9),
        low: 1.0 / (share + WIDE * error),
        high,
    })
}

/// Returns true if the number is known well enough: as a whole number, or to a tenth.
fn settled(number: &Number) -> bool {
    let width = number.high - number.low;
    width < 0.9 || width < 2.0 * KNOWN * number.at
}

/// Returns true if second reads of places are faster than the first, but slower than reads of nothing: entries of the map
/// were kept, and no data. Some are enough, because the map of a part of the places may be in memory already.
pub(crate) fn mapped(record: &Record, of: Parameter) -> bool {
    let [first, second] = [FIRST, SECOND].map(|series| times(record, of, series));
    let high = without_flash(record, of, 0.9);
    high.is_some_and(|high| faster_but_read(&first, &second, high))
}

/// Returns true if the number is known to be none of dies that are used alike: that is a whole one. Dies that hold more data than
/// others make it smaller.
fn is_uneven(number: &Number) -> bool {
    let whole = number.low.ceil() <= number.high.floor();
    !whole && (number.at - number.at.round()).abs() > WHOLE
}

impl Probe for Parallelism {
    fn bound(&self, space: &Space) -> u64 {
        again_bytes(space) + self.expected(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        take::written(space)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if session.info().queue_depth < 2 {
            return Ok(());
        }
        in_order(session, PARAMETER)?;
        paced(session, PARAMETER, measure)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        if record.meta.target.queue_depth < 2 {
            return Estimate::not_identifiable("the drive takes one request at a time");
        }
        match pairs(record, PARAMETER) {
            Ok(pairs) => found(record, &pairs),
            Err(blind) => blinded(blind),
        }
    }
}

fn measure(session: &mut Session<'_>, pace: Pace) -> Result<(), Stop> {
    if !session.read_only() {
        take::nothing(session, PARAMETER, pace)?;
    }
    take::again(session, PARAMETER, pace)?;
    let mapped = mapped(session.record(), PARAMETER);
    let manner = Manner {
        of: PARAMETER,
        part: take::part(&session.space()),
        mapped,
        pool: pool::look(session, PARAMETER, mapped, pace)?,
        pace,
    };
    for round in 0..take::rounds(session.space().level) {
        if (1..take::ROUNDS_MIN).contains(&round) {
            take::apart(session, &manner, round)?;
        }
        take::round(session, &manner, round)?;
        let known = match pairs(session.record(), PARAMETER) {
            Ok(pairs) => {
                round + 1 >= take::ROUNDS_MIN
                    && number(session.record(), &pairs).is_some_and(|n| settled(&n))
            }
            // Further pairs do not help.
            Err(_) => round > 0,
        };
        if known || take::long(session, &manner) {
            break;
        }
    }
    Ok(())
}

/// Returns the answer where pairs tell nothing.
pub(crate) fn blinded(blind: Blind) -> Estimate {
    match blind {
        Blind::NoBlank => Estimate::inconclusive(
            "the time of the flash is not known: the drive has no TRIM, or the run is read-only, and two reads of one page do not wait \
             for each other",
        ),
        Blind::NoFlash => Estimate::not_identifiable(
            "reads of data take hardly longer than reads of a trimmed place, so that no waiting for the flash can show",
        ),
        Blind::Host => Estimate::not_identifiable(
            "the drive's controller or its link takes about as long for each read as the flash, so that two reads hardly meet \
             there",
        ),
        Blind::Channel => Estimate::not_identifiable(
            "the transfer from the flash takes most of the time of a read, and reads of different dies wait for that too",
        ),
        Blind::Noise => Estimate::inconclusive(
            "the noise of single reads is larger than what waiting for another read costs",
        ),
    }
}

/// Returns whether the drive reads one place at a time if so large a share of pairs collided: two reads then take `both` times as
/// long as one. `None` if the pairs collided less often.
fn one_place(share: f64, both: f64) -> Option<bool> {
    (share > ALL).then_some(both >= TWICE)
}

fn found(record: &Record, pairs: &Pairs) -> Estimate {
    let (Some(number), Some((share, _, count))) =
        (number(record, pairs), random(record, PARAMETER, pairs))
    else {
        return Estimate::inconclusive("too few pairs were read");
    };
    let both =
        median(&times(record, PARAMETER, PAIR)).map_or(f64::INFINITY, |both| both / pairs.solo);
    let alone = one_place(share, both);
    let estimate = if alone == Some(false) {
        Estimate::inconclusive(format!(
            "nearly all of {count} pairs of reads at random places waited, but two take only {both:.2} times as long as one: \
             others use the drive, or something before it makes each second read wait"
        ))
    } else if alone == Some(true) {
        Estimate::absent(format!(
            "of {count} pairs of reads at random places {:.0} % waited for each other: the drive reads one place at a time",
            100.0 * share.min(1.0)
        ))
    } else if number.high.is_infinite() && pairs.drift(&times(record, PARAMETER, PAIR)) > 0.0 {
        Estimate::inconclusive(format!(
            "the share of pairs of reads that waited for each other changes over the time of {count} pairs: others use the drive"
        ))
    } else if number.high.is_infinite() {
        Estimate::not_identifiable(format!(
            "of {count} pairs of reads at random places none is known to have waited for the other: more than {:.0} reads can \
             be served at the same time",
            number.low
        ))
    } else if pool::is_veiled(record, PARAMETER) {
        Estimate::inconclusive(
            "a large memory of data answers second reads, so that it is not known whether each read fetches its entry of the map from \
             the flash as well, and waits there",
        )
    } else if pairs.wait_for_less(&times(record, PARAMETER, PAIR)) {
        Estimate::inconclusive(format!(
            "the pairs of reads that waited did not wait for the {:.0} us that a read of the flash takes, but for clearly less: each may \
             read its entry of the map as well, and meet the other there",
            pairs.flash / 1e3
        ))
    } else if !settled(&number) {
        Estimate::inconclusive(format!(
            "{count} pairs of reads at random places tell the number only to between {:.0} and {:.0}",
            number.low, number.high
        ))
    } else if is_uneven(&number) {
        Estimate::inconclusive(format!(
            "of {count} pairs of reads at random places one in {:.1} waited for the other, which is no whole number: the data lie \
             unevenly on more dies",
            number.at
        ))
    } else {
        named(&number, pairs, count)
    };
    estimate
        .figure("collided_ratio", share)
        .figure("flash_ns", pairs.flash)
        .figure("solo_ns", pairs.solo)
        .figure("host_ns", pairs.host)
        .figure("memory_ratio", pairs.memory)
}

fn named(number: &Number, pairs: &Pairs, count: usize) -> Estimate {
    let at = number.at.round();
    let reason = format!(
        "of {count} pairs of reads at random places one in {:.1} waited for the other, for the {:.0} us that the flash takes, \
         as if {at:.0} dies were used alike",
        number.at,
        pairs.flash / 1e3
    );
    let value = |n: f64| Value::Count(n.max(1.0) as u64);
    Estimate::identified(value(at), reason).between(
        value(number.low.ceil().min(at)),
        value(number.high.floor().max(at)),
    )
}

#[cfg(test)]
mod tests {
    use super::{Number, is_uneven, one_place};

    #[test]
    fn dies_that_are_used_alike_are_a_whole_number() {
        let number = |low, at, high| Number { at, low, high };
        assert!(is_uneven(&number(3.2, 3.46, 3.8)));
        // A whole number in the interval, or near it.
        assert!(!is_uneven(&number(3.2, 3.6, 4.1)));
        assert!(!is_uneven(&number(3.5, 3.7, 3.9)));
        assert!(!is_uneven(&number(1.0, 1.0, 1.1)));
    }

    #[test]
    fn pairs_that_hardly_take_longer_than_one_read_did_not_wait_for_the_flash() {
        assert_eq!(one_place(1.0, 1.9), Some(true));
        assert_eq!(one_place(1.0, 1.2), Some(false));
        assert_eq!(one_place(0.3, 1.2), None);
    }
}

//! The stripe unit, by pairs of neighbouring reads at once.
//!
//! The last block before a multiple of a size and the first one after it are read together. If the size is the stripe unit
//! or a multiple of it, the two lie on different dies and do not wait for each other. At multiples of any other size some
//! pairs lie in one unit, and collide. The unit is the smallest size at whose multiples no pair collides, and within which
//! all do. What a collision costs is known from the parallelism.
//!
//! A memory that keeps lines of what was read answers the second read of a line. The two reads then lie a line apart, and only
//! units of at least two lines can be found.

use super::take::{self, Near};
use super::{INSIDE, SIDES};
use crate::parameters::parallelism::BELOW;
use crate::parameters::parallelism::collide::{Pairs, pairs, random, times};
use crate::parameters::parallelism::robust::{blinded, mapped};
use crate::robust::blank::NOTHING;
use crate::robust::prepare::prepare;
use crate::robust::samples::{at, sizes};
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::location::quantile;

const PARAMETER: Parameter = Parameter::StripeUnit;
/// The parameter whose samples tell what a collision costs.
const PAIRS: Parameter = Parameter::Parallelism;
/// The most sizes that are measured again.
const AGAIN_MAX: u32 = 8;
/// The largest share of collisions at a unit, and the least within it, less so many standard errors.
const FREE: f64 = 0.12;
const WITHIN: f64 = 0.8;
/// The errors by which a size may be off what the unit says, and the share of sizes that may be off more.
const OFF: f64 = 3.0;
/// The share of the area that may lie out of order, because blocks were collected.
const DISTURBED: f64 = 0.2;
const ODD_MAX: f64 = 0.15;
const ERRORS: f64 = 2.5;
/// The share of reads below another that are as fast as reads of nothing from which on both lie in one line.
const LINE: f64 = 0.5;
/// The share of random pairs that collide from which on the drive reads one place at a time.
const ALL: f64 = 0.85;

pub(crate) struct StripeUnit;

/// Returns the length of a line of the memory for reads; a logical block if there is none.
pub(crate) fn line(record: &Record, of: Parameter) -> u64 {
    let block = Space::of(record).block_bytes;
    let Some(fast) = quantile(&times(record, of, NOTHING), 0.95) else {
        return block;
    };
    let kept = |distance: &u64| {
        let times = at(record, of, BELOW, *distance);
        let memory = times.iter().filter(|ns| **ns <= 1.05 * fast).count();
        memory as f64 > LINE * times.len() as f64
    };
    let longest = sizes(record, of, BELOW).into_iter().rfind(kept);
    longest.map_or(block, |distance| 2 * distance)
}

/// Returns the share of pairs on both sides of multiples of a size that collided, with its error.
pub(crate) fn share(
    record: &Record,
    of: Parameter,
    pairs: &Pairs,
    size: u64,
) -> Option<(f64, f64)> {
    pairs.share(&at(record, of, SIDES, size))
}

/// Returns the smallest size at whose multiples hardly a pair collided.
pub(crate) fn smallest(record: &Record, near: Near, pairs: &Pairs) -> Option<u64> {
    let of = near.of;
    let nearest = take::nearest(near.area);
    let free = |size: &u64| {
        // Farther apart the two reads of a pair may lie several units apart, on one die again.
        let near = |s: &u64| s.is_multiple_of(*size) && (*s <= nearest || s == size);
        let multiples = sizes(record, of, SIDES).into_iter().filter(near);
        let shares: Vec<(f64, f64)> = multiples
            .filter_map(|s| share(record, of, pairs, s))
            .collect();
        // The multiples of a size speak for it too.
        let weight: f64 = shares.iter().map(|(_, e)| e.powi(-2)).sum();
        let mean = shares.iter().map(|(s, e)| s / e.powi(2)).sum::<f64>() / weight;
        let own = share(record, of, pairs, *size);
        own.is_some_and(|(s, e)| s < FREE + ERRORS * e) && mean < FREE + ERRORS / weight.sqrt()
    };
    sizes(record, of, SIDES).into_iter().find(free)
}

/// Returns true if a unit explains the pairs at the multiples of all sizes. The multiples lie at every `gcd(size, unit)` bytes
/// of a unit. A pair collides unless it begins in the unit before.
pub(crate) fn explains(record: &Record, pairs: &Pairs, near: Near, unit: u64) -> bool {
    let of = near.of;
    let off = |size: &u64| {
        let every = gcd(*size, unit).max(1);
        let expected =
            1.0 - near.apart.div_ceil(every).min(unit / every) as f64 * every as f64 / unit as f64;
        share(record, of, pairs, *size)
            .is_some_and(|(share, error)| (share - expected).abs() > OFF * error + DISTURBED)
    };
    let nearest = take::nearest(near.area);
    let near_enough = |size: &u64| *size <= nearest || *size == unit;
    let all: Vec<u64> = sizes(record, of, SIDES)
        .into_iter()
        .filter(near_enough)
        .collect();
    let odd = all.iter().filter(|size| off(size)).count();
    (odd as f64) < ODD_MAX * all.len() as f64
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Measures the smallest size again, until what is measured again is still the smallest.
pub(crate) fn look_again(session: &mut Session<'_>, near: Near, pairs: &Pairs) -> Result<(), Stop> {
    for _ in 0..AGAIN_MAX {
        let record = session.record();
        match smallest(record, near, pairs) {
            Some(size) if at(record, near.of, INSIDE, size).is_empty() => {
                take::again(session, size, near)?
            }
            _ => break,
        }
    }
    Ok(())
}

impl Probe for StripeUnit {
    fn after(&self) -> Option<Parameter> {
        Some(Parameter::Parallelism)
    }

    fn bound(&self, space: &Space) -> u64 {
        take::area(space)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let record = session.record();
        let alone = pairs(record, PAIRS)
            .is_ok_and(|p| random(record, PAIRS, &p).is_some_and(|r| r.0 > ALL));
        if record.meta.target.queue_depth < 2 || pairs(record, PAIRS).is_err() || alone {
            return Ok(());
        }
        prepare(session, PARAMETER)?;
        let area = take::area(&session.space());
        take::fill(session, PARAMETER, area)?;
        let space = session.space();
        let near = near(session.record(), &space);
        let all = take::sizes(near.area / take::PLACES, space.block_bytes, near.apart);
        for round in 0..take::ROUNDS {
            take::round(session, round, &all, near)?;
        }
        let Ok(pairs) = pairs(session.record(), PAIRS) else {
            return Ok(());
        };
        look_again(session, near, &pairs)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        if record.meta.target.queue_depth < 2 {
            return Estimate::not_identifiable("the drive takes one request at a time");
        }
        match pairs(record, PAIRS) {
            Ok(pairs) if random(record, PAIRS, &pairs).is_some_and(|r| r.0 > ALL) => {
                Estimate::absent("the drive reads one place at a time, so that nothing is striped")
            }
            Ok(pairs) => found(record, &pairs),
            Err(blind) => blinded(blind),
        }
    }
}

fn near(record: &Record, space: &Space) -> Near {
    Near {
        of: PARAMETER,
        area: take::area(space),
        apart: line(record, PAIRS),
        mapped: mapped(record, PAIRS),
    }
}

fn found(record: &Record, pairs: &Pairs) -> Estimate {
    let line = line(record, PAIRS);
    let Some(unit) = smallest(record, near(record, &Space::of(record)), pairs) else {
        return Estimate::not_identifiable(
            "neighbouring reads wait for each other at the multiples of every size, so that consecutive data lie on one die, or \
             in units of another size than tried",
        );
    };
    let inside = pairs.share(&at(record, PARAMETER, INSIDE, unit));
    let sides = share(record, PARAMETER, pairs, unit);
    let (Some((inside, error)), Some((sides, side_error))) = (inside, sides) else {
        return Estimate::not_identifiable(format!(
            "neighbouring reads wait for each other at the multiples of no size from {} on: the stripe unit is no longer, or \
             the data are not laid out in order",
            size(line)
        ));
    };
    let estimate = if !explains(record, pairs, near(record, &Space::of(record)), unit) {
        Estimate::inconclusive(format!(
            "pairs at multiples of {} do not wait for each other, but what pairs at other sizes do fits no unit",
            size(unit)
        ))
    } else if sides - ERRORS * side_error > FREE || inside + ERRORS * error < WITHIN {
        Estimate::inconclusive(format!(
            "at multiples of {} {:.0} % of the pairs wait for each other and between them {:.0} %, which fits no unit",
            size(unit),
            100.0 * sides,
            100.0 * inside
        ))
    } else if inside - ERRORS * error < 0.5 {
        Estimate::inconclusive(format!(
            "the noise hides whether reads within {} wait for each other",
            size(unit)
        ))
    } else {
        Estimate::identified(
            Value::Bytes(unit),
            format!(
                "two reads on both sides of a multiple of {} do not wait for each other, and {:.0} % of those between its \
                 multiples do: it lies on one die, and the next one on another",
                size(unit),
                100.0 * inside.min(1.0)
            ),
        )
    };
    estimate
        .figure("sides_ratio", sides)
        .figure("inside_ratio", inside)
        .figure("line_bytes", line as f64)
}

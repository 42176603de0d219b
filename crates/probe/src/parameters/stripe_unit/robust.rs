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
use super::take::{INSIDE, PARTS, SIDES};
use crate::parameters::parallelism::blank::{by_size, without_flash};
use crate::parameters::parallelism::collide::{Pairs, pairs, random};
use crate::parameters::parallelism::robust::{blinded, mapped};
use crate::parameters::parallelism::take::{self as reads, Manner};
use crate::parameters::parallelism::{BELOW, even};
use crate::robust::pace::{Pace, paced};
use crate::robust::prepare::{again_bytes, in_order};
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use std::collections::BTreeMap;

const PARAMETER: Parameter = Parameter::StripeUnit;
/// The parameter whose samples tell what a collision costs.
const PAIRS: Parameter = Parameter::Parallelism;
/// The most sizes that are measured again.
const AGAIN_MAX: u32 = 8;
/// The largest share of collisions at a unit, and the least within it, less so many standard errors. Folding and collection
/// split some units between two dies.
const FREE: f64 = 0.12;
const WITHIN: f64 = 0.6;
/// The least difference of the share of pairs that wait within a unit and across its ends. Right answers of drawn drives had 0.69 and
/// more; 0.51 was a stream that dynamic allocation had put on its dies in long runs.
const CONTRAST: f64 = 0.6;
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
    let Some(fast) = without_flash(record, of, 0.95) else {
        return block;
    };
    let kept = |times: &[f64]| {
        let memory = times.iter().filter(|ns| **ns <= 1.05 * fast).count();
        memory as f64 > LINE * times.len() as f64
    };
    let all = by_size(record, of, BELOW);
    let longest = all.iter().rfind(|(_, times)| kept(times));
    longest.map_or(block, |(distance, _)| 2 * distance)
}

/// The share of pairs on both sides of the multiples of a size that collided, and its error.
type Share = (f64, f64);

/// Returns the shares of colliding pairs on both sides of the multiples of all sizes.
pub(crate) fn shares(record: &Record, of: Parameter, pairs: &Pairs) -> BTreeMap<u64, Share> {
    let times = by_size(record, of, SIDES);
    let share = |(size, times): (u64, Vec<f64>)| Some((size, pairs.share(&times)?));
    times.into_iter().filter_map(share).collect()
}

/// Returns the smallest size at whose multiples hardly a pair collided.
pub(crate) fn smallest(record: &Record, near: &Near, pairs: &Pairs) -> Option<u64> {
    let all = shares(record, near.manner.of, pairs);
    let nearest = take::nearest(near.area());
    let free = |size: &u64| {
        // Farther apart the two reads of a pair may lie several units apart, on one die again.
        let near = |s: &u64| s.is_multiple_of(*size) && (*s <= nearest || s == size);
        let shares: Vec<Share> = all
            .iter()
            .filter(|(s, _)| near(s))
            .map(|(_, share)| *share)
            .collect();
        // The multiples of a size speak for it too.
        let weight: f64 = shares.iter().map(|(_, e)| e.powi(-2)).sum();
        let mean = shares.iter().map(|(s, e)| s / e.powi(2)).sum::<f64>() / weight;
        let own = all.get(size);
        own.is_some_and(|(s, e)| *s < FREE + ERRORS * e) && mean < FREE + ERRORS / weight.sqrt()
    };
    all.keys().copied().find(free)
}

/// Returns true if a unit explains the pairs at the multiples of all sizes. The multiples lie at every `gcd(size, unit)` bytes
/// of a unit. A pair collides unless it begins in the unit before.
pub(crate) fn explains(record: &Record, pairs: &Pairs, near: &Near, unit: u64) -> bool {
    let off = |size: u64, (share, error): Share| {
        let every = gcd(size, unit).max(1);
        let expected =
            1.0 - near.apart.div_ceil(every).min(unit / every) as f64 * every as f64 / unit as f64;
        (share - expected).abs() > OFF * error + DISTURBED
    };
    let nearest = take::nearest(near.area());
    let all = shares(record, near.manner.of, pairs);
    let all: Vec<(u64, Share)> = all
        .into_iter()
        .filter(|(size, _)| *size <= nearest || *size == unit)
        .collect();
    let odd = all
        .iter()
        .filter(|(size, share)| off(*size, *share))
        .count();
    (odd as f64) < ODD_MAX * all.len() as f64
}

/// Returns the share of colliding pairs within units of a size.
pub(crate) fn inside(record: &Record, of: Parameter, pairs: &Pairs, unit: u64) -> Option<Share> {
    pairs.share(by_size(record, of, INSIDE).get(&unit)?)
}

/// Returns the half or the third of a unit at whose ends within the unit too few pairs collide: the unit is then several, and
/// it is chance that fewer pairs collided at its own ends. Where data lie out of order, neighbours on different dies collide as
/// often as any two places.
pub(crate) fn parted(record: &Record, near: &Near, pairs: &Pairs, unit: u64) -> Option<(u64, f64)> {
    let all = by_size(record, near.manner.of, PARTS);
    let share = |part: u64| Some((part, pairs.share(all.get(&part)?)?));
    few(take::parts(unit, near).filter_map(share))
}

/// Returns the first of some parts at whose ends less than [`WITHIN`] of the pairs collide for certain.
fn few(parts: impl IntoIterator<Item = (u64, Share)>) -> Option<(u64, f64)> {
    let mut parts = parts.into_iter();
    let few = parts.find(|(_, (share, error))| share + ERRORS * error < WITHIN);
    few.map(|(part, (share, _))| (part, share))
}

/// Returns true if the shares of pairs that wait within a unit and across its ends are those of one.
fn fits((inside, error): Share, (sides, side_error): Share) -> bool {
    let free = sides - ERRORS * side_error <= FREE;
    free && inside + ERRORS * error >= WITHIN && inside - sides >= CONTRAST
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Measures the smallest size again, until what is measured again is still the smallest.
pub(crate) fn look_again(
    session: &mut Session<'_>,
    near: &Near,
    pairs: &Pairs,
) -> Result<(), Stop> {
    for _ in 0..AGAIN_MAX {
        let record = session.record();
        match smallest(record, near, pairs) {
            Some(size) if !by_size(record, near.manner.of, INSIDE).contains_key(&size) => {
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
        again_bytes(space) + self.expected(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        take::area(space)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let record = session.record();
        let alone = pairs(record, PAIRS)
            .is_ok_and(|p| random(record, PAIRS, &p).is_some_and(|r| r.0 > ALL));
        if record.meta.target.queue_depth < 2 || pairs(record, PAIRS).is_err() || alone {
            return Ok(());
        }
        in_order(session, PARAMETER)?;
        paced(session, PARAMETER, measure)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        if record.meta.target.queue_depth < 2 {
            return Estimate::not_identifiable("the drive takes one request at a time");
        }
        match pairs(record, PAIRS) {
            Ok(pairs) if random(record, PAIRS, &pairs).is_some_and(|r| r.0 > ALL) => {
                Estimate::absent("the drive reads one place at a time, so that nothing is striped")
            }
            Ok(_) => match pairs(record, PARAMETER) {
                Ok(pairs) => found(record, &pairs),
                Err(blind) => blinded(blind),
            },
            Err(blind) => blinded(blind),
        }
    }
}

fn measure(session: &mut Session<'_>, pace: Pace) -> Result<(), Stop> {
    let space = session.space();
    take::fill(session, PARAMETER, take::area(&space), pace)?;
    let manner = Manner {
        of: PARAMETER,
        part: space.region.start..space.region.start + take::area(&space),
        mapped: mapped(session.record(), PAIRS),
        pool: Vec::new(),
        pace,
    };
    even::look(session, &manner)?;
    let near = near(session.record(), &space);
    // What lone reads and collisions take where the data of this measurement lie.
    reads::round(session, &near.manner, 0)?;
    let all = take::sizes(near.area() / take::PLACES, space.block_bytes, near.apart);
    for round in 0..take::ROUNDS {
        take::round(session, round, &all, &near)?;
    }
    match pairs(session.record(), PARAMETER) {
        Ok(pairs) => look_again(session, &near, &pairs),
        Err(_) => Ok(()),
    }
}

fn near(record: &Record, space: &Space) -> Near {
    let start = space.region.start;
    Near {
        manner: Manner {
            of: PARAMETER,
            part: even::part(
                record,
                PARAMETER,
                start..start + take::area(space),
                space.block_bytes,
            ),
            mapped: mapped(record, PAIRS),
            pool: Vec::new(),
            pace: Pace::of(record, PARAMETER),
        },
        origin: start,
        apart: line(record, PAIRS),
    }
}

fn found(record: &Record, pairs: &Pairs) -> Estimate {
    let line = line(record, PAIRS);
    let near = near(record, &Space::of(record));
    let Some(unit) = smallest(record, &near, pairs) else {
        return Estimate::not_identifiable(
            "neighbouring reads wait for each other at the multiples of every size, so that consecutive data lie on one die, or \
             in units of another size than tried",
        );
    };
    let inside = inside(record, PARAMETER, pairs, unit);
    let sides = shares(record, PARAMETER, pairs).get(&unit).copied();
    let (Some((inside, error)), Some((sides, side_error))) = (inside, sides) else {
        return Estimate::not_identifiable(format!(
            "neighbouring reads wait for each other at the multiples of no size from {} on: the stripe unit is no longer, or \
             the data are not laid out in order",
            size(line)
        ));
    };
    let estimate = if !explains(record, pairs, &near, unit) {
        Estimate::inconclusive(format!(
            "pairs at multiples of {} do not wait for each other, but what pairs at other sizes do fits no unit",
            size(unit)
        ))
    } else if let Some((part, share)) = parted(record, &near, pairs, unit) {
        Estimate::inconclusive(format!(
            "pairs at multiples of {} hardly wait for each other, but at those of {} within it only {:.0} % do: too much lies out of \
             order",
            size(unit),
            size(part),
            100.0 * share
        ))
    } else if !fits((inside, error), (sides, side_error)) {
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

#[cfg(test)]
mod tests {
    use super::{few, fits};

    #[test]
    fn pairs_within_a_unit_wait_and_those_across_its_ends_do_not() {
        assert!(fits((1.0, 0.0), (0.0, 0.01)));
        assert!(fits((0.69, 0.05), (0.0, 0.01)));
        assert!(!fits((0.4, 0.05), (0.0, 0.01)));
        assert!(!fits((1.0, 0.0), (0.3, 0.04)));
        // Either alone may be chance, but both are not.
        assert!(!fits((0.65, 0.05), (0.14, 0.04)));
    }

    #[test]
    fn a_unit_whose_parts_lie_on_different_dies_is_several() {
        let kib = |n: u64| n << 10;
        // Halves and thirds of one unit lie on its die, except for some that collection has split.
        assert_eq!(few([(kib(96), (0.86, 0.05)), (kib(64), (1.0, 0.02))]), None);
        // Five dies out of order: neighbours collide as often as any two places.
        assert_eq!(few([(kib(96), (0.17, 0.05))]), Some((kib(96), 0.17)));
        // Too few pairs tell nothing.
        assert_eq!(few([(kib(96), (0.4, 0.15))]), None);
    }
}

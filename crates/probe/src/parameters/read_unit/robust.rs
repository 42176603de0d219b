//! The read unit, by reads across its ends.
//!
//! A short read across the end of a page reads two pages. If both lie on one die it takes longer by the time of the flash;
//! the smallest size at whose odd multiples most reads are slow is the page. (Odd multiples, because every second or third
//! page may begin on another die.) If neighbouring pages lie on different dies, the two are read at the same time and the
//! length tells nothing; but then two reads at once wait for each other only within a page. So one of the two signals shows
//! a page whatever the layout, and where both do they must agree: the stripe is a multiple of the page.
//!
//! The reads are at random places and in random order, so that neither read-ahead nor a memory helps; the lines of a memory
//! for reads are measured as for the stripe unit.

use super::take;
use super::take::STRADDLE;
use crate::parameters::parallelism::blank::{by_size, times};
use crate::parameters::parallelism::collide::{Blind, Pairs, flash_ns, lone, pairs, random};
use crate::parameters::parallelism::robust::{blinded, mapped};
use crate::parameters::parallelism::take::{self as reads, Manner};
use crate::parameters::parallelism::{LONG, even};
use crate::parameters::stripe_unit::robust::{
    explains, gcd, inside, line, look_again, parted, shares, smallest,
};
use crate::parameters::stripe_unit::take::{self as stripes, Near, ROUNDS};
use crate::robust::pace::{Pace, paced};
use crate::robust::prepare::{again_bytes, in_order};
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::location::median;
use std::collections::BTreeMap;
use std::ops::Range;

const PARAMETER: Parameter = Parameter::ReadUnit;
/// The share of slow reads across a unit's end, and the share that remains if there is none; less so many errors.
const SLOW: f64 = 0.5;
const NONE: f64 = 0.15;
const ERRORS: f64 = 2.5;
/// The least share of slow reads across the ends of a page. Collection and folding put some parts of a page on two dies; where
/// more reads are fast, slow ones lie at the ends of several units: on 254 drawn drives with maps in flash or fast caches shares of
/// 52 to 79 % named a wrong one in 7 of 9, and right ones had 98 %.
const MOST: f64 = 0.85;
/// The share of slow reads that may remain at many sizes together.
const TOGETHER: f64 = 0.08;
/// The sizes below a unit that may have slow reads without reason.
const ODD_MAX: u32 = 2;
/// The longest page, in bytes: eight planes of 64 KiB.
const PAGE_MAX: u64 = 512 << 10;
/// The share of colliding pairs at the ends of a stripe, and within it. Folding and collection put pages together anew, and
/// split some between two of their mapped units: those parts lie on two dies.
const FREE: f64 = 0.12;
const WITHIN: f64 = 0.6;
/// The parts of a page at whose ends pairs must wait, as powers of two, the least share of those that wait, and the errors.
const PARTS: u32 = 5;
const PARTED: f64 = 0.75;
const PARTED_ERRORS: f64 = 2.0;
/// The share of colliding random pairs from which on the drive reads one place at a time.
const ALL: f64 = 0.85;

pub(crate) struct ReadUnit;

/// Returns how much longer a read of two blocks across the end of a page takes than one within it, in nanoseconds. The die reads
/// the second page while the link takes the first block, which it hides in part: a link that takes as long for a block as the
/// flash for a page hides all of it.
fn across(record: &Record, flash: f64) -> Option<f64> {
    let (one, _) = lone(record, PARAMETER)?;
    let more = one + flash - median(&times(record, PARAMETER, LONG))?;
    (more > 0.0).then_some(more.min(flash))
}

/// Returns the share of reads across odd multiples of a size that read two pages of one die, with its error; `None` if it
/// cannot be told from the noise.
fn slow(record: &Record, flash: f64, size: u64) -> Option<(f64, f64)> {
    let long = times(record, PARAMETER, LONG);
    let across = across(record, flash)?;
    let threshold = median(&long)? + across / 2.0;
    let above = |times: &[f64], more: f64| {
        let count = times.iter().filter(|ns| **ns + more > threshold).count();
        count as f64 / times.len().max(1) as f64
    };
    let (usual, two) = (above(&long, 0.0), above(&long, across));
    let all = by_size(record, PARAMETER, STRADDLE);
    let seen = all.get(&size)?;
    let (count, power) = (seen.len() as f64, two - usual);
    if count < 4.0 || power < 0.3 {
        return None;
    }
    let smooth = (above(seen, 0.0) * count + 2.0) / (count + 4.0);
    let error = (smooth * (1.0 - smooth) / (count + 4.0)).sqrt();
    Some(((above(seen, 0.0) - usual) / power, error / power))
}

/// Returns the smallest size at whose odd multiples most reads are slow. A read of two blocks crosses the end of every block, so
/// that a unit has at least two.
fn page(record: &Record, flash: f64) -> Option<u64> {
    let is_slow = |size: &u64| {
        slow(record, flash, *size).is_some_and(|(share, e)| share - ERRORS * e > SLOW - NONE)
    };
    let least = 2 * Space::of(record).block_bytes;
    let mut all = by_size(record, PARAMETER, STRADDLE).into_keys();
    all.find(|size| {
        *size >= least
            && is_slow(size)
            && slow(record, flash, *size).is_some_and(|(share, _)| share > SLOW)
    })
}

/// Returns how neighbouring places are read.
fn near(record: &Record, space: &Space) -> Near {
    Near {
        manner: Manner {
            of: PARAMETER,
            part: even::part(record, PARAMETER, filled(space), space.block_bytes),
            mapped: mapped(record, PARAMETER),
            pool: Vec::new(),
            pace: Pace::of(record, PARAMETER),
        },
        origin: space.region.start,
        apart: line(record, PARAMETER),
    }
}

/// The part of the region that is written in order.
fn filled(space: &Space) -> Range<u64> {
    let area = take::AREA.min(space.span()) / space.block_bytes * space.block_bytes;
    space.region.start..space.region.start + area
}

impl Probe for ReadUnit {
    fn bound(&self, space: &Space) -> u64 {
        again_bytes(space) + self.expected(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        take::AREA.min(space.span()) + reads::written(space)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        in_order(session, PARAMETER)?;
        if session.read_only() {
            return Err(Stop::ReadOnly);
        }
        paced(session, PARAMETER, measure)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let pairs = pairs(record, PARAMETER);
        let Some(flash) = flash_ns(record, PARAMETER) else {
            return blinded(pairs.err().unwrap_or(Blind::NoFlash));
        };
        let page = page(record, flash);
        let parts = page.zip(pairs.as_ref().ok());
        let parts = parts.is_some_and(|(page, pairs)| is_parted(record, pairs, page));
        let stripe = pairs.ok().and_then(|pairs| stripe(record, &pairs));
        let estimate = match (page, stripe) {
            (Some(page), _) if parts => Estimate::inconclusive(format!(
                "the two signals disagree: reads across multiples of {} are slow, but two reads within it do not \
                 wait for each other: it is a unit of the map, or of a memory, and no page",
                size(page)
            )),
            (Some(page), _)
                if !is_clear(record, flash, page) || contradicted(record, flash, page) =>
            {
                Estimate::inconclusive(format!(
                    "reads across multiples of {} are slow, but not clearly slower than between them",
                    size(page)
                ))
            }
            (Some(page), Some(stripe)) if !stripe.is_multiple_of(page) => {
                Estimate::inconclusive(format!(
                    "the two signals disagree: reads across multiples of {} are slow, but pairs of reads meet within {}",
                    size(page),
                    size(stripe)
                ))
            }
            (Some(page), _) => {
                let share = slow(record, flash, page).map_or(0.0, |(share, _)| share);
                by_straddles(share, across(record, flash).unwrap_or(flash), page)
            }
            (None, Some(stripe)) => Estimate::identified(
                Value::Bytes(stripe),
                format!(
                    "two reads at once wait for each other within {}, and not across its multiples; a single read across them \
                     is no slower, so that they are pages of different dies",
                    size(stripe)
                ),
            ),
            (None, None) => Estimate::not_identifiable(
                "reads across the multiples of no size are slower than others, and pairs of reads wait for each other within \
                 no unit: pages lie on different dies, and reads do not meet there, or they are no longer than a block",
            ),
        };
        estimate.figure("flash_ns", flash)
    }
}

fn measure(session: &mut Session<'_>, pace: Pace) -> Result<(), Stop> {
    reads::nothing(session, PARAMETER, pace)?;
    reads::again(session, PARAMETER, pace)?;
    let space = session.space();
    let part = filled(&space);
    stripes::fill(session, PARAMETER, part.end - part.start, pace)?;
    let manner = Manner {
        of: PARAMETER,
        part,
        mapped: mapped(session.record(), PARAMETER),
        pool: Vec::new(),
        pace,
    };
    even::look(session, &manner)?;
    let near = near(session.record(), &space);
    for round in 0..2 {
        reads::round(session, &near.manner, round)?;
    }
    let Some(flash) = flash_ns(session.record(), PARAMETER) else {
        return Ok(());
    };
    let pairs = pairs(session.record(), PARAMETER);
    let most = take::UNIT_MAX.min(near.area() / stripes::PLACES);
    let block = space.block_bytes;
    let (straddled, sided) = (
        stripes::sizes(most, block, block),
        stripes::sizes(most, block, near.apart),
    );
    let parts = |pairs: &Pairs| {
        random(session.record(), PARAMETER, pairs).is_some_and(|(share, ..)| share < ALL)
    };
    let together = session.info().queue_depth > 1 && pairs.as_ref().is_ok_and(parts);
    for round in 0..ROUNDS {
        take::round(session, round, &straddled, &near)?;
        if together {
            stripes::round(session, round, &sided, &near)?;
        }
    }
    if let Some(page) = page(session.record(), flash) {
        take::again(session, page, &near)?;
    }
    match pairs {
        Ok(pairs) if together => look_again(session, &near, &pairs),
        _ => Ok(()),
    }
}

/// Returns every how many odd multiples of a size lie at an end of a unit, and the share of slow reads there:
/// `unit / gcd(size, unit)` = q, of which every q-th is slow if q is odd, and none if it is even.
fn expected(size: u64, unit: u64) -> (u64, f64) {
    let every = unit / gcd(size, unit).max(1);
    match every.is_multiple_of(2) {
        true => (0, 0.0),
        false => (every, 1.0 / every as f64),
    }
}

/// Returns true if the unit does not explain the slow reads: at too many sizes below it, or at all sizes together that should have
/// the same share.
fn contradicted(record: &Record, flash: f64, unit: u64) -> bool {
    let shares = by_size(record, PARAMETER, STRADDLE).into_keys();
    let shares = shares.filter_map(|size| Some((size, slow(record, flash, size)?)));
    let shares: Vec<(u64, (f64, f64))> = shares.collect();
    let below = shares.iter().filter(|(size, _)| *size < unit);
    let odd = |(size, (share, error)): &(u64, (f64, f64))| {
        *share > expected(*size, unit).1 + ERRORS * error + NONE
    };
    let (odd, all) = below.fold((0, 0), |(n, all), one| (n + u32::from(odd(one)), all + 1));
    odd > ODD_MAX.max(all / 20) || unexplained(&shares, unit)
}

/// Returns true if sizes that should have the same share of slow reads have a larger one together: those with the same factors
/// of two, whose odd multiples are alike for a unit that is such an odd multiple itself.
fn unexplained(shares: &[(u64, (f64, f64))], unit: u64) -> bool {
    let mut classes: BTreeMap<(u64, u32), (f64, f64, f64)> = BTreeMap::new();
    for (size, (share, error)) in shares {
        let class = (expected(*size, unit).0, size.trailing_zeros());
        let (sum, variance, count) = classes.entry(class).or_default();
        (*sum, *variance, *count) = (*sum + share, *variance + error * error, *count + 1.0);
    }
    let more = |every: u64, (sum, variance, count): (f64, f64, f64)| {
        let share = if every == 0 { 0.0 } else { 1.0 / every as f64 };
        sum / count > share + ERRORS * variance.sqrt() / count + TOGETHER
    };
    let mut classes = classes.into_iter().filter(|((every, _), _)| *every != 1);
    classes.any(|((every, _), class)| more(every, class))
}

/// Returns true if reads halfway between the ends of a unit are not slow, and those across them are.
fn is_clear(record: &Record, flash: f64, page: u64) -> bool {
    let half = slow(record, flash, page / 2);
    let ends = slow(record, flash, page);
    half.is_none_or(|(share, error)| share < NONE + ERRORS * error)
        && ends.is_some_and(|(share, _)| share > MOST)
}

/// Returns true if too few pairs of reads on both sides of the ends of halves, of quarters, and of smaller parts of a unit wait for
/// each other: it has several pages. What lies at its ends may be an entry of the map that has to be read as well.
fn is_parted(record: &Record, pairs: &Pairs, page: u64) -> bool {
    let all = shares(record, PARAMETER, pairs);
    let mut parts = (1..=PARTS).filter_map(|half| all.get(&(page >> half)));
    parts.any(|(share, error)| share + PARTED_ERRORS * error < PARTED)
}

/// Returns the answer where a share of the reads across the ends of a page take so many nanoseconds longer.
fn by_straddles(share: f64, longer: f64, page: u64) -> Estimate {
    if page > PAGE_MAX {
        return Estimate::inconclusive(format!(
            "{:.0} % of the reads across odd multiples of {} take longer, but no page is so long: something else changes there",
            100.0 * share.min(1.0),
            size(page)
        ));
    }
    let reason = format!(
        "{:.0} % of the reads across odd multiples of {} take longer by the {:.0} us of a second page, and none across those \
         of a smaller size",
        100.0 * share.min(1.0),
        size(page),
        longer / 1e3
    );
    Estimate::identified(Value::Bytes(page), reason).figure("straddle_ratio", share)
}

/// Returns the size within which two reads meet and across whose multiples they do not.
fn stripe(record: &Record, pairs: &Pairs) -> Option<u64> {
    let near = near(record, &Space::of(record));
    let unit = smallest(record, &near, pairs)?;
    let (inside, error) = inside(record, PARAMETER, pairs, unit)?;
    let (sides, side_error) = shares(record, PARAMETER, pairs).get(&unit).copied()?;
    let clear = explains(record, pairs, &near, unit)
        && parted(record, &near, pairs, unit).is_none()
        && sides - ERRORS * side_error < FREE
        && inside + ERRORS * error > WITHIN
        && inside - ERRORS * error > 0.5;
    clear.then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::{PAGE_MAX, by_straddles, unexplained};
    use crate::{Value, Verdict};

    #[test]
    fn a_unit_explains_all_sizes_together() {
        // Half of the reads across odd multiples of 2 KiB are slow: by chance 6 KiB is the first size with more than half.
        let halves = |size: u64| if size % 4 == 2 { 0.55 } else { 0.0 };
        let of = |share: &dyn Fn(u64) -> f64| -> Vec<(u64, (f64, f64))> {
            (1..64).map(|kib| (kib << 10, (share(kib), 0.1))).collect()
        };
        assert!(unexplained(&of(&halves), 6 << 10));
        assert!(unexplained(&of(&halves), 10 << 10));
        assert!(!unexplained(&of(&halves), 2 << 10));
        // Pages of 6 KiB: every third odd multiple of 2 and of 10 KiB, none of 4 KiB.
        let six = |size: u64| match size {
            _ if size % 2 == 1 => 0.0,
            _ if size.is_multiple_of(3) => 1.0,
            _ => 1.0 / 3.0,
        };
        assert!(!unexplained(&of(&six), 6 << 10));
    }

    #[test]
    fn what_is_longer_than_any_page_is_none() {
        let longest = by_straddles(0.9, 40e3, PAGE_MAX);
        assert_eq!(longest.value, Some(Value::Bytes(PAGE_MAX)));
        // Reads across the ends of a line of a memory, or of what a drive keeps in one channel.
        let beyond = by_straddles(0.9, 40e3, 2 * PAGE_MAX);
        assert_eq!(
            (beyond.verdict, beyond.value),
            (Verdict::Inconclusive, None)
        );
    }
}

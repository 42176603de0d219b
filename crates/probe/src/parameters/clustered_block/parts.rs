//! Tests whether the block is a part of the size that was found: the size divided by a small number.
//!
//! Blocks are spread over the lanes in turn, so several blocks may show as one. If a part is the block, then at its
//! multiples that are not multiples of the whole, reads also take another time, or the first write after them takes a
//! merge longer. If this is so at a half, a third, a fifth or a seventh, that part becomes the size, and its parts are
//! tested next.

use super::look::places;
use super::scan::{Kind, MULTIPLES_MIN, Scan, scans};
use crate::robust::samples::of_step;
use crate::{Parameter, Record, Session, Space, Stop};
use fathom_stats::teeth::{Fit, Seen, Tooth, Wanted};
use fathom_stats::{law, location};
use std::collections::BTreeMap;

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// The divisors of a size that reads show.
const OF_READS: &[u64] = &[2, 3, 5, 7];
/// The divisors of a size that writes show, beginning with the large primes of the pitches of writes: a write that must
/// begin where a block does meets that only at common multiples of the block and the pitch. No halves: a log may be full in
/// the middle of every block.
const OF_WRITES: &[u64] = &[17, 67, 257, 3, 5, 7];
/// The number of multiples of a part that are examined: the first ones, because their places are known best.
const MULTIPLES: usize = 24;
/// The most divisions in a row; a block is unlikely to be a smaller part of what reads show.
const STEPS_MAX: u64 = 4;
/// The largest probability of as many merges at multiples if merges come at random.
const CHANCE: f64 = 1e-4;
/// By how much reads at multiples must differ from those around them (standard normal).
const STRONG: f64 = 5.0;
/// The least ratio of a merge to a typical write. A write across the end of a clustered page takes twice as long and is no
/// merge.
const MERGE: f64 = 4.0;

/// The share of its multiples at which a part must show. At the others the log was full, and was merged, shortly before.
const MOST: f64 = 0.7;

/// A size and the kind of access that shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    pub(crate) fit: Fit,
}

fn divisors(kind: Kind) -> &'static [u64] {
    match kind {
        Kind::Reads => OF_READS,
        Kind::Writes | Kind::LongWrites => OF_WRITES,
    }
}

/// Examines parts of the size that was found until none shows.
pub(crate) fn run(session: &mut Session<'_>, whole: Part) -> Result<(), Stop> {
    let space = session.space();
    let scans = scans(session.record());
    let mut size = whole;
    for _ in 0..STEPS_MAX {
        for &divisor in divisors(whole.kind) {
            let part = of(&size.fit, divisor, space.block_bytes);
            for scan in fitting(&scans, &part, space.block_bytes) {
                let name = name(&scan, &part);
                // Another scan may have shown the same size.
                if of_step(session.record(), PARAMETER, &name).is_none() {
                    let mut multiples = multiples(&space, &scan, &part, divisor);
                    multiples.reverse();
                    scan.measure_around(session, &name, part.period, &multiples)?;
                    let shown = shown(session.record(), &scans, &part, divisor).is_some();
                    if scan.kind != Kind::Reads && whole.kind != Kind::Reads && !shown {
                        multiples.reverse();
                        let name = upwards(&name);
                        scan.measure_around(session, &name, part.period, &multiples)?;
                    }
                }
            }
            if shown(session.record(), &scans, &part, divisor).is_some() {
                break;
            }
        }
        match smaller(session.record(), &scans, whole.kind, &size.fit) {
            Some(part) => size = part,
            None => break,
        }
    }
    Ok(())
}

/// Returns the size that is left after the recorded looks at parts.
pub(crate) fn smallest(record: &Record, whole: Part) -> Part {
    let scans = scans(record);
    let next = |size: &Part| smaller(record, &scans, whole.kind, &size.fit);
    let sizes = std::iter::successors(Some(whole), next);
    sizes.last().unwrap_or(whole)
}

/// Returns the first part that shows.
fn smaller(record: &Record, scans: &[Scan], kind: Kind, fit: &Fit) -> Option<Part> {
    let block = Space::of(record).block_bytes;
    let mut divisors = divisors(kind).iter();
    divisors.find_map(|&divisor| shown(record, scans, &of(fit, divisor, block), divisor))
}

/// Returns a part of a size, with the evidence of the whole.
fn of(fit: &Fit, divisor: u64, block: u64) -> Fit {
    Fit {
        period: fit.period / divisor / block * block,
        between: (fit.between.0 / divisor, fit.between.1.div_ceil(divisor)),
        ..*fit
    }
}

/// Returns the scan with the longest reads and the one with the widest writes that can show a size. The accesses around a
/// multiple must not reach another one, which may be an end of the whole.
fn fitting(scans: &[Scan], part: &Fit, block: u64) -> impl Iterator<Item = Scan> {
    let fits = move |scan: &&Scan| {
        let (least, most) = scan.sizes();
        least <= part.period && part.period <= most && 2 * scan.reach(block) < part.period
    };
    let first = |kind| scans.iter().filter(fits).find(|scan| scan.kind == kind);
    let both = [Kind::Reads, Kind::Writes].map(|kind| first(kind).copied());
    both.into_iter().flatten()
}

/// The most that is written, in bytes.
pub(crate) fn bound(scans: &[Scan]) -> u64 {
    let widest = scans
        .iter()
        .filter(|scan| scan.kind == Kind::Writes)
        .max_by_key(|scan| scan.pitch);
    let each = widest.map_or(0, |scan| {
        2 * MULTIPLES as u64 * (4 * scan.pitch + 2 * scan.len)
    });
    each * OF_WRITES.len() as u64 * STEPS_MAX
}

fn name(scan: &Scan, part: &Fit) -> String {
    format!("{} at parts of {}", scan.name(false), part.period)
}

/// The name of the step in ascending order, which follows one in descending order that shows nothing. In descending order
/// the writes before one multiple open the log of the block before it, which is the next one to be examined. With several
/// logs, no log need then be opened for that block.
fn upwards(name: &str) -> String {
    format!("{name} upwards")
}

/// Returns the multiples of a part that are not multiples of the whole, in bytes.
fn multiples(space: &Space, scan: &Scan, part: &Fit, divisor: u64) -> Vec<u64> {
    let reach = scan.reach(space.block_bytes);
    let first = (space.region.start + reach + part.period / 2).div_ceil(part.period);
    let last = (space.region.start + scan.covered).saturating_sub(reach + scan.len) / part.period;
    let numbers = (first..=last).filter(|k| !k.is_multiple_of(divisor));
    numbers.take(MULTIPLES).map(|k| k * part.period).collect()
}

/// Returns the part if its multiples differ from what is around them.
fn shown(record: &Record, scans: &[Scan], part: &Fit, divisor: u64) -> Option<Part> {
    let block = Space::of(record).block_bytes;
    fitting(scans, part, block).find_map(|scan| {
        let kind = scan.kind;
        let ratio = match kind {
            Kind::Reads => halved(record, &scan, part)?,
            Kind::Writes | Kind::LongWrites => {
                let name = name(&scan, part);
                let mut ways = [upwards(&name), name].into_iter();
                ways.find_map(|name| merges(record, &name, &scan, part, divisor))?
            }
        };
        let fit = Fit { ratio, ..*part };
        Some(Part { kind, fit })
    })
}

/// Returns the ratio of the times of reads across multiples of a part and of others, if it is small enough.
fn halved(record: &Record, scan: &Scan, part: &Fit) -> Option<f64> {
    let block = Space::of(record).block_bytes;
    let wanted = Wanted {
        sizes: part.between,
        grain: block,
        teeth: MULTIPLES_MIN as usize,
        strength: STRONG,
        factor: 1.0,
    };
    let (len, pitch) = scan.again_len(block);
    let places = places(record, &name(scan, part), Tooth::Halved, len, pitch)?;
    let ratio = Seen::new(&places, 0).middle(&wanted, len / 2)?.ratio;
    scan.differs(Tooth::Halved, ratio).then_some(ratio)
}

/// Returns how many times as long the slowest write at a multiple of a part takes (the median over the multiples), if there
/// are merges at most multiples, and more than by chance: merges also come elsewhere, and a log that is full after a
/// constant number of writes can be full at the same place of every block, at some multiples.
fn merges(record: &Record, name: &str, scan: &Scan, part: &Fit, divisor: u64) -> Option<f64> {
    let samples = of_step(record, PARAMETER, name)?;
    let places: Vec<(u64, f64)> = samples.map(|s| (s.offset, s.ns as f64)).collect();
    let times: Vec<f64> = places.iter().map(|(_, ns)| *ns).collect();
    let typical = location::median(&times)?.max(1.0);
    let (least, most) = part.between;
    let mut slowest = BTreeMap::<u64, f64>::new();
    let (mut at_multiples, mut elsewhere, mut slow_elsewhere) = (0u64, 0u64, 0u64);
    for (place, ns) in places {
        let number = (place + part.period / 2) / part.period;
        let near = scan.len + number * (most - least);
        if number.is_multiple_of(divisor) {
            continue;
        }
        if place.abs_diff(number * part.period) <= near {
            let slowest = slowest.entry(number).or_insert(0.0);
            *slowest = slowest.max(ns / typical);
            at_multiples += 1;
        } else {
            elsewhere += 1;
            slow_elsewhere += u64::from(ns >= MERGE * typical);
        }
    }
    let count = slowest.len() as u64;
    let showing = slowest.values().filter(|ratio| **ratio >= MERGE).count() as u64;
    if (showing as f64) < MOST * count as f64 || count < MULTIPLES_MIN {
        return None;
    }
    let each = at_multiples as f64 / count as f64;
    let slow = slow_elsewhere as f64 / elsewhere.max(1) as f64;
    let by_chance = law::binomial_tail(1.0 - (1.0 - slow).powf(each), count, showing - 1)?;
    let ratios: Vec<f64> = slowest.into_values().collect();
    (by_chance <= CHANCE)
        .then(|| location::median(&ratios))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::super::scan::all;
    use super::*;

    #[test]
    fn multiples_of_a_part_are_none_of_the_whole() {
        let space = Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
            level: crate::record::Level::Full,
        };
        let scans = all(&space, &crate::record::Target::default(), 4 << 10);
        let part = Fit {
            period: 4 << 20,
            between: (4 << 20, 4 << 20),
            strength: 9.0,
            explains: 9.0,
            teeth: 9,
            ratio: 1.0,
        };
        let scan = fitting(&scans, &part, space.block_bytes).last().unwrap();
        let found = multiples(&space, &scan, &part, 3);
        assert_eq!(found[..4], [4 << 20, 8 << 20, 16 << 20, 20 << 20]);
        assert_eq!(found.len(), MULTIPLES);
    }
}

//! Whether a part of a size that reads show is the block.
//!
//! Blocks lie on lanes in turn, so that several may show as one. At the multiples of the block that are none of what showed,
//! reads take another time, too, or the first write behind them a merge longer: where it is so at a half, a third, a fifth or a
//! seventh, that is the size, and its parts are next.

use super::PARAMETER;
use super::look::places;
use super::scan::{Kind, MULTIPLES_MIN, Scan, all};
use crate::probes::Space;
use crate::probes::robust::of_step;
use crate::record::Record;
use crate::session::{Session, Stop};
use crate::solve::teeth::{Fit, Tooth, Wanted};

const PARTS: [u64; 4] = [2, 3, 5, 7];
/// Multiples of a part that are looked at: the first ones, which lie close to where they are taken to be.
const MULTIPLES: usize = 24;
/// Parts of parts, at most; a block is hardly a smaller part of what reads show.
const STEPS_MAX: u64 = 4;
/// How strongly they must differ from the places around them (standard normal).
const STRONG: f64 = 5.0;
/// Writes take that many times as long at least: one across the end of a clustered page takes twice as long and is no merge.
const MERGE: f64 = 4.0;

/// A part that showed, and in what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) fit: Fit,
}

/// Looks at parts of what reads show until none shows. Writes tell blocks one by one.
pub(super) fn run(session: &mut Session<'_>, whole: Part) -> Result<(), Stop> {
    if whole.kind != Kind::Reads {
        return Ok(());
    }
    let space = Space::from(&*session);
    let scans = all(&space, &session.record().meta.target);
    let mut size = whole;
    for _ in 0..STEPS_MAX {
        for divisor in PARTS {
            let part = of(&size.fit, divisor, space.block_bytes);
            for scan in fitting(&scans, &part) {
                let name = name(&scan, &part);
                // Another scan may have shown the same size.
                if of_step(session.record(), PARAMETER, &name).is_none() {
                    let multiples = multiples(&space, &scan, &part, divisor);
                    scan.measure_around(session, (&name, part.period), &multiples)?;
                }
            }
            if shown(session.record(), &scans, &part).is_some() {
                break;
            }
        }
        match smaller(session.record(), &scans, &size.fit) {
            Some(part) => size = part,
            None => break,
        }
    }
    Ok(())
}

/// The size that a record's looks at parts leave.
pub(super) fn smallest(record: &Record, whole: Part) -> Part {
    // What reads have shown of the same size does not outweigh writes.
    if whole.kind != Kind::Reads {
        return whole;
    }
    let scans = all(&Space::of(record), &record.meta.target);
    let next = |size: &Part| smaller(record, &scans, &size.fit);
    let sizes = std::iter::successors(Some(whole), next);
    sizes.last().unwrap_or(whole)
}

/// The part that shows.
fn smaller(record: &Record, scans: &[Scan], fit: &Fit) -> Option<Part> {
    let block = Space::of(record).block_bytes;
    let mut parts = PARTS.into_iter().map(|divisor| of(fit, divisor, block));
    parts.find_map(|part| shown(record, scans, &part))
}

/// A part of a size, less its evidence.
fn of(fit: &Fit, divisor: u64, block: u64) -> Fit {
    Fit {
        period: fit.period / divisor / block * block,
        between: (fit.between.0 / divisor, fit.between.1.div_ceil(divisor)),
        ..*fit
    }
}

/// The longest reads, and the writes with the longest gaps, that can show a size.
fn fitting(scans: &[Scan], part: &Fit) -> impl Iterator<Item = Scan> {
    let fits = |scan: &&Scan| {
        let (least, most) = scan.sizes();
        least <= part.period && part.period <= most
    };
    let first = |kind| scans.iter().filter(fits).find(|scan| scan.kind == kind);
    let both = [Kind::Reads, Kind::Writes].map(|kind| first(kind).copied());
    both.into_iter().flatten()
}

/// The most that is written, in bytes.
pub(super) fn bound(scans: &[Scan]) -> u64 {
    let widest = scans
        .iter()
        .filter(|scan| scan.kind == Kind::Writes)
        .max_by_key(|scan| scan.pitch);
    let each = widest.map_or(0, |scan| MULTIPLES as u64 * (4 * scan.pitch + 2 * scan.len));
    each * PARTS.len() as u64 * STEPS_MAX
}

fn name(scan: &Scan, part: &Fit) -> String {
    format!("{} at parts of {}", scan.name(false), part.period)
}

/// Multiples of a part that are none of the whole, in bytes.
fn multiples(space: &Space, scan: &Scan, part: &Fit, divisor: u64) -> Vec<u64> {
    let reach = scan.reach(space.block_bytes);
    let first = (space.region.start + reach + part.period / 2).div_ceil(part.period);
    let last = (space.region.start + scan.covered).saturating_sub(reach + scan.len) / part.period;
    let numbers = (first..=last).filter(|k| !k.is_multiple_of(divisor));
    numbers.take(MULTIPLES).map(|k| k * part.period).collect()
}

/// The part, where its multiples differ from what is around them.
fn shown(record: &Record, scans: &[Scan], part: &Fit) -> Option<Part> {
    let block = Space::of(record).block_bytes;
    let wanted = Wanted {
        sizes: part.between,
        grain: block,
        teeth: MULTIPLES_MIN as usize,
        strength: STRONG,
        factor: 1.0,
    };
    fitting(scans, part).find_map(|scan| {
        let (len, pitch) = scan.again_len(block);
        let tooth = match scan.kind {
            Kind::Reads => Tooth::Halved,
            Kind::Writes | Kind::LongWrites => Tooth::Either,
        };
        let places = places(record, &name(&scan, part), tooth, (len, pitch))?;
        let ratio = match tooth {
            Tooth::Halved => places.middle(&wanted, len / 2)?.ratio,
            Tooth::First | Tooth::Either => places.nearest(&wanted)?.ratio,
        };
        let fit = Fit { ratio, ..*part };
        let kind = scan.kind;
        let merges = kind == Kind::Reads || ratio >= MERGE;
        (merges && scan.differs(tooth, ratio)).then_some(Part { kind, fit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_a_part_are_none_of_the_whole() {
        let space = Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
        };
        let scans = all(&space, &crate::record::Target::default());
        let part = Fit {
            period: 4 << 20,
            between: (4 << 20, 4 << 20),
            strength: 9.0,
            explains: 9.0,
            teeth: 9,
            ratio: 1.0,
        };
        let scan = fitting(&scans, &part).last().unwrap();
        let found = multiples(&space, &scan, &part, 3);
        assert_eq!(found[..4], [4 << 20, 8 << 20, 16 << 20, 20 << 20]);
        assert_eq!(found.len(), MULTIPLES);
    }
}

//! Finds the exact size of a block, on drives where the first write into each block takes a merge longer.
//!
//! The scans leave a range of sizes. At the n-th multiple, the ends for the sizes of the range lie n times as far apart as
//! the sizes. Small flushed writes in ascending order through all places where an end may lie meet the merge at the end
//! itself, or a constant number of writes away from it: with FAST the first unit of a block must be whole, a replacement
//! block is merged with its last page, and protected memory delays merges. The exact size is the one on which the merges at
//! the last multiples agree. If they do not agree, the size stays as inexact as it was.

use super::parts::Part;
use super::scan::MULTIPLES_MIN;
use crate::parameters::clustered_page::robust as clustered_page;
use crate::robust::samples::of_step;
use crate::{Parameter, Record, Sample, Series, Session, Space, Stop};
use fathom_stats::location;
use fathom_stats::teeth::Fit;
use std::collections::BTreeMap;
use std::ops::Range;

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// The number of multiples that are examined, counted from the last one.
const MULTIPLES: u64 = 12;
/// The most writes around each multiple, and their most bytes.
const WRITES: u64 = 512;
const BYTES: u64 = 8 << 20;
/// The number of writes before and after the places between which an end lies.
const BEYOND: u64 = 4;
/// The merge may come one write before an end, if a log is complete with the last page of a block, or up to this many after
/// it.
const BEHIND: u64 = 16;
/// The share of the multiples with a merge that must agree on a size.
const AGREE: f64 = 0.65;
/// The least number that must agree: for merges at the ends, and for merges elsewhere, where some easily agree by chance.
const AGREEING: [u64; 2] = [4, 6];
/// The least ratio of the slowest write to the median for a merge, and the share of the slowest at which a write counts as
/// slow; the first slow one is taken.
const MERGE: f64 = 4.0;
const NEARLY: f64 = 0.5;
/// The length of a write if the clustered page is not known, and the largest length, in bytes.
const UNIT: u64 = 4 << 10;
const UNIT_MAX: u64 = 256 << 10;
/// Distances between writes that are tried if consecutive units do not settle the size, in bytes: two writes into one page
/// may cost a merge each time.
const APART: [u64; 2] = [16 << 10, 64 << 10];

/// The writes around the multiples of a size.
struct Grid {
    /// The length of a write, and the distance from one to the next, in bytes.
    len: u64,
    pitch: u64,
    /// The smallest and the largest possible size, in bytes.
    between: (u64, u64),
    /// The numbers of the multiples that are examined.
    numbers: Range<u64>,
}

impl Grid {
    /// Returns all grids that may be tried; none if the size is exact already, or if too few multiples fit.
    fn all(record: &Record, part: &Part) -> Vec<Self> {
        let space = Space::of(record);
        let unit = clustered_page::known(record).unwrap_or(UNIT).min(UNIT_MAX);
        let len = unit.next_multiple_of(space.block_bytes);
        let apart = APART.map(|apart| apart.next_multiple_of(len));
        let mut pitches = vec![len, apart[0], apart[1]];
        pitches.dedup();
        let grids = pitches
            .into_iter()
            .filter_map(|pitch| Self::of(&space, &part.fit, len, pitch));
        let mut grids: Vec<Self> = grids.collect();
        // For a large range of sizes, the places lie so far apart that several grids are equal.
        grids.dedup_by_key(|grid| grid.pitch);
        grids
    }

    fn of(space: &Space, fit: &Fit, len: u64, pitch: u64) -> Option<Self> {
        let (low, high) = fit.between;
        let spread = high - low;
        if spread < len {
            return None;
        }
        let (start, end) = (space.region.start, space.region.start + space.span());
        // At farther multiples the places of one end would overlap those of the next.
        let last = (end / high).min(fit.period / 2 / spread);
        let writes = (BYTES / len).clamp(1, WRITES);
        let pitch = pitch.max((last * spread / writes).next_multiple_of(len));
        let around = (BEYOND + 2) * pitch;
        let last = last.min(end.saturating_sub(around) / high);
        let first = (start + around.max(fit.period)).div_ceil(low);
        let first = first.max((last + 1).saturating_sub(MULTIPLES));
        (last + 1 >= first + MULTIPLES_MIN).then_some(Self {
            len,
            pitch,
            between: (low, high),
            numbers: first..last + 1,
        })
    }

    fn name(&self, part: &Part) -> String {
        let Self { len, pitch, .. } = self;
        let size = part.fit.period;
        format!("writes of {len} every {pitch} through the ends of {size}")
    }

    /// Returns the offsets of the writes around a multiple, in bytes.
    fn places(&self, number: u64) -> impl Iterator<Item = u64> + use<> {
        let (low, high) = self.between;
        let from = (number * low / self.pitch).saturating_sub(BEYOND) * self.pitch;
        (from..=number * high + BEYOND * self.pitch).step_by(self.pitch as usize)
    }

    /// Returns by how many writes a place comes after the last write before the multiple of a size; `None` if it comes
    /// before that.
    fn behind(&self, (number, place): (u64, u64), size: u64) -> Option<u64> {
        let first = (number * size).next_multiple_of(self.pitch);
        Some((place + self.pitch).checked_sub(first)? / self.pitch)
    }

    /// Writes through all places where ends may be.
    fn measure(&self, session: &mut Session<'_>, part: &Part) -> Result<(), Stop> {
        session.step(PARAMETER, &self.name(part), |io| {
            for number in self.numbers.clone() {
                // Opens the log of the block before.
                let before = (2 * number - 1) * part.fit.period / 2 / self.len * self.len;
                io.write_flush(before, self.len)?;
                for place in self.places(number) {
                    io.write_flush(place, self.len)?;
                    io.sample(Series::AROUND, number, 0);
                }
            }
            Ok(())
        })
    }

    /// Returns the range of the sizes on which most merges agree.
    fn agreed(&self, record: &Record, part: &Part) -> Option<(u64, u64)> {
        let merges = merges(of_step(record, PARAMETER, &self.name(part))?.collect())?;
        let block = u64::from(record.meta.target.logical_block_bytes).max(1);
        let sizes = self.between.0.div_ceil(block)..=self.between.1 / block;
        let agreeing = |size: u64| {
            let mut counts = [0u64; BEHIND as usize + 2];
            for &merge in &merges {
                let behind = self.behind(merge, size);
                if let Some(count) = behind.and_then(|n| counts.get_mut(n as usize)) {
                    *count += 1;
                }
            }
            let enough =
                |(behind, count): &(usize, u64)| *count >= AGREEING[usize::from(*behind != 1)];
            let counts = counts.into_iter().enumerate().filter(enough);
            counts.map(|(_, count)| count).max().unwrap_or(0)
        };
        let counts = sizes.map(|n| (n * block, agreeing(n * block)));
        let counts: Vec<(u64, u64)> = counts.collect();
        let most = counts.iter().map(|(_, count)| *count).max()?;
        if most == 0 || (most as f64) < AGREE * merges.len() as f64 {
            return None;
        }
        let mut best = counts.iter().filter(|(_, count)| *count == most);
        let first = best.next()?.0;
        Some((first, best.next_back().map_or(first, |(size, _)| *size)))
    }
}

/// Returns the place of the first merge around each multiple that has one, with the number of the multiple.
fn merges(samples: Vec<&Sample>) -> Option<Vec<(u64, u64)>> {
    let times: Vec<f64> = samples.iter().map(|s| s.ns as f64).collect();
    let merge = MERGE * location::median(&times)?;
    let mut around = BTreeMap::<u64, Vec<&Sample>>::new();
    for sample in samples {
        around.entry(sample.x).or_default().push(sample);
    }
    let first = |(number, samples): (u64, Vec<&Sample>)| {
        let slowest = samples.iter().map(|s| s.ns).max()? as f64;
        let mut late = samples.iter().filter(|s| s.ns as f64 >= NEARLY * slowest);
        (slowest >= merge).then_some((number, late.next()?.offset))
    };
    Some(around.into_iter().filter_map(first).collect())
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    let unit = UNIT_MAX.max(space.block_bytes);
    (1 + APART.len() as u64) * MULTIPLES * (BYTES + (2 * BEYOND + 3) * unit)
}

/// Tries grids until a size is exact.
pub(crate) fn run(session: &mut Session<'_>, part: &Part) -> Result<(), Stop> {
    for grid in Grid::all(session.record(), part) {
        grid.measure(session, part)?;
        if grid.agreed(session.record(), part).is_some() {
            break;
        }
    }
    Ok(())
}

/// Returns the part with the size on which the merges agree.
pub(crate) fn exact(record: &Record, part: Part) -> Option<Part> {
    let grids = Grid::all(record, &part).into_iter();
    let mut agreed = grids.filter_map(|grid| Some((grid.agreed(record, &part)?, grid)));
    let ((first, last), grid) = agreed.next()?;
    // Noise delays a write as well: an end may lie one write away.
    let margin = grid.pitch / (grid.numbers.end - grid.numbers.start);
    let (low, high) = grid.between;
    let mut fit = part.fit;
    fit.period = (first + last) / 2;
    fit.between = (
        first.saturating_sub(margin).max(low),
        (last + margin).min(high),
    );
    Some(Part { fit, ..part })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_in_the_region_and_around_one_end_each() {
        let grids = [(1u64 << 20, 64u64 << 20), (512 << 20, 3 << 30)].map(|(start, bytes)| {
            let space = Space {
                region: start..start + bytes,
                block_bytes: 512,
                thin: 1,
                level: crate::record::Level::Full,
            };
            let sizes = [200u64 << 10, 1000 << 10, 19_152 << 10];
            let grids = sizes.map(|period| {
                let fit = Fit {
                    period,
                    between: (period - period / 200, period + period / 200),
                    strength: 9.0,
                    explains: 9.0,
                    teeth: 9,
                    ratio: 9.0,
                };
                let lens = [(512, 512), (4 << 10, 64 << 10), (16 << 10, 16 << 10)];
                let grids = lens.map(|(len, pitch)| Grid::of(&space, &fit, len, pitch));
                for grid in grids.iter().flatten() {
                    for number in grid.numbers.clone() {
                        let places: Vec<u64> = grid.places(number).collect();
                        let (first, last) = (places[0], places[places.len() - 1]);
                        assert!(first >= start && last + grid.len <= start + space.span());
                        assert!(first <= number * grid.between.0);
                        assert!(last >= number * grid.between.1);
                        assert!(last - first < period + 2 * (BEYOND + 2) * grid.pitch);
                        let most = WRITES + 2 * BEYOND + 3;
                        assert!(places.len() as u64 <= most, "{} {period}", places.len());
                    }
                }
                grids.iter().flatten().count()
            });
            grids.iter().sum::<usize>()
        });
        // A hundredth is less than 4 KiB for the smallest size and less than 16 KiB for the next one, and the small region
        // holds three blocks of the largest size. From 512 MiB on, only the largest size has ends whose places do not
        // overlap the next ones.
        assert_eq!(grids, [1 + 2, 3]);
    }
}

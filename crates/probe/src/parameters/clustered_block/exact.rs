//! The exact size of a block, where the first write into each takes a merge longer.
//!
//! What shows a block leaves several sizes between which it lies, and the farther a multiple is away, the farther they lie apart
//! there. Small flushed writes that ascend through all places where an end may be meet the merge at the end itself, or some
//! writes from it: with FAST a block's first unit has to be whole, a replacement block is merged with its last page, and
//! protected memory delays merges. The size is what all of the last multiples have in common. Where they have nothing in
//! common it stays as inexact as it was.

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

/// Multiples that are looked at, the last ones.
const MULTIPLES: u64 = 12;
/// Writes around each at most, and their bytes.
const WRITES: u64 = 512;
const BYTES: u64 = 8 << 20;
/// Writes before and behind those between which an end lies.
const BEYOND: u64 = 4;
/// The merge may come one write before an end, where a log is complete with the last page of a block, or so many behind it.
const BEHIND: u64 = 16;
/// The share of the multiples with a merge that must agree on a size.
const AGREE: f64 = 0.65;
/// So many must agree at least: where merges come at the ends, and elsewhere, where a line through some of them is easily found.
const AGREEING: [u64; 2] = [4, 6];
/// How many times as long as others the slowest write takes at least, and the first that counts, as a share of the slowest.
const MERGE: f64 = 4.0;
const NEARLY: f64 = 0.5;
/// A unit that is not known, and the largest that is named, in bytes.
const UNIT: u64 = 4 << 10;
const UNIT_MAX: u64 = 256 << 10;
/// From write to write where units do not tell, in bytes: two writes into one page may cost a merge each time.
const APART: [u64; 2] = [16 << 10, 64 << 10];

/// The writes around the multiples of a size.
struct Grid {
    /// Length of a write, and from write to write, in bytes.
    len: u64,
    pitch: u64,
    /// The smallest and the largest size that may be meant, in bytes.
    between: (u64, u64),
    /// The multiples that are looked at.
    numbers: Range<u64>,
}

impl Grid {
    /// All that may be tried; none where the size is exact already, or too few multiples fit.
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
        // Where places lie far apart for the size alone.
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
        // Farther away the places of one end meet those of the next.
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

    /// Where writes around a multiple begin, in bytes.
    fn places(&self, number: u64) -> impl Iterator<Item = u64> + use<> {
        let (low, high) = self.between;
        let from = (number * low / self.pitch).saturating_sub(BEYOND) * self.pitch;
        (from..=number * high + BEYOND * self.pitch).step_by(self.pitch as usize)
    }

    /// How many writes a place is behind the last one before the multiple of a size; `None` before that.
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

    /// The sizes on which most merges agree, from the smallest to the largest.
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

/// The place of the first merge around each multiple that has one, by the multiple's number.
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

/// Looks until a size is exact.
pub(crate) fn run(session: &mut Session<'_>, part: &Part) -> Result<(), Stop> {
    for grid in Grid::all(session.record(), part) {
        grid.measure(session, part)?;
        if grid.agreed(session.record(), part).is_some() {
            break;
        }
    }
    Ok(())
}

/// The part with the size on which merges agree.
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
        // A hundredth is less than 4 KiB of the smallest size and than 16 KiB of the next, and the small region holds three of the
        // largest. At 512 MiB only the largest size has ends that do not meet the next ones.
        assert_eq!(grids, [1 + 2, 3]);
    }
}

//! flashbench `-a` (`flashbench.c`, `try_read_alignment`): for boundaries at powers of two, a read across the boundary, one
//! before and one after it, at seven places; each is the least of ten repeats. The difference is the mean of those across
//! less the mean of the others. Its reader looks for the boundary at which the difference changes.
//!
//! Our reading of that eye: the unit of reads is the smallest boundary with at least half of the largest difference, if that
//! is at least a tenth of a read. The tool reads only; here the region is written in order before. Reads are two logical
//! blocks long, as in the tool's example on a card (1 KiB).

use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use std::collections::BTreeMap;

const PARAMETER: Parameter = Parameter::ReadUnit;
/// Reads across a boundary at a multiple of `x`, and those before and after it.
const ON: Series = Series::new("flashbench_on");
const PRE: Series = Series::new("flashbench_pre");
const POST: Series = Series::new("flashbench_post");
const PLACES: u64 = 7;
const TRIES: u32 = 10;
/// The share of the largest difference that counts, and the share of a read below which there is none.
const HALF: f64 = 0.5;
const LEAST: f64 = 0.1;

/// The smallest boundary that costs time.
pub(crate) struct Boundaries;

/// Returns the boundaries: powers of two from twice a read on, so that seven fit into the region.
fn boundaries(space: &Space) -> Vec<u64> {
    let first = (4 * space.block_bytes).next_power_of_two();
    let powers = std::iter::successors(Some(first), |size| size.checked_mul(2));
    let fits = |size: &u64| size.saturating_mul(PLACES + 1) <= space.bytes();
    powers.take_while(fits).collect()
}

impl Probe for Boundaries {
    fn bound(&self, space: &Space) -> u64 {
        space.bytes()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let (start, block) = (space.region.start, space.block_bytes);
        session.step(PARAMETER, "fill", |io| {
            io.fill_sequential(space.region.clone())
        })?;
        let all = boundaries(&space);
        let largest = all.last().copied().unwrap_or_default();
        for align in all.into_iter().rev() {
            session.step(PARAMETER, &format!("align {align}"), |io| {
                for rep in 0..TRIES {
                    for (series, before) in [(PRE, 2 * block), (ON, block), (POST, 0)] {
                        for place in 0..PLACES {
                            io.read(start + align + place * largest - before, 2 * block)?;
                            io.sample(series, align, rep);
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let [pre, on, post] = [PRE, ON, POST].map(|series| least(record, series));
        let both =
            |align: &u64| (pre.get(align).unwrap_or(&0.0) + post.get(align).unwrap_or(&0.0)) / 2.0;
        let diffs: Vec<(u64, f64)> = on
            .iter()
            .map(|(align, on)| (*align, on - both(align)))
            .collect();
        let read = diffs.first().map_or(0.0, |(align, _)| both(align));
        let largest = diffs.iter().map(|(_, diff)| *diff).fold(0.0, f64::max);
        let answer = match smallest(&diffs, LEAST * read) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!(
                    "reads across multiples of {bytes} bytes are the first with half of the largest difference"
                ),
            ),
            None => Estimate::inconclusive("no boundary shows: the plot has no pattern"),
        };
        answer
            .figure("boundaries", diffs.len() as f64)
            .figure("largest_difference_ns", largest)
    }
}

/// Returns the mean over the places of the least of the repeats, in nanoseconds, by boundary.
fn least(record: &Record, series: Series) -> BTreeMap<u64, f64> {
    let mut places: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for sample in record.series(PARAMETER, series) {
        let least = places.entry((sample.x, sample.offset)).or_insert(u64::MAX);
        *least = sample.ns.min(*least);
    }
    let mut means: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for ((align, _), ns) in places {
        let mean = means.entry(align).or_default();
        *mean = (mean.0 + ns as f64, mean.1 + 1.0);
    }
    means
        .into_iter()
        .map(|(align, (sum, count))| (align, sum / count))
        .collect()
}

/// Returns the smallest boundary with half of the largest difference, if that is at least `least`. `diffs` ascend.
fn smallest(diffs: &[(u64, f64)], least: f64) -> Option<u64> {
    let largest = diffs.iter().map(|(_, diff)| *diff).fold(0.0, f64::max);
    let mut near = diffs.iter().filter(|(_, diff)| *diff >= HALF * largest);
    near.next()
        .filter(|_| largest > 0.0 && largest >= least)
        .map(|(align, _)| *align)
}

#[cfg(test)]
mod tests {
    use super::smallest;

    #[test]
    fn the_card_of_the_tools_example_has_pages_of_16_kib() {
        // Microseconds from the README: 2 KiB to 64 KiB, and the jump at 4 MiB.
        let card = [
            (2048, 4.65),
            (4096, 5.85),
            (8192, 53.3),
            (16_384, 148.0),
            (32_768, 157.0),
            (65_536, 159.0),
            (2 << 20, 171.0),
        ];
        assert_eq!(smallest(&card, 73.5), Some(16_384));
        // The larger differences from 4 MiB on are those of erase blocks; half of them is still the page.
        let whole = [&card[..], &[(4 << 20, 317.0), (8 << 20, 299.0)]].concat();
        assert_eq!(smallest(&whole, 73.5), Some(65_536));
        assert_eq!(smallest(&[(2048, 5.0), (4096, 9.0)], 73.5), None);
        assert_eq!(smallest(&[], 0.0), None);
    }
}

//! The part of an area in which lone reads take equally long.
//!
//! A fast cache takes what is written first, or what is written last, and its reads are shorter. Reads that meet in it wait
//! for less than the others, so that one threshold does not tell both. What is compared must therefore lie in one of the two.

use super::blank::times_by_place;
use super::take::Manner;
use crate::{Ask, Parameter, Record, Series, Session, Stop};
use fathom_stats::location::median;
use std::ops::Range;

/// A lone read in a chunk of `x` bytes.
const LONE: Series = Series::new("lone");

/// The chunks of an area, and the reads of a chunk.
const CHUNKS: u64 = 32;
const READS: u32 = 24;
/// The ratio of the slowest to the fastest chunk of an even part: the medians of 24 reads differ by less.
const EVEN: f64 = 1.12;
/// The least part that is worth a measurement, in chunks.
const LEAST: usize = 8;

fn chunk(area: &Range<u64>, block: u64) -> u64 {
    ((area.end - area.start) / CHUNKS / block).max(1) * block
}

/// Reads all over an area, one place at a time.
pub(crate) fn look(session: &mut Session<'_>, manner: &Manner) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    let (start, len) = (manner.part.start, chunk(&manner.part, block));
    session.step(manner.of, &manner.pace.name("evenness"), |io| {
        let mut order: Vec<u64> = (0..READS).flat_map(|_| 0..CHUNKS).collect();
        io.rng.shuffle(&mut order);
        for (rep, number) in (0..).zip(order) {
            let at = start + number * len + io.rng.below(len / block) * block;
            manner.before(io, &[at], block)?;
            if let Some(one) = io.serve(&[Ask::read(at, block)], 1)?.first() {
                io.sample_served(LONE, len, rep, one);
            }
        }
        Ok(())
    })
}

/// Returns the longest part of an area whose chunks take equally long; all of it if no part is long enough.
pub(crate) fn part(record: &Record, of: Parameter, area: Range<u64>, block: u64) -> Range<u64> {
    let len = chunk(&area, block);
    let mut chunks = vec![Vec::new(); CHUNKS as usize];
    for (place, ns) in times_by_place(record, of, LONE) {
        if let Some(chunk) = chunks.get_mut((place.saturating_sub(area.start) / len) as usize) {
            chunk.push(ns);
        }
    }
    let typical: Vec<f64> = chunks
        .iter()
        .map(|chunk| median(chunk).unwrap_or(0.0))
        .collect();
    let run = longest(&typical);
    if run.len() < LEAST {
        return area;
    }
    // The chunk next to another kind of flash may lie in it in part.
    let from = match run.start {
        0 => area.start,
        start => area.start + (start as u64 + 1) * len,
    };
    let to = match run.end as u64 {
        CHUNKS => area.end,
        end => area.start + (end - 1) * len,
    };
    from..to
}

/// Returns the longest run of values that are alike, the first of equally long ones.
fn longest(typical: &[f64]) -> Range<usize> {
    let run = |from: usize| {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        let alike = typical[from..].iter().take_while(|value| {
            (low, high) = (low.min(**value), high.max(**value));
            high <= EVEN * low
        });
        from..from + alike.count()
    };
    let runs = (0..typical.len()).map(run);
    runs.fold(
        0..0,
        |best, run| if run.len() > best.len() { run } else { best },
    )
}

#[cfg(test)]
mod tests {
    use super::longest;

    #[test]
    fn the_longest_run_of_one_speed_is_taken() {
        assert_eq!(longest(&[80.0; 32]), 0..32);
        let mut mixed = vec![40.0; 10];
        mixed.extend([
            81.0, 80.0, 79.0, 82.0, 80.0, 80.0, 81.0, 80.0, 80.0, 80.0, 83.0, 80.0,
        ]);
        mixed.extend([41.0; 4]);
        assert_eq!(longest(&mixed), 10..22);
        assert_eq!(longest(&[]), 0..0);
    }
}

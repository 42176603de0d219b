//! Checks in a read-only run that the places it reads were ever written.
//!
//! A drive answers a read of a place that was never written, or was trimmed, without reading flash. Such reads tell nothing
//! about a buffer or about reading ahead. Stretches all over the range are checked in two ways:
//!
//! - By what the drive reports: a file has holes, and bytes that differ were written. Bytes that are all equal prove
//!   nothing.
//! - By time. Reads that touch no flash take equally long everywhere. The time of flash reads depends on the place: on the
//!   number of pages that they touch, and on the dies where they wait for each other. Batches of small reads at random
//!   places are repeated in several rounds, each in another order; the place must make a difference that repeats.
//!   Alternatively, the first read of a batch takes longer than a second one right after it: a cache that keeps what was
//!   read hides the place from later rounds. This does not count if the drive reports that all bytes are equal.
//!
//! If the drive reports nothing, a partly written stretch counts as written.

use crate::{Io, Parameter, Record, Sample, Series, Session, Stop};
use fathom_block::Contents;
use fathom_stats::place;
use std::collections::BTreeMap;
use std::ops::Range;

/// The name of the step.
const NAME: &str = "written";
/// The number of stretches, and the bytes of one.
const STRETCHES: u64 = 32;
const STRETCH: u64 = 1 << 20;
/// The number of batches of reads in a stretch, of reads in a batch, and of bytes in a read. A read is longer than a page of
/// some drives and begins at any logical block, so that some reads touch one page more than others.
const BATCHES: u64 = 8;
const READS: u64 = 8;
const READ: u64 = 8 << 10;
/// The number of reads of each batch whose places the drive is asked about.
const ASKED: usize = 2;
const ROUNDS: u32 = 9;
/// The p-value at which the place matters: at most one unwritten stretch in ten is taken for a written one.
const P: f64 = 0.1;
/// The number of batches of a stretch that must be faster the second time, and the ratio by which they must be faster.
const FASTER: usize = 7;
const RATIO: f64 = 1.05;
/// The share of the range that must be seen to hold data.
const SHARE: f64 = 0.9;

/// The places of the reads of a stretch, by batch.
struct Stretch(Vec<Vec<(u64, u64)>>);

impl Stretch {
    /// Draws a stretch within `part`. Each batch begins in another part of the stretch.
    fn draw(io: &mut Io<'_>, part: Range<u64>, bytes: u64) -> Self {
        let block = u64::from(io.info().logical_block_bytes).max(1);
        let whole = |bytes: u64| bytes / block;
        let len = READ.min(bytes / (2 * BATCHES) / block * block).max(block);
        let slots = ((part.end - part.start) / bytes).max(1);
        let start = part.start + io.rng.below(slots) * bytes;
        let eighth = whole(bytes / BATCHES).max(1);
        let batch = |io: &mut Io<'_>, number: u64| {
            let first = number * eighth + io.rng.below(eighth - (whole(len) - 1).min(eighth - 1));
            let others = (1..READS).map(|_| io.rng.below(whole(bytes - len) + 1));
            let blocks: Vec<u64> = std::iter::once(first).chain(others).collect();
            blocks.iter().map(|at| (start + at * block, len)).collect()
        };
        Self((0..BATCHES).map(|number| batch(io, number)).collect())
    }

    /// Asks the drive about the contents. Returns true if its answers prove nothing, so that the times have to decide.
    fn ask(&self, io: &mut Io<'_>, bytes: u64) -> Result<bool, Stop> {
        let mut open = true;
        for &(offset, len) in self.0.iter().flat_map(|batch| batch.iter().take(ASKED)) {
            let series = match io.contents(offset, len)? {
                Contents::Untold => continue,
                Contents::Hole => Series::HOLE,
                Contents::Blank => Series::BLANK,
                Contents::Data => Series::DATA,
            };
            open &= series == Series::BLANK;
            io.sample(series, bytes, 0);
        }
        Ok(open)
    }
}

/// Checks that nearly all of `range` was written. `range` begins where the region does. Done once a run; does nothing in a
/// run that may write.
///
/// # Errors
/// [`Stop::Unwritten`], or the [`Stop`] of the step.
pub(crate) fn look(
    session: &mut Session<'_>,
    parameter: Parameter,
    range: Range<u64>,
) -> Result<(), Stop> {
    if !session.read_only() {
        return Ok(());
    }
    if share(session.record()).is_none() {
        session.step(parameter, NAME, |io| measure(io, range))?;
    }
    match share(session.record()).unwrap_or_default() {
        seen if seen >= SHARE => Ok(()),
        seen => Err(Stop::Unwritten {
            percent: (100.0 * seen) as u32,
        }),
    }
}

fn measure(io: &mut Io<'_>, range: Range<u64>) -> Result<(), Stop> {
    let all = range.end - range.start;
    let block = u64::from(io.info().logical_block_bytes).max(1);
    let bytes = STRETCH.min(all / block * block).max(block);
    let parts = (all / bytes).clamp(1, STRETCHES);
    let part = all / bytes / parts * bytes;
    let mut batches = Vec::new();
    for number in 0..parts {
        let from = range.start + number * part;
        let stretch = Stretch::draw(io, from..from + part, bytes);
        if stretch.ask(io, bytes)? {
            batches.extend(stretch.0);
        }
    }
    for round in 0..ROUNDS {
        io.rng.shuffle(&mut batches);
        for batch in &batches {
            io.read_queued(batch, u32::MAX)?;
            io.sample(Series::AGAIN, bytes, round);
            if round == 0 {
                io.read_queued(batch, u32::MAX)?;
                io.sample(Series::HIT, bytes, round);
            }
        }
    }
    Ok(())
}

/// Returns the share of the checked stretches that is seen to hold data; `None` if the step was not made.
fn share(record: &Record) -> Option<f64> {
    let step = record.steps.iter().position(|step| step.name == NAME)? as u32;
    let start = record.meta.region.map_or(0, |[start, _]| start);
    let mut stretches: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in record.samples.iter().filter(|s| s.step == step) {
        let number = sample.offset.saturating_sub(start) / sample.x.max(1);
        stretches.entry(number).or_default().push(sample);
    }
    let seen: f64 = stretches.values().map(|samples| written(samples)).sum();
    Some(seen / stretches.len().max(1) as f64)
}

/// Returns the share of a stretch that is seen to hold data.
fn written(samples: &[&Sample]) -> f64 {
    let count = |series| samples.iter().filter(|s| s.series == series).count() as f64;
    let [holes, blank, data] = [Series::HOLE, Series::BLANK, Series::DATA].map(count);
    if holes + data > 0.0 {
        return data / (holes + blank + data);
    }
    let rounds = rounds(samples, Series::AGAIN);
    let again = self::rounds(samples, Series::HIT);
    let faster = rounds.iter().zip(&again).flat_map(|(a, b)| a.iter().zip(b));
    let faster = faster.filter(|(first, second)| **first > RATIO * **second);
    // A layer that reports holes also caches their bytes: for example the page cache under a loop device over a sparse file.
    let kept = blank == 0.0 && faster.count() >= FASTER;
    f64::from(u8::from(kept || place::matters(&rounds, P)))
}

/// Returns the times of a series by round, each round sorted by place.
pub(crate) fn rounds(samples: &[&Sample], series: Series) -> Vec<Vec<f64>> {
    let mut rounds: BTreeMap<u32, Vec<(u64, f64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.series == series) {
        let round = rounds.entry(sample.rep).or_default();
        round.push((sample.offset, sample.ns as f64));
    }
    let by_place = |mut round: Vec<(u64, f64)>| {
        round.sort_unstable_by_key(|(place, _)| *place);
        round.into_iter().map(|(_, ns)| ns).collect()
    };
    rounds.into_values().map(by_place).collect()
}

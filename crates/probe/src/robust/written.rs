//! Whether what a read-only run reads was ever written.
//!
//! A drive answers a read of a place that was never written, or given back by TRIM, without its flash. Such reads say
//! nothing of a buffer or of reading ahead. Stretches all over the range are looked at, in two ways:
//!
//! - The drive tells: a file has holes, and bytes that differ were written. Bytes that are all equal say nothing.
//! - Time tells. Reads that touch no flash take as long wherever they go. Reads of flash depend on the place: on how many
//!   pages they touch, and on which dies they wait for each other. Batches of small reads at random places are repeated in
//!   several rounds, each in another order; the place has to make a difference that comes again. Or the first time takes
//!   longer than a second one at once: memory that keeps what was read hides the place from later rounds. Where the drive tells
//!   that all bytes are equal, that does not count.
//!
//! A stretch that was written in part counts as written where the drive tells nothing.

use crate::{Io, Parameter, Record, Sample, Series, Session, Stop};
use fathom_block::Contents;
use fathom_stats::place;
use std::collections::BTreeMap;
use std::ops::Range;

/// The name of the step.
const NAME: &str = "written";
/// Stretches that are looked at, and bytes of one.
const STRETCHES: u64 = 32;
const STRETCH: u64 = 1 << 20;
/// Batches of reads in a stretch, reads of a batch and bytes of a read: longer than a page of some drives, and begun at any
/// logical block, so that some touch one page more than others.
const BATCHES: u64 = 8;
const READS: u64 = 8;
const READ: u64 = 8 << 10;
/// Reads of a batch whose place the drive is asked about.
const ASKED: usize = 2;
const ROUNDS: u32 = 9;
/// The place matters with this p-value: one stretch in ten is taken for written by mistake at most.
const P: f64 = 0.1;
/// So many batches of a stretch have to be faster the second time, by this ratio.
const FASTER: usize = 7;
const RATIO: f64 = 1.05;
/// So large a share of the range has to be seen to hold data.
const SHARE: f64 = 0.9;

/// A stretch, and the places of its batches.
struct Stretch(Vec<Vec<(u64, u64)>>);

impl Stretch {
    /// Somewhere in `part`; the batches begin in different parts of it.
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

    /// Asks the drive; whether time has to tell.
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

/// Makes sure that nearly all of `range`, which begins where the region does, was written. Once a run; nothing where the
/// run may write.
///
/// # Errors
/// [`Stop::Unwritten`], and what stopped the step.
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

/// The share of what was looked at that is seen to hold data; `None` where the step was not made.
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

/// The share of a stretch that is seen to hold data.
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
    // A layer that knows holes keeps their bytes, too: the page cache under a loop device over a sparse file.
    let kept = blank == 0.0 && faster.count() >= FASTER;
    f64::from(u8::from(kept || place::matters(&rounds, P)))
}

/// The times of a series by round, those of a round by place.
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

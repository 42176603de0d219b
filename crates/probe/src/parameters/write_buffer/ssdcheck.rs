//! SSDcheck's write buffer (Kim et al., MICRO 2018; `feature_extraction/write_buffer` of its scripts): for 5 s each,
//! random writes of 4 KiB and of 8 KiB with pauses of 5 ms between them, and random reads of 4 KiB at depth 1 beside them. A
//! flush makes reads slow. The slowest read after each write is held against two thresholds of the user; the buffer is the
//! most common interval between slow ones, in writes, times their size. Intervals of one write and the first one are left out.
//!
//! Our reading: a read is slow from twice the median on, and waits for garbage collection from 200 times the median on: the
//! tool leaves both to its user. The answer is that of the writes of 4 KiB; that of the others is a figure. The drive is
//! used as found, except that the region is written in order once.

use crate::elsewhere::thinned;
use crate::{
    Answers, Ask, Estimate, Io, Parameter, Probe, Record, Series, Session, Space, Stop, Value,
};
use fathom_base::Dur;
use fathom_stats::location::median;
use std::collections::BTreeMap;

const PARAMETER: Parameter = Parameter::WriteBuffer;
/// The slowest read after each write of 4 KiB and of 8 KiB; `x` is the length of the writes.
const SLOWEST: Series = Series::new("slowest_read");
/// Reads before anything is written, for the median.
const READS: Series = Series::new("reads_alone");
const SIZES: [u64; 2] = [4096, 8192];
const READ: u64 = 4096;
const TIME: Dur = Dur::ms(5_000);
const PAUSE: Dur = Dur::ms(5);
/// The reads that are made ready beside a write.
const BESIDE: u64 = 256;
const ALONE: u32 = 128;
/// From where on a read is slow, and from where on it waits for a collection, in medians.
const SLOW: f64 = 2.0;
const COLLECTS: f64 = 200.0;

/// The most common interval between slow reads.
pub(crate) struct ModalInterval;

impl Probe for ModalInterval {
    /// The region, and a write at least every 5 ms.
    fn bound(&self, space: &Space) -> u64 {
        let writes = thinned(space, TIME).0 / PAUSE.0 + 1;
        let each: u64 = SIZES.iter().map(|size| space.round_up(*size)).sum();
        space.bytes().saturating_add(writes * each)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        session.step(PARAMETER, "fill", |io| {
            io.fill_sequential(space.region.clone())?;
            for rep in 0..ALONE {
                let read = read(io, &space);
                io.read(read.offset, read.len)?;
                io.sample(READS, READ, rep);
            }
            Ok(())
        })?;
        for size in SIZES {
            session.step(PARAMETER, &format!("paced {size}"), |io| {
                paced(io, &space, size)
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let reads = record.series(PARAMETER, READS).map(|s| s.ns as f64);
        let read = median(&reads.collect::<Vec<_>>()).unwrap_or_default();
        let [small, large] = SIZES.map(|size| {
            let slowest = record.series(PARAMETER, SLOWEST).filter(|s| s.x == size);
            let slowest: Vec<f64> = slowest.map(|s| s.ns as f64).collect();
            interval(&slowest, SLOW * read..COLLECTS * read)
        });
        let block = Space::of(record).block_bytes;
        let answer = match small {
            Some(writes) => Estimate::identified(
                Value::Bytes(writes * SIZES[0].next_multiple_of(block)),
                format!("the most common interval between slow reads is {writes} writes"),
            ),
            None => Estimate::inconclusive("no two slow reads came again at an interval"),
        };
        let other = large.map_or(0.0, |writes| {
            (writes * SIZES[1].next_multiple_of(block)) as f64
        });
        answer
            .figure("median_read_ns", read)
            .figure("by_8_kib_bytes", other)
    }
}

fn read(io: &mut Io<'_>, space: &Space) -> Ask {
    let len = space.round_up(READ);
    let slots = (space.bytes() / len).max(1);
    Ask::read(space.region.start + io.rng.below(slots) * len, len)
}

/// Writes with pauses, and reads all the time. Keeps the slowest read after each write as a sample.
fn paced(io: &mut Io<'_>, space: &Space, size: u64) -> Result<(), Stop> {
    let len = space.round_up(size);
    let slots = (space.bytes() / len).max(1);
    let end = io.now() + thinned(space, TIME);
    let mut rep = 0;
    while io.now() < end {
        let write = Ask::write(space.region.start + io.rng.below(slots) * len, len);
        let reads: Vec<Ask> = (0..BESIDE).map(|_| read(io, space)).collect();
        let served = io.serve_beside(write, &reads)?;
        let next = served.first().map_or(io.now(), |write| write.to) + PAUSE;
        let mut slowest = served
            .get(1..)
            .unwrap_or_default()
            .iter()
            .copied()
            .max_by_key(|one| one.took());
        while io.now() < next {
            let ask = read(io, space);
            let more = io.serve(&[ask], 1)?;
            slowest = slowest.into_iter().chain(more).max_by_key(|one| one.took());
        }
        if let Some(one) = slowest {
            io.sample_served(SLOWEST, size, rep, &one);
        }
        rep += 1;
    }
    Ok(())
}

/// Returns the most common interval between slow reads, in writes: at least two; the first one is left out. Of equally
/// common ones, the one that was the first to be so common.
fn interval(slowest: &[f64], slow: std::ops::Range<f64>) -> Option<u64> {
    let at: Vec<usize> = (0..slowest.len())
        .filter(|i| slow.contains(&slowest[*i]))
        .collect();
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    let mut most = (0, 0);
    for pair in at.windows(2).skip(1) {
        let interval = pair[1] - pair[0];
        if interval >= 2 {
            let count = counts.entry(interval).or_default();
            *count += 1;
            if *count > 1 && *count > most.1 {
                most = (interval, *count);
            }
        }
    }
    (most.1 > 0).then_some(most.0 as u64)
}

#[cfg(test)]
mod tests {
    use super::interval;

    fn of(slow: &[usize]) -> Option<u64> {
        let times: Vec<f64> = (0..200)
            .map(|i| if slow.contains(&i) { 300.0 } else { 100.0 })
            .collect();
        interval(&times, 200.0..20_000.0)
    }

    #[test]
    fn the_most_common_interval_is_the_buffer() {
        assert_eq!(of(&[5, 37, 69, 101, 133]), Some(32));
        // Slow reads one write apart are one flush.
        assert_eq!(of(&[5, 37, 38, 69, 70, 101, 102]), Some(31));
        // With jitter no interval comes again.
        assert_eq!(of(&[5, 37, 71, 100, 135, 165]), None);
        assert_eq!(of(&[]), None);
        // A collection is none.
        assert_eq!(
            interval(&[100.0, 1e6, 100.0, 1e6, 100.0, 1e6], 200.0..20_000.0),
            None
        );
    }
}

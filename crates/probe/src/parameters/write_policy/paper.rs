//! Tests whether the memory for writes is a FIFO buffer or a cache (`parameter-aware-io` 4.3): "our test issues two writes
//! to the same logical address, and the second one may hit in the DRAM, if the first write is still in the DRAM".
//!
//! The paper prints no procedure. Ours combines its words with Procedure 6: a flush; 16 MB of garbage, so that a write must
//! wait for room; the first write; other writes in between; and the second write, which is timed. For comparison the same is
//! done with the second write at a fresh address. By the paper's reading, memory that "hits only when the second one is
//! issued immediately after the first one without any other writes between them" is a buffer. A FIFO that serves rewrites
//! from anywhere within it therefore passes for a cache.

use crate::paper::rules::BELOW_SHARE;
use crate::paper::write_init;
use crate::{Answers, Estimate, Io, Parameter, Probe, Record, Series, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::WritePolicy;

/// The bytes of one write. This constant and the next are not the paper's, but within the range of Procedure 6.
const WRITE: u64 = 4 << 10;
/// The most bytes written in between. The gaps grow from one write by factors of four.
const BETWEEN_MAX: u64 = 16 << 20;
/// The number of repetitions, as in Procedure 6.
const ITERATIONS: u32 = 30;

/// The test of section 4.3.
pub(crate) struct WritePolicy;

fn write_bytes(space: &Space) -> u64 {
    WRITE.max(space.block_bytes)
}

fn gaps(space: &Space) -> Vec<u64> {
    let slot = space.write_slot(2);
    let most = BETWEEN_MAX.min(slot.end - slot.start);
    let gaps = std::iter::successors(Some(write_bytes(space)), |gap| gap.checked_mul(4));
    let gaps = gaps.take_while(|gap| *gap <= most);
    std::iter::once(0).chain(gaps).collect()
}

/// Makes two writes with `gap` bytes of others in between. The second, which is timed, goes to `second`.
fn pair(io: &mut Io<'_>, space: &Space, gap: u64, second: u64) -> Result<(), Stop> {
    let len = write_bytes(space);
    let (target, garbage) = (space.write_slot(0), space.write_slot(1));
    io.flush()?;
    io.write(garbage.start, garbage.end - garbage.start)?;
    io.write(target.start, len)?;
    let between = space.write_slot(2).start;
    for written in (0..gap).step_by(len as usize) {
        io.write(between + written, len.min(gap - written))?;
    }
    io.write(second, len)?;
    Ok(())
}

impl Probe for WritePolicy {
    fn bound(&self, space: &Space) -> u64 {
        let garbage = space.write_slot(1);
        let fixed = garbage.end - garbage.start + 2 * write_bytes(space);
        let pairs = gaps(space).into_iter().map(|gap| fixed + gap);
        let per_iteration = 2 * pairs.sum::<u64>();
        u64::from(space.repetitions(ITERATIONS))
            .saturating_mul(per_iteration)
            .saturating_add(space.bytes())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let target = space.write_slot(0);
        let half = (target.end - target.start) / 2;
        let fresh = target.start + half / space.block_bytes * space.block_bytes;
        write_init(session, PARAMETER, "init")?;
        for gap in gaps(&space) {
            session.step(PARAMETER, &format!("between {gap}"), |io| {
                for rep in 0..space.repetitions(ITERATIONS) {
                    pair(io, &space, gap, target.start)?;
                    io.sample(Series::REWRITE, gap, rep);
                    pair(io, &space, gap, fresh)?;
                    io.sample(Series::DISTINCT, gap, rep);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// In our mechanical reading, a hit is a mean that is much shorter than at the fresh address.
    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let hits = hits(record);
        let farthest = hits
            .iter()
            .filter(|(_, hit)| *hit)
            .map(|(gap, _)| *gap)
            .max();
        match farthest {
            Some(0) => Estimate::identified(
                Value::Word("buffer".to_owned()),
                "a second write hits only when it comes at once".to_owned(),
            ),
            Some(gap) => Estimate::identified(
                Value::Word("cache".to_owned()),
                format!("a second write still hits after {gap} bytes of others"),
            )
            .figure("hit_after_bytes", gap as f64),
            None => Estimate::inconclusive("a second write hits not even when it comes at once"),
        }
    }
}

/// Returns the bytes written in between, and whether the second write hit.
fn hits(record: &Record) -> Vec<(u64, bool)> {
    // Each sample holds one write, whatever its `x`.
    let mean = |series, gap| {
        let samples = record.series(PARAMETER, series).filter(|s| s.x == gap);
        let (sum, count) = samples.fold((0.0, 0.0), |(sum, count), s| {
            (sum + s.ns as f64, count + 1.0)
        });
        sum / count
    };
    let mut gaps: Vec<u64> = record
        .series(PARAMETER, Series::REWRITE)
        .map(|s| s.x)
        .collect();
    gaps.sort_unstable();
    gaps.dedup();
    let hit = |gap| mean(Series::REWRITE, gap) < BELOW_SHARE * mean(Series::DISTINCT, gap);
    gaps.into_iter().map(|gap| (gap, hit(gap))).collect()
}

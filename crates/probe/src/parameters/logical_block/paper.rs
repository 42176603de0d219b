//! The logical block (`greedy-space` IV.A, `irbw` 4.1): compares sequential with random writes of doubling size until "the
//! whole numbers of the reported numbers are the same". Random writes do not overlap, "so that all 1GB is written to".
//! Nothing is flushed and nothing is prepared.

use crate::paper::rules::equal_whole_mb_per_s;
use crate::paper::{rates, timed_writes};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::LogicalBlock;

/// The bytes written per curve and size: "all log blocks managed by the FTL are safely consumed".
const TOTAL: u64 = 1 << 30;
/// The size of the first request, in bytes.
const FIRST: u64 = 8 << 10;
/// The size of the largest request, in bytes. The paper goes on until the throughputs meet, without a limit.
const LARGEST: u64 = 128 << 20;

/// The experiment of `greedy-space` IV.A.
pub(crate) struct LogicalBlock;

fn sizes(space: &Space) -> Vec<u64> {
    let total = space.total(TOTAL);
    space.doubling(FIRST, LARGEST, total)
}

impl Probe for LogicalBlock {
    fn bound(&self, space: &Space) -> u64 {
        let curves = 2 * sizes(space).len() as u64;
        curves.saturating_mul(space.total(TOTAL))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let total = space.total(TOTAL);
        for size in sizes(&space) {
            let offsets: Vec<u64> = (0..total / size)
                .map(|i| space.consecutive(i, size))
                .collect();
            session.step(PARAMETER, &format!("sequential {size}"), |io| {
                timed_writes(io, Series::SEQUENTIAL, size, &offsets, false)
            })?;
            session.step(PARAMETER, &format!("random {size}"), |io| {
                let mut shuffled = offsets;
                io.rng.shuffle(&mut shuffled);
                timed_writes(io, Series::RANDOM, size, &shuffled, false)
            })?;
            if equal_whole_mb_per_s(&rates(session.record(), PARAMETER)).is_some() {
                break;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let rates = rates(record, PARAMETER);
        let estimate = match equal_whole_mb_per_s(&rates) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!(
                    "at {bytes} bytes random and sequential writes have the same whole number of MB/s"
                ),
            ),
            None => {
                Estimate::inconclusive("random and sequential writes differ in MB/s at every size")
            }
        };
        estimate.figure("sizes", rates.len() as f64)
    }
}

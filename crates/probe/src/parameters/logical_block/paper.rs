//! The logical block (`greedy-space` IV.A, `irbw` 4.1): sequential against random writes of doubling size until
//! "the whole numbers of the reported numbers are the same". Random writes do not overlap, "so that all 1GB is
//! written to"; nothing is flushed and nothing prepared.

use crate::paper::rules::equal_whole_mb_per_s;
use crate::paper::{rates, timed_writes};
use crate::parameters::Parameter;
use crate::probe::{Answers, Probe};
use crate::profile::{Estimate, Verdict};
use crate::record::Record;
use crate::series::Series;
use crate::session::{Session, Stop};
use crate::space::Space;
use crate::value::Value;

const PARAMETER: Parameter = Parameter::LogicalBlock;

/// The experiment and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogicalBlock {
    /// Written per curve and size, in bytes: "all log blocks managed by the FTL are safely consumed".
    total_bytes: u64,
    /// The first request, in bytes.
    first_bytes: u64,
    /// The largest request, in bytes; the paper goes on until the throughputs meet, however long.
    largest_bytes: u64,
}

impl LogicalBlock {
    /// The values that the paper gives.
    pub(crate) const PRINTED: Self = Self {
        total_bytes: 1 << 30,
        first_bytes: 8 << 10,
        largest_bytes: 128 << 20,
    };

    fn sizes(&self, space: &Space) -> Vec<u64> {
        let total = space.total(self.total_bytes);
        space.doubling(self.first_bytes, self.largest_bytes, total)
    }
}

impl Probe for LogicalBlock {
    fn bound(&self, space: &Space) -> u64 {
        let curves = 2 * self.sizes(space).len() as u64;
        curves.saturating_mul(space.total(self.total_bytes))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let total = space.total(self.total_bytes);
        for size in self.sizes(&space) {
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
            None => Estimate::without_value(
                Verdict::Inconclusive,
                "random and sequential writes differ in MB/s at every size",
            ),
        };
        estimate.figure("sizes", rates.len() as f64)
    }
}

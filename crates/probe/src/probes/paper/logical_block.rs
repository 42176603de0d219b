//! The logical block (`greedy-space` IV.A, `irbw` 4.1): sequential against random writes of doubling size until
//! "the whole numbers of the reported numbers are the same". Random writes do not overlap, "so that all 1GB is
//! written to"; nothing is flushed and nothing prepared.

use super::{found, nothing, rates, timed_writes};
use crate::probes::paper::rules::equal_whole_mb_per_s;
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};

const PARAMETER: Parameter = Parameter::LogicalBlock;

/// The experiment and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalBlock {
    /// Written per curve and size, in bytes: "all log blocks managed by the FTL are safely consumed".
    pub total_bytes: u64,
    /// The first request, in bytes.
    pub first_bytes: u64,
    /// The largest request, in bytes; the paper goes on until the throughputs meet, however long.
    pub largest_bytes: u64,
}

impl LogicalBlock {
    /// The values that the paper gives.
    pub const PRINTED: Self = Self {
        total_bytes: 1 << 30,
        first_bytes: 8 << 10,
        largest_bytes: 128 << 20,
    };

    fn sizes(&self, space: &Space) -> Vec<u64> {
        let total = space.total(self.total_bytes);
        space.doubling(self.first_bytes, self.largest_bytes, total)
    }
}

impl Default for LogicalBlock {
    fn default() -> Self {
        Self::PRINTED
    }
}

impl Probe for LogicalBlock {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: true,
            prepared: false,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        let curves = 2 * self.sizes(space).len() as u64;
        curves.saturating_mul(space.total(self.total_bytes))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let total = space.total(self.total_bytes);
        for size in self.sizes(&space) {
            let offsets: Vec<u64> = (0..total / size)
                .map(|i| space.consecutive(i, size))
                .collect();
            session.step(PARAMETER, &format!("sequential {size}"), |io| {
                timed_writes(io, (Series::Sequential, size), &offsets, false)
            })?;
            session.step(PARAMETER, &format!("random {size}"), |io| {
                let mut shuffled = offsets;
                io.rng.shuffle(&mut shuffled);
                timed_writes(io, (Series::Random, size), &shuffled, false)
            })?;
            if equal_whole_mb_per_s(&rates(session.record(), PARAMETER)).is_some() {
                break;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record) -> Estimate {
        let rates = rates(record, PARAMETER);
        let estimate = match equal_whole_mb_per_s(&rates) {
            Some(bytes) => found(
                PARAMETER,
                Value::Bytes(bytes),
                format!(
                    "at {bytes} bytes random and sequential writes have the same whole number of MB/s"
                ),
            ),
            None => nothing(
                PARAMETER,
                Verdict::Inconclusive,
                "random and sequential writes differ in MB/s at every size",
            ),
        };
        estimate.figure("sizes", rates.len() as f64)
    }
}

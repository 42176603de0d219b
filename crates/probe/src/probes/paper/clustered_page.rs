//! Procedure 1, ProbeClusteredPage (`parameter-aware-io` 4.2.3): flushed writes of growing size from offset 0; the
//! latency falls where the size is a multiple of the clustered page.

use super::{found, means, nothing, timed_writes, write_init};
use crate::probes::paper::rules::{DROP_SHARE, commonest_drop_distance};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};

const PARAMETER: Parameter = Parameter::ClusteredPage;

/// Procedure 1 and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusteredPage {
    /// `TSW`: where the size stops growing, in bytes.
    pub total_bytes: u64,
    /// `ISW`: by how much it grows, in bytes.
    pub increment_bytes: u64,
    /// `NI`: writes per size, one behind the other from offset 0.
    pub iterations: u32,
}

impl ClusteredPage {
    /// The values that the paper gives.
    pub const PRINTED: Self = Self {
        total_bytes: 1_024 << 10,
        increment_bytes: 2 << 10,
        iterations: 64,
    };

    fn sizes(&self, space: &Space) -> Vec<u64> {
        space.sizes(self.total_bytes, self.increment_bytes, space.bytes())
    }
}

impl Default for ClusteredPage {
    fn default() -> Self {
        Self::PRINTED
    }
}

impl Probe for ClusteredPage {
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
        let per_size = u64::from(space.repetitions(self.iterations));
        let sum: u64 = self.sizes(space).iter().sum();
        sum.saturating_mul(per_size).saturating_add(space.bytes())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let iterations = u64::from(space.repetitions(self.iterations));
        write_init(session, PARAMETER, "init")?;
        for size in self.sizes(&space) {
            let offsets: Vec<u64> = (0..iterations)
                .map(|i| space.consecutive(i, size))
                .collect();
            session.step(PARAMETER, &format!("sweep {size}"), |io| {
                timed_writes(io, (Series::Sweep, size), &offsets, true)
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record) -> Estimate {
        let points = means(record, PARAMETER, Series::Sweep);
        let estimate = match commonest_drop_distance(&points, DROP_SHARE) {
            Some(bytes) => found(
                PARAMETER,
                Value::Bytes(bytes),
                format!("the latency drops most often {bytes} bytes after the drop before"),
            ),
            None => nothing(
                PARAMETER,
                Verdict::Inconclusive,
                "the latency drops at no size",
            ),
        };
        estimate.figure("sizes", points.len() as f64)
    }
}

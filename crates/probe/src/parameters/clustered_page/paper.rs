//! Procedure 1, ProbeClusteredPage (`parameter-aware-io` 4.2.3): flushed writes of growing size from offset 0; the
//! latency falls where the size is a multiple of the clustered page.

use crate::paper::rules::{DROP_SHARE, commonest_drop_distance};
use crate::paper::{means, timed_writes, write_init};
use crate::parameters::Parameter;
use crate::probe::{Answers, Probe};
use crate::profile::{Estimate, Verdict};
use crate::record::Record;
use crate::series::Series;
use crate::session::{Session, Stop};
use crate::space::Space;
use crate::value::Value;

const PARAMETER: Parameter = Parameter::ClusteredPage;

/// Procedure 1 and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusteredPage {
    /// `TSW`: where the size stops growing, in bytes.
    total_bytes: u64,
    /// `ISW`: by how much it grows, in bytes.
    increment_bytes: u64,
    /// `NI`: writes per size, one behind the other from offset 0.
    iterations: u32,
}

impl ClusteredPage {
    /// The values that the paper gives.
    pub(crate) const PRINTED: Self = Self {
        total_bytes: 1_024 << 10,
        increment_bytes: 2 << 10,
        iterations: 64,
    };

    fn sizes(&self, space: &Space) -> Vec<u64> {
        space.sizes(self.total_bytes, self.increment_bytes, space.bytes())
    }
}

impl Probe for ClusteredPage {
    fn bound(&self, space: &Space) -> u64 {
        let per_size = u64::from(space.repetitions(self.iterations));
        let sum: u64 = self.sizes(space).iter().sum();
        sum.saturating_mul(per_size).saturating_add(space.bytes())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let iterations = u64::from(space.repetitions(self.iterations));
        write_init(session, PARAMETER, "init")?;
        for size in self.sizes(&space) {
            let offsets: Vec<u64> = (0..iterations)
                .map(|i| space.consecutive(i, size))
                .collect();
            session.step(PARAMETER, &format!("sweep {size}"), |io| {
                timed_writes(io, Series::SWEEP, size, &offsets, true)
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let points = means(record, PARAMETER, Series::SWEEP);
        let estimate = match commonest_drop_distance(&points, DROP_SHARE) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!("the latency drops most often {bytes} bytes after the drop before"),
            ),
            None => Estimate::without_value(Verdict::Inconclusive, "the latency drops at no size"),
        };
        estimate.figure("sizes", points.len() as f64)
    }
}

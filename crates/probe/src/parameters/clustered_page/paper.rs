//! Procedure 1, ProbeClusteredPage (`parameter-aware-io` 4.2.3): flushed writes of growing size from offset 0. The latency
//! drops at sizes that are multiples of the clustered page.

use crate::paper::rules::{DROP_SHARE, commonest_drop_distance};
use crate::paper::{means, timed_writes, write_init};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::ClusteredPage;

/// `TSW`: the size at which growth stops, in bytes.
const TOTAL: u64 = 1_024 << 10;
/// `ISW`: the increment of the size, in bytes.
const INCREMENT: u64 = 2 << 10;
/// `NI`: the number of writes per size, consecutive from offset 0.
const ITERATIONS: u32 = 64;

/// Procedure 1.
pub(crate) struct ClusteredPage;

fn sizes(space: &Space) -> Vec<u64> {
    space.sizes(TOTAL, INCREMENT, space.bytes())
}

impl Probe for ClusteredPage {
    fn bound(&self, space: &Space) -> u64 {
        let per_size = u64::from(space.repetitions(ITERATIONS));
        let sum: u64 = sizes(space).iter().sum();
        sum.saturating_mul(per_size).saturating_add(space.bytes())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let iterations = u64::from(space.repetitions(ITERATIONS));
        write_init(session, PARAMETER, "init")?;
        for size in sizes(&space) {
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
            None => Estimate::inconclusive("the latency drops at no size"),
        };
        estimate.figure("sizes", points.len() as f64)
    }
}

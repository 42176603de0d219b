//! Procedures 5 and 6, ProbeWriteBuffer and ProbeNANDWriteLatency (`parameter-aware-io` 4.2.6): compare a write into a
//! flushed buffer with one into a buffer full of garbage.

use crate::paper::rules::{BELOW_SHARE, largest_buffered};
use crate::paper::{buffer_pairs, write_init};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::WriteBuffer;

/// `TSW`: the size at which growth stops, in bytes.
const TOTAL: u64 = 1_024 << 10;
/// `ISW`: the increment of the size, in bytes.
const INCREMENT: u64 = 1 << 10;
/// `NI`: the number of writes per size.
const ITERATIONS: u32 = 30;

/// Procedures 5 and 6.
pub(crate) struct WriteBuffer;

fn sizes(space: &Space) -> Vec<u64> {
    let slot = space.write_slot(0);
    space.sizes(TOTAL, INCREMENT, slot.end - slot.start)
}

/// Runs one procedure: Procedure 6 fills the buffer with garbage first (`full`), Procedure 5 does not.
fn procedure(session: &mut Session<'_>, series: Series, full: bool) -> Result<(), Stop> {
    let space = session.space();
    let (target, garbage) = (space.write_slot(0), space.write_slot(1));
    let iterations = space.repetitions(ITERATIONS);
    let name = if full { "full" } else { "empty" };
    write_init(session, PARAMETER, &format!("{name} init"))?;
    for size in sizes(&space) {
        session.step(PARAMETER, &format!("{name} {size}"), |io| {
            for rep in 0..iterations {
                io.flush()?;
                if full {
                    io.write(garbage.start, garbage.end - garbage.start)?;
                }
                io.write(target.start, size)?;
                io.sample(series, size, rep);
            }
            Ok(())
        })?;
    }
    Ok(())
}

impl Probe for WriteBuffer {
    fn bound(&self, space: &Space) -> u64 {
        let sizes = sizes(space);
        let slot = space.write_slot(1);
        let garbage = sizes.len() as u64 * (slot.end - slot.start);
        let per_iteration = garbage + 2 * sizes.iter().sum::<u64>();
        u64::from(space.repetitions(ITERATIONS))
            .saturating_mul(per_iteration)
            .saturating_add(space.bytes().saturating_mul(2))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        procedure(session, Series::EMPTY_BUFFER, false)?;
        procedure(session, Series::FULL_BUFFER, true)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let pairs = buffer_pairs(
            record,
            PARAMETER,
            [Series::EMPTY_BUFFER, Series::FULL_BUFFER],
        );
        let estimate = match largest_buffered(&pairs, BELOW_SHARE) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!("up to {bytes} bytes a write into the empty buffer is much shorter"),
            ),
            // As for SSD-D: "we could not draw any conclusion".
            None => Estimate::inconclusive(
                "a write into the empty buffer is not much shorter at the smallest size",
            ),
        };
        estimate.figure("sizes", pairs.len() as f64)
    }
}

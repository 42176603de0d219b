//! Procedures 3 and 4, ProbeReadBuffer and ProbeNANDReadLatency (`parameter-aware-io` 4.2.5): a read at once again
//! against a read after garbage; the second is slower as long as the first fits the read buffer.

use crate::paper::rules::{BELOW_SHARE, BufferPair, largest_buffered};
use crate::paper::{buffer_pairs, read_garbage, write_init};
use crate::parameters::Parameter;
use crate::probe::{Answers, Probe};
use crate::profile::{Estimate, Verdict};
use crate::record::Record;
use crate::series::Series;
use crate::session::{Session, Stop};
use crate::space::Space;
use crate::value::Value;

const PARAMETER: Parameter = Parameter::ReadBuffer;

/// Procedures 3 and 4 and their inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadBuffer {
    /// `TSR`: where the size stops growing, in bytes.
    total_bytes: u64,
    /// `ISR`: by how much it grows, in bytes.
    increment_bytes: u64,
}

impl ReadBuffer {
    /// The values that the paper gives.
    pub(crate) const PRINTED: Self = Self {
        total_bytes: 1_024 << 10,
        increment_bytes: 1 << 10,
    };

    /// One procedure: the third reads every location before it measures (`again`), the fourth does not.
    fn procedure(
        &self,
        session: &mut Session<'_>,
        series: Series,
        again: bool,
    ) -> Result<(), Stop> {
        let space = session.space();
        let places = space.read_places();
        let name = if again { "hit" } else { "miss" };
        write_init(session, PARAMETER, &format!("{name} init"))?;
        for size in space.sizes(self.total_bytes, self.increment_bytes, places.slot_bytes) {
            session.step(PARAMETER, &format!("{name} {size}"), |io| {
                read_garbage(io, &places)?;
                let slot = io.rng.below(places.target_slots);
                let offset = places.target_start + slot * places.slot_bytes;
                if again {
                    io.read(offset, size)?;
                }
                io.read(offset, size)?;
                io.sample(series, size, 0);
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Probe for ReadBuffer {
    fn bound(&self, space: &Space) -> u64 {
        space.bytes().saturating_mul(2)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        self.procedure(session, Series::HIT, true)?;
        self.procedure(session, Series::MISS, false)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let pairs = buffer_pairs(record, PARAMETER, [Series::HIT, Series::MISS]);
        let estimate = match largest_buffered(&pairs, BELOW_SHARE) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!("up to {bytes} bytes a read at once again is much shorter"),
            ),
            // As for SSD-B: "exactly the same behavior".
            None if !pairs.is_empty() && !pairs.iter().any(is_shorter) => Estimate::without_value(
                Verdict::Absent,
                "a read at once again is much shorter at no size",
            ),
            None => Estimate::without_value(
                Verdict::Inconclusive,
                "a read at once again is not much shorter at the smallest size, but at others",
            ),
        };
        estimate.figure("sizes", pairs.len() as f64)
    }
}

fn is_shorter(pair: &BufferPair) -> bool {
    pair.buffer_ns < BELOW_SHARE * pair.nand_ns
}

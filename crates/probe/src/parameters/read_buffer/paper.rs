//! Procedures 3 and 4, ProbeReadBuffer and ProbeNANDReadLatency (`parameter-aware-io` 4.2.5): compare a read that is
//! repeated at once with a read after garbage; the second is slower as long as the first fits in the read buffer.

use crate::paper::rules::{BELOW_SHARE, BufferPair, largest_buffered};
use crate::paper::{Reads, TwoReads, buffer_pairs};
use crate::{Estimate, Parameter, Record, Series, Value};

const PARAMETER: Parameter = Parameter::ReadBuffer;

/// Procedures 3 and 4.
pub(crate) const READ_BUFFER: TwoReads = TwoReads {
    parameter: PARAMETER,
    reads: [
        Reads {
            name: "hit",
            series: Series::HIT,
            again: true,
            fixed: false,
        },
        Reads {
            name: "miss",
            series: Series::MISS,
            again: false,
            fixed: false,
        },
    ],
    solve,
};

fn solve(record: &Record) -> Estimate {
    let pairs = buffer_pairs(record, PARAMETER, [Series::HIT, Series::MISS]);
    let estimate = match largest_buffered(&pairs, BELOW_SHARE) {
        Some(bytes) => Estimate::identified(
            Value::Bytes(bytes),
            format!("up to {bytes} bytes a read at once again is much shorter"),
        ),
        // As for SSD-B: "exactly the same behavior".
        None if !pairs.is_empty() && !pairs.iter().any(is_shorter) => {
            Estimate::absent("a read at once again is much shorter at no size")
        }
        None => Estimate::inconclusive(
            "a read at once again is not much shorter at the smallest size, but at others",
        ),
    };
    estimate.figure("sizes", pairs.len() as f64)
}

fn is_shorter(pair: &BufferPair) -> bool {
    pair.buffer_ns < BELOW_SHARE * pair.nand_ns
}

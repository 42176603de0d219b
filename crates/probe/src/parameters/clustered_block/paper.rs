//! Procedure 2, ProbeClusteredBlock (`parameter-aware-io` 4.2.4): compares sequential with random flushed writes of doubling
//! size. Their throughputs meet at the clustered block.
//!
//! The loop doubles `NP` before it uses it, so the first size is four clustered pages, as printed. Random positions may
//! repeat (`rand() % NI`).

use crate::paper::rules::{DROP_SHARE, RatePair};
use crate::paper::{rates, timed_writes};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// `TSW`: the bytes written per curve and size.
const TOTAL: u64 = 8 << 30;
/// The size of the largest request, in bytes ("increasing the request size up to 128 MB").
const LARGEST: u64 = 128 << 20;
/// `NP`: half the number of clustered pages in the first request.
const INITIAL_PAGES: u64 = 2;
/// `SP` if the clustered page is not known, in bytes: the value that the paper used for SSD-C, which shows none.
const PAGE: u64 = 4 << 10;

/// Procedure 2. `SP` is the answer of the clustered page.
pub(crate) struct ClusteredBlock;

fn sizes(space: &Space, page_bytes: u64) -> Vec<u64> {
    let first = INITIAL_PAGES.saturating_mul(2 * page_bytes);
    let total = space.total(TOTAL);
    space.doubling(first, LARGEST, total)
}

impl Probe for ClusteredBlock {
    /// Assumes as many sizes as there are for the smallest page that could be found.
    fn bound(&self, space: &Space) -> u64 {
        let sizes = sizes(space, space.block_bytes).len() as u64;
        let per_curve = space.bytes().saturating_add(space.total(TOTAL));
        sizes.saturating_mul(2).saturating_mul(per_curve)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let page = session.known(Parameter::ClusteredPage);
        let page = page.and_then(|estimate| estimate.value.as_ref()?.bytes());
        let total = space.total(TOTAL);
        for size in sizes(&space, page.unwrap_or(PAGE)) {
            let count = total / size;
            session.step(PARAMETER, &format!("sequential {size}"), |io| {
                io.fill_sequential(io.region())?;
                let offsets: Vec<u64> = (0..count).map(|i| space.consecutive(i, size)).collect();
                timed_writes(io, Series::SEQUENTIAL, size, &offsets, true)
            })?;
            session.step(PARAMETER, &format!("random {size}"), |io| {
                io.fill_sequential(io.region())?;
                let offsets: Vec<u64> = (0..count)
                    .map(|_| space.consecutive(io.rng.below(count), size))
                    .collect();
                timed_writes(io, Series::RANDOM, size, &offsets, true)
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let rates = rates(record, PARAMETER);
        let estimate = match first_equal(&rates) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!("random writes of {bytes} bytes are as fast as sequential ones"),
            ),
            None => Estimate::inconclusive(
                "random writes are slower than sequential ones at every size",
            ),
        };
        estimate.figure("sizes", rates.len() as f64)
    }
}

/// "Virtually no difference in the bandwidth": in our mechanical reading, the first size at which random writes fall short
/// of sequential ones by no more than what counts as a drop.
fn first_equal(rates: &[RatePair]) -> Option<u64> {
    rates
        .iter()
        .find(|r| r.random_bytes_per_s >= (1.0 - DROP_SHARE) * r.sequential_bytes_per_s)
        .map(|r| r.x_bytes)
}

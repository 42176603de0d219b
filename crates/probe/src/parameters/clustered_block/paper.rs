//! Procedure 2, ProbeClusteredBlock (`parameter-aware-io` 4.2.4): sequential against random writes of doubling size,
//! flushed; they meet at the clustered block.
//!
//! The loop doubles `NP` before it uses it, so that the first size is four clustered pages, as printed. Random
//! positions repeat (`rand() % NI`).

use crate::paper::rules::{DROP_SHARE, RatePair};
use crate::paper::{rates, timed_writes};
use crate::parameters::Parameter;
use crate::probe::{Answers, Probe};
use crate::profile::{Estimate, Verdict};
use crate::record::Record;
use crate::series::Series;
use crate::session::{Session, Stop};
use crate::space::Space;
use crate::value::Value;

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// Procedure 2 and its inputs. `SP` is the answer to the clustered page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusteredBlock {
    /// `TSW`: written per curve and size, in bytes.
    total_bytes: u64,
    /// The largest request, in bytes ("increasing the request size up to 128 MB").
    largest_bytes: u64,
    /// `NP`: half the clustered pages of the first request.
    initial_pages: u64,
    /// `SP` where the clustered page is not known, in bytes; what the paper took for SSD-C, which shows none.
    page_bytes: u64,
}

impl ClusteredBlock {
    /// The values that the paper gives.
    pub(crate) const PRINTED: Self = Self {
        total_bytes: 8 << 30,
        largest_bytes: 128 << 20,
        initial_pages: 2,
        page_bytes: 4 << 10,
    };

    fn sizes(&self, space: &Space, page_bytes: u64) -> Vec<u64> {
        let first = self.initial_pages.saturating_mul(2 * page_bytes);
        let total = space.total(self.total_bytes);
        space.doubling(first, self.largest_bytes, total)
    }
}

impl Probe for ClusteredBlock {
    /// As many sizes as there are for the smallest page that could be found.
    fn bound(&self, space: &Space) -> u64 {
        let sizes = self.sizes(space, space.block_bytes).len() as u64;
        let per_curve = space.bytes().saturating_add(space.total(self.total_bytes));
        sizes.saturating_mul(2).saturating_mul(per_curve)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let page = session.known(Parameter::ClusteredPage);
        let page = page.and_then(|estimate| estimate.value.as_ref()?.bytes());
        let total = space.total(self.total_bytes);
        for size in self.sizes(&space, page.unwrap_or(self.page_bytes)) {
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
            None => Estimate::without_value(
                Verdict::Inconclusive,
                "random writes are slower than sequential ones at every size",
            ),
        };
        estimate.figure("sizes", rates.len() as f64)
    }
}

/// "Virtually no difference in the bandwidth": our mechanical reading, the first size at which random writes fall
/// short of sequential ones by no more than what counts as a drop.
fn first_equal(rates: &[RatePair]) -> Option<u64> {
    rates
        .iter()
        .find(|r| r.random_bytes_per_s >= (1.0 - DROP_SHARE) * r.sequential_bytes_per_s)
        .map(|r| r.x_bytes)
}

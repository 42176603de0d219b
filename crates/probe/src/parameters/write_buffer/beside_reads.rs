//! Small writes beside reads: what answers a write sooner than the flash answers a read is memory.

use super::filling::Pass;
use super::steps::Kind;
use crate::robust::samples::{at, times};
use crate::robust::size::size;
use crate::{Estimate, Parameter, Record, Series};
use fathom_stats::location::{median, quantile};

const PARAMETER: Parameter = Parameter::WriteBuffer;
/// The share of the fastest writes that are compared with reads from the flash.
const FASTEST: f64 = 0.05;
/// The share of the time of a read below which a write was not made in the flash. A disk in memory is near 1.
const SOONER: f64 = 0.8;

/// Returns the time of the fastest writes of the first pass over that of reads of a block from the flash; `None` before both were
/// measured.
pub(super) fn ratio(record: &Record, first: &Pass, block_bytes: u64) -> Option<f64> {
    let writes = times(record, PARAMETER, &Kind::Wide.name(first), Series::FILLING);
    let reads = at(record, PARAMETER, Series::RANDOM_READ, block_bytes);
    Some(quantile(&writes, FASTEST)? / median(&reads)?)
}

/// Returns the answer where a flush costs nothing and no write waits up to a size, in bytes, by that ratio.
pub(super) fn without_wait(ratio: Option<f64>, tried: u64) -> Estimate {
    let tried = size(tried);
    match ratio.is_some_and(|ratio| ratio < SOONER) {
        true => Estimate::not_identifiable(format!(
            "small writes are answered sooner than reads of the flash, so that memory takes them, but up to {tried} none waits: \
             the flash is as fast as they come, or memory is larger"
        )),
        false => Estimate::absent(format!(
            "a flush after a write costs no more than one of nothing, and up to {tried} no write waits longer than those \
             before it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn only_what_is_as_slow_as_the_flash_has_no_memory() {
        let verdict = |ratio| without_wait(ratio, 128 << 20).verdict;
        assert_eq!(verdict(Some(0.5)), Verdict::NotIdentifiable);
        assert_eq!(verdict(Some(0.95)), Verdict::Absent);
        assert_eq!(verdict(None), Verdict::Absent);
    }
}

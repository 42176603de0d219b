//! Writes beside reads: what answers a small write sooner than the flash answers a read is memory, and what holds back reads
//! as well is none.

use super::filling::{Pass, READ_INSTEAD, request_bytes};
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
/// By how many times reads take longer than lone ones that a limit holds back.
const HELD: f64 = 2.0;

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

/// Returns true if the reads of a pass take longer than as many lone reads: where emptying memory takes no time, a limit holds back
/// all of them, from the first one on.
pub(super) fn held(record: &Record, pass: &Pass, block_bytes: u64) -> bool {
    let reads = times(record, PARAMETER, &Kind::Read.name(pass), READ_INSTEAD);
    let alone = at(record, PARAMETER, Series::RANDOM_READ, block_bytes);
    let requests = pass.piece.div_ceil(request_bytes(block_bytes));
    let longer = |reads, alone| reads > HELD * requests as f64 * alone;
    (median(&reads).zip(median(&alone))).is_some_and(|(reads, alone)| longer(reads, alone))
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

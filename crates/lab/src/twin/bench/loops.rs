//! The loops of reads and writes of a record, which candidates repeat.

use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_probe::Parameter;
use std::collections::BTreeMap;

/// A loop of the record: its depth, its requests, and the lengths of its reads and writes, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) depth: u64,
    pub(super) count: u64,
    pub(super) read: u64,
    pub(super) write: u64,
}

/// Returns the loops of a record.
pub(super) fn loops(seen: &Seen<'_>) -> Vec<Load> {
    let mut loops = BTreeMap::<u64, Load>::new();
    for (series, reads) in [(series::LOAD_READ, true), (series::LOAD_WRITE, false)] {
        for sample in seen.series(Parameter::FastCache, series) {
            let one = loops.entry(sample.x).or_default();
            (one.depth, one.count) = (sample.x, one.count + 1);
            let len = if reads { &mut one.read } else { &mut one.write };
            *len = sample.bytes;
        }
    }
    loops
        .into_values()
        .filter(|one| one.read > 0 && one.write > 0)
        .collect()
}

/// Returns the bytes of the last tenth of the drive, which is written just before the loops.
pub(super) fn last(seen: &Seen<'_>) -> u64 {
    let pieces = seen.series(Parameter::FastCache, series::NEARLY).iter();
    pieces.map(|sample| sample.bytes).sum()
}

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

/// Returns where the parts of the drive begin that are filled last before the loops, each after a pause, as shares of it. Zeros if
/// they were not.
pub(super) fn parts(seen: &Seen<'_>) -> [f64; 2] {
    let bytes = |series| {
        let pieces = seen.series(Parameter::FastCache, series).iter();
        pieces.map(|sample| sample.bytes).sum::<u64>() as f64
    };
    let [half, nearly] = [series::HALF, series::NEARLY].map(bytes);
    let whole = seen.record.meta.target.capacity_bytes as f64;
    if half == 0.0 || nearly == 0.0 || half + nearly > whole {
        return [0.0; 2];
    }
    [1.0 - (half + nearly) / whole, 1.0 - nearly / whole]
}

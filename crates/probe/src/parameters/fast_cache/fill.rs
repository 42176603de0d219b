//! The fill in sequence that rules in use elsewhere look at: an empty drive, written in windows without flushes.

use crate::elsewhere::per_second;
use crate::record::Timed;
use crate::{Io, Parameter, Record, Series, Stop};

const PARAMETER: Parameter = Parameter::FastCache;
/// The longest TRIM.
const TRIM_MAX: u64 = 1 << 30;

/// Makes the drive as empty as it gets.
pub(super) fn purge(io: &mut Io<'_>) -> Result<(), Stop> {
    let region = io.region();
    let mut at = region.start;
    while io.info().trim && at < region.end {
        let len = TRIM_MAX.min(region.end - at);
        io.trim(at, len)?;
        at += len;
    }
    io.flush().map(|_| ())
}

/// Writes a window in order with the drive's queue full, and takes a sample; `before` bytes were written before it.
pub(super) fn window(
    io: &mut Io<'_>,
    series: Series,
    len: u64,
    before: u64,
    rep: u32,
) -> Result<(), Stop> {
    let region = io.region();
    let at = region.start + before;
    let mark = io.mark(at);
    io.write(at, len)?;
    io.sample_since(&mark, Timed::Write, series, before + len, rep);
    Ok(())
}

/// Returns the windows: the bytes written by the end of each, and its speed in bytes per second.
pub(super) fn speeds(record: &Record, series: Series) -> Vec<(u64, f64)> {
    let windows = record.series(PARAMETER, series);
    windows.map(|s| (s.x, per_second(s.bytes, s.ns))).collect()
}

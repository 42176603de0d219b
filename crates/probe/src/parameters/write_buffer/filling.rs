//! Runs of writes into emptied memory, piece by piece. Shared by the write buffer and the write policy.
//!
//! A flush empties volatile memory. If a flush costs nothing, what was written is trimmed instead, so that protected memory
//! need not keep it; a drive without TRIM is left idle for a while.

use crate::robust::samples::of_step;
use crate::{Io, Parameter, Record, Sample, Series, Session, Stop};
use fathom_base::Dur;
use fathom_stats::onset::onset;
use std::ops::Range;

/// After a TRIM the drive is left idle for as long as the writes took, because it may have begun to move that data, but
/// within these limits.
const SETTLE: (Dur, Dur) = (Dur::ms(20), Dur::ms(5_000));
/// The idle time without TRIM, for a drive that empties its memory only when it is idle.
const ALONE: Dur = Dur::ms(1_500);
/// The length of the requests that fill memory, in bytes: so short that a drive with a short delay does not find itself idle
/// between them.
pub(super) const REQUEST: u64 = 4 << 10;
/// The bytes that are in one batch of requests, before the first piece.
const TOGETHER: u64 = 1 << 20;
/// The share of the pieces of a run that are its last ones: one in so many.
const LAST: u64 = 4;
/// The longest pause after a write that makes a run slow.
const PAUSE_MAX: Dur = Dur::us(20);
/// The margin around the written range that is trimmed, in bytes: a drive trims whole units only.
const MARGIN: u64 = 2 << 20;

/// A run with reads instead of writes.
pub(super) const READ_INSTEAD: Series = Series::new("read_instead");
/// A run of writes with pauses.
pub(super) const SLOW_WRITES: Series = Series::new("slow_writes");
/// A run of long writes.
pub(super) const LONG_WRITES: Series = Series::new("long_writes");

/// Reads or writes so many bytes from an offset on.
pub(super) type Transfer = fn(&mut Io<'_>, u64, u64) -> Result<(), Stop>;

/// How memory is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptying {
    /// By a flush.
    Flush,
    /// By a TRIM of a range that contains everything written, or by waiting.
    Forget,
}

/// Returns the range to trim so that memory holds nothing of `written`: it includes whole units around it. `None` if the
/// drive does not support TRIM.
fn forgotten(io: &Io<'_>, written: &Range<u64>) -> Option<Range<u64>> {
    let region = io.region();
    let from = written.start.saturating_sub(MARGIN).max(region.start);
    let to = written.end.saturating_add(MARGIN).min(region.end);
    io.info().trim.then_some(from..to)
}

/// Empties memory that may hold a part of `written`, which took `took` to write.
pub(crate) fn empty(
    io: &mut Io<'_>,
    by: Emptying,
    written: &Range<u64>,
    took: Dur,
) -> Result<(), Stop> {
    io.flush()?;
    if by == Emptying::Flush {
        return Ok(());
    }
    let Some(range) = forgotten(io, written) else {
        return io.idle(took.clamp(ALONE, SETTLE.1));
    };
    io.trim(range.start, range.end - range.start)?;
    io.idle(took.clamp(SETTLE.0, SETTLE.1))
}

/// Writes the range again that was trimmed to empty memory after writes to `written`, so that later reads find data.
pub(crate) fn restore(
    session: &mut Session<'_>,
    parameter: Parameter,
    by: Emptying,
    written: &Range<u64>,
) -> Result<(), Stop> {
    if by == Emptying::Flush {
        return Ok(());
    }
    session.step(parameter, "write again what was forgotten", |io| {
        forgotten(io, written).map_or(Ok(()), |range| io.fill_sequential(range))
    })
}

/// Writes a range in requests that are short but whole logical blocks.
pub(crate) fn write_short(io: &mut Io<'_>, offset: u64, bytes: u64) -> Result<(), Stop> {
    let requests = short(io, offset, bytes);
    io.write_queued(&requests, u32::MAX).map(|_| ())
}

/// Reads a range in requests as long as those of [`write_short`].
pub(super) fn read_short(io: &mut Io<'_>, offset: u64, bytes: u64) -> Result<(), Stop> {
    let requests = short(io, offset, bytes);
    io.read_queued(&requests, u32::MAX).map(|_| ())
}

/// Writes a range with as few requests as the drive takes.
pub(super) fn write_long(io: &mut Io<'_>, offset: u64, bytes: u64) -> Result<(), Stop> {
    io.write(offset, bytes).map(|_| ())
}

/// Returns the length of the requests that fill memory, in bytes.
pub(super) fn request_bytes(block_bytes: u64) -> u64 {
    REQUEST.next_multiple_of(block_bytes.max(1))
}

fn short(io: &Io<'_>, offset: u64, bytes: u64) -> Vec<(u64, u64)> {
    let short = request_bytes(u64::from(io.info().logical_block_bytes));
    let end = offset + bytes;
    let starts = (offset..end).step_by(short as usize);
    starts.map(|at| (at, short.min(end - at))).collect()
}

/// A run: writes a number of bytes at once, then piece after piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    /// The bytes written in one go before the first piece.
    pub(crate) before: u64,
    /// The size of a piece, in bytes.
    pub(crate) piece: u64,
    pub(crate) count: u64,
    /// The number of first pieces that are known to fit; at least one.
    pub(crate) fitting: u64,
}

impl Pass {
    /// Returns how many runs are needed to distinguish a single piece that waits from the fitting ones; more if few pieces
    /// fit.
    pub(crate) fn runs(&self) -> u64 {
        match self.fitting {
            0..3 => 16,
            3..8 => 12,
            8..15 => 10,
            15..24 => 8,
            _ => 6,
        }
    }

    /// Returns the bytes that one run writes.
    pub(crate) fn bytes(&self) -> u64 {
        self.before + self.piece * self.count
    }

    /// Returns the bytes written before piece `index`.
    pub(crate) fn at(&self, index: u64) -> u64 {
        self.before + self.piece * index
    }

    /// Executes one run from `offset` on, in ascending order, each piece by a transfer. Returns how long it took, or how long
    /// all of it would have taken at the speed of its last pieces: as long as that what it left in memory may take to leave.
    pub(super) fn run(
        &self,
        io: &mut Io<'_>,
        offset: u64,
        rep: u32,
        transfer: Transfer,
        series: Series,
    ) -> Result<Dur, Stop> {
        let begin = io.now();
        let end = offset + self.before;
        for at in (offset..end).step_by(TOGETHER as usize) {
            transfer(io, at, TOGETHER.min(end - at))?;
        }
        let last = (self.count / LAST).max(1);
        let mut at_last = begin;
        for i in 0..self.count {
            if i + last == self.count {
                at_last = io.now();
            }
            let at = self.at(i);
            transfer(io, offset + at, self.piece)?;
            io.sample(series, at + self.piece, rep);
        }
        let (took, took_last) = (io.now().since(begin), io.now().since(at_last));
        let all = (took_last.0 as f64 / (last * self.piece) as f64 * self.bytes() as f64) as u64;
        Ok(took.max(Dur(all)))
    }

    /// Executes one run of writes, one at a time, each after a pause as long as the one before it took, but hardly longer than
    /// the pause between two pieces of [`Pass::run`]: many a drive begins to empty its memory after a longer one.
    pub(super) fn run_slowly(
        &self,
        io: &mut Io<'_>,
        offset: u64,
        rep: u32,
        series: Series,
    ) -> Result<Dur, Stop> {
        let begin = io.now();
        for (at, len) in short(io, offset, self.before) {
            let took = io.write(at, len)?;
            io.idle(took.min(PAUSE_MAX))?;
        }
        for i in 0..self.count {
            let at = self.at(i);
            let from = io.now();
            write_short(io, offset + at, self.piece)?;
            io.sample(series, at + self.piece, rep);
            io.idle(io.now().since(from).min(PAUSE_MAX))?;
        }
        Ok(io.now().since(begin))
    }
}

/// Returns the times of the pieces of one series, in nanoseconds, run by run.
pub(crate) fn runs<'r>(samples: impl Iterator<Item = &'r Sample>, series: Series) -> Vec<Vec<f64>> {
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for sample in samples.filter(|s| s.series == series) {
        let rep = sample.rep as usize;
        if runs.len() <= rep {
            runs.resize(rep + 1, Vec::new());
        }
        runs[rep].push(sample.ns as f64);
    }
    runs
}

/// Returns the first piece of a series of a step that waits at least `least` nanoseconds; the outer `None` if the step was
/// not made.
pub(super) fn onset_of(
    record: &Record,
    parameter: Parameter,
    name: &str,
    series: Series,
    pass: &Pass,
    least: f64,
) -> Option<Option<usize>> {
    let runs = runs(of_step(record, parameter, name)?, series);
    Some(onset(&runs, pass.fitting as usize, least))
}

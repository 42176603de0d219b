//! Runs of writes into emptied memory, piece by piece: what the write buffer and the write policy have in common.
//!
//! A flush empties volatile memory. Where a flush costs nothing, what was written is told to be of no use (TRIM), which
//! protected memory need not keep; where the drive knows no TRIM, it is left alone for a while.

use crate::robust::samples::of_step;
use crate::{Io, Parameter, Record, Sample, Series, Session, Stop};
use fathom_base::Dur;
use fathom_stats::onset::onset;
use std::ops::Range;

/// After a TRIM a drive is left alone for as long as what was written took, for it may have begun to move that, but no
/// shorter and no longer than this.
const SETTLE: (Dur, Dur) = (Dur::ms(20), Dur::ms(5_000));
/// Without TRIM, for a drain that waits until the drive is idle.
const ALONE: Dur = Dur::ms(1_500);
/// Requests that memory is filled with, in bytes: so short that a drive with a short delay does not find itself idle in
/// between.
const REQUEST: u64 = 4 << 10;
/// As much of them at a time, in bytes, before the first piece.
const TOGETHER: u64 = 1 << 20;
/// Beyond what was written, in bytes: a drive forgets whole units only.
const MARGIN: u64 = 2 << 20;

/// How memory is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptying {
    /// By a flush.
    Flush,
    /// By a TRIM of a range that holds all that was written, or by waiting.
    Forget,
}

/// What is forgotten so that memory holds nothing of `written`: whole units around it; nothing where the drive knows no
/// TRIM.
fn forgotten(io: &Io<'_>, written: &Range<u64>) -> Option<Range<u64>> {
    let region = io.region();
    let from = written.start.saturating_sub(MARGIN).max(region.start);
    let to = written.end.saturating_add(MARGIN).min(region.end);
    io.info().trim.then_some(from..to)
}

/// Empties memory that may hold something of `written`, which took so long.
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
        return io.idle(ALONE);
    };
    io.trim(range.start, range.end - range.start)?;
    io.idle(took.clamp(SETTLE.0, SETTLE.1))
}

/// Writes again what was forgotten where memory was emptied after writes to `written`, so that later reads find data.
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

/// Writes a stretch in requests that are short, but whole logical blocks.
pub(crate) fn write_short(io: &mut Io<'_>, offset: u64, bytes: u64) -> Result<(), Stop> {
    let short = REQUEST.next_multiple_of(u64::from(io.info().logical_block_bytes).max(1));
    let end = offset + bytes;
    let starts = (offset..end).step_by(short as usize);
    let requests: Vec<(u64, u64)> = starts.map(|at| (at, short.min(end - at))).collect();
    io.write_queued(&requests, u32::MAX).map(|_| ())
}

/// A run: so much at once, then piece after piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Written in one go before the first piece, in bytes.
    pub(crate) before: u64,
    /// The size of a piece, in bytes.
    pub(crate) piece: u64,
    pub(crate) count: u64,
    /// The first pieces, which are known to fit; at least one.
    pub(crate) fitting: u64,
}

impl Pass {
    /// How many runs tell a single piece that waits from the fitting ones: fewer of them need more runs.
    pub(crate) fn runs(&self) -> u64 {
        match self.fitting {
            0..3 => 16,
            3..8 => 12,
            8..15 => 10,
            15..24 => 8,
            _ => 6,
        }
    }

    /// What one run writes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.before + self.piece * self.count
    }

    /// What is written when piece `index` begins, in bytes.
    pub(crate) fn at(&self, index: u64) -> u64 {
        self.before + self.piece * index
    }

    /// Runs once from `offset` on, in ascending order; how long that took.
    pub(crate) fn run(&self, io: &mut Io<'_>, offset: u64, rep: u32) -> Result<Dur, Stop> {
        let begin = io.now();
        let end = offset + self.before;
        for at in (offset..end).step_by(TOGETHER as usize) {
            write_short(io, at, TOGETHER.min(end - at))?;
        }
        for i in 0..self.count {
            let at = self.at(i);
            write_short(io, offset + at, self.piece)?;
            io.sample(Series::FILLING, at + self.piece, rep);
        }
        Ok(io.now().since(begin))
    }
}

/// The times of the pieces of one series, in nanoseconds, run by run.
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

/// The first piece of a step that waits at least `least` nanoseconds; `None` where the step was not made.
pub(crate) fn onset_of(
    record: &Record,
    parameter: Parameter,
    name: &str,
    pass: &Pass,
    least: f64,
) -> Option<Option<usize>> {
    let runs = runs(of_step(record, parameter, name)?, Series::FILLING);
    Some(onset(&runs, pass.fitting as usize, least))
}

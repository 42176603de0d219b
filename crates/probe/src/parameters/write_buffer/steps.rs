//! The steps that take the samples of the write buffer: small flushes, and runs of a pass.

use super::filling::{
    Emptying, LONG_WRITES, Pass, READ_INSTEAD, SLOW_WRITES, Transfer, empty, read_short,
    write_long, write_short,
};
use crate::{Io, Parameter, Series, Session, Space, Stop};
use fathom_base::Dur;

const PARAMETER: Parameter = Parameter::WriteBuffer;
/// The number of reads from the flash.
const READS: u32 = 64;
const SMALL_REPS: u32 = 16;
/// The least range in which protected memory is filled, in bytes.
const WINDOW: u64 = 2 << 20;
/// The pause before the repetition.
const PAUSE: Dur = Dur::ms(300);

/// What a pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It covers growing sizes.
    Wide,
    /// It finds a place within a piece of another.
    Fine,
    /// It repeats a place with other pieces.
    Again,
    /// It repeats a place with reads.
    Read,
    /// It repeats a place with pauses between writes.
    Slow,
    /// It has writes far longer than the place.
    Long,
}

impl Kind {
    pub(super) fn name(self, pass: &Pass) -> String {
        let kind = match self {
            Kind::Wide => "fill",
            Kind::Fine => "place",
            Kind::Again => "repeat",
            Kind::Read => "read",
            Kind::Slow => "slow",
            Kind::Long => "long",
        };
        format!("{kind} {} + {} x {}", pass.before, pass.count, pass.piece)
    }

    pub(super) fn series(self) -> Series {
        match self {
            Kind::Wide | Kind::Fine | Kind::Again => Series::FILLING,
            Kind::Slow => SLOW_WRITES,
            Kind::Read => READ_INSTEAD,
            Kind::Long => LONG_WRITES,
        }
    }
}

/// Times flushes of nothing (`x` = 0) and of one small write, and reads from the flash.
pub(super) fn small(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    let (start, span, len) = (
        session.region().start,
        space.span(),
        space.round_up(4 << 10),
    );
    session.step(PARAMETER, "small", |io| {
        io.flush()?;
        for rep in 0..SMALL_REPS {
            io.flush()?;
            io.sample(Series::FLUSH_AFTER, 0, rep);
            // In the part that the first runs trim anyway.
            let place = io.rng.below(((WINDOW.min(span) - len) >> 16).max(1)) << 16;
            io.write(start + place, len)?;
            io.flush()?;
            io.sample(Series::FLUSH_AFTER, len, rep);
        }
        let block = space.block_bytes;
        for rep in 0..READS {
            let place = io.rng.below(span / block) * block;
            io.read(start + place, block)?;
            io.sample(Series::RANDOM_READ, block, rep);
        }
        Ok(())
    })
}

/// Makes the runs of a pass. Protected memory is left alone between them for `rest` at least.
pub(super) fn make(
    session: &mut Session<'_>,
    pass: Pass,
    kind: Kind,
    by: Emptying,
    rest: Dur,
) -> Result<(), Stop> {
    let space = session.space();
    let window = window(&space, by, pass.bytes());
    session.step(PARAMETER, &kind.name(&pass), |io| {
        if matches!(kind, Kind::Again | Kind::Read | Kind::Slow | Kind::Long) {
            io.idle(PAUSE)?;
        }
        let mut took = PAUSE;
        for rep in 0..pass.runs() {
            empty(io, by, &window, took.max(rest))?;
            let offset = somewhere(io, &space, &window, pass.bytes());
            let transfer: Transfer = match kind {
                Kind::Wide | Kind::Fine | Kind::Again | Kind::Slow => write_short,
                Kind::Read => read_short,
                Kind::Long => write_long,
            };
            took = match kind {
                Kind::Slow => pass.run_slowly(io, offset, rep as u32, kind.series())?,
                _ => pass.run(io, offset, rep as u32, transfer, kind.series())?,
            };
        }
        empty(io, by, &window, took.max(rest))
    })
}

/// Returns the range for runs of `bytes`: the whole span, or a small one if it is trimmed and must be written again later.
pub(super) fn window(space: &Space, by: Emptying, bytes: u64) -> std::ops::Range<u64> {
    let start = space.region.start;
    let end = match by {
        Emptying::Flush => space.span(),
        Emptying::Forget => space
            .round_up((bytes + bytes / 4).max(WINDOW))
            .min(space.span()),
    };
    start..start + end
}

/// Returns a random place at any logical block, so that effects of the ends of the drive's blocks come at another piece each
/// time.
fn somewhere(io: &mut Io<'_>, space: &Space, window: &std::ops::Range<u64>, bytes: u64) -> u64 {
    let places = (window.end - window.start - bytes) / space.block_bytes;
    window.start + io.rng.below(places.max(1)) * space.block_bytes
}

//! The steps that take the samples of the parallelism: reads of nothing, lone reads and pairs of reads.

use crate::robust::blank::{self, pair};
use crate::robust::pace::Pace;
use crate::{Ask, Io, Level, Parameter, Series, Session, Space, Stop};
use fathom_base::Dur;
use std::ops::Range;

/// A read at a random place, alone.
pub(crate) const SOLO: Series = Series::new("solo");
/// A read of twice the length at a random place, alone.
pub(crate) const LONG: Series = Series::new("solo_of_two");
/// Two reads at random places at once, until both are served.
pub(crate) const PAIR: Series = Series::new("pair");
/// Two reads of neighbouring blocks at once: of one page, on a drive that shows no reads of nothing.
pub(crate) const TOGETHER: Series = Series::new("together");
/// A read of a place, and the same read again.
pub(crate) const FIRST: Series = Series::new("first");
pub(crate) const SECOND: Series = Series::new("second");
/// A read `x` bytes below one that was just read.
pub(crate) const BELOW: Series = Series::new("below");

/// The reads of nothing, and the pairs of a round.
const BLANKS: u32 = 400;
const ROUND: u32 = 1000;
/// A read of twice the length comes beside every so many pairs.
const LONG_EVERY: u32 = 4;
/// The most rounds, and the time on the drive's clock after which no further one begins; ten times as much with pauses.
const ROUNDS: [u32; 2] = [32, 90];
/// The least rounds, and the pause before each but the first: other programs that use the drive come and go.
pub(crate) const ROUNDS_MIN: u32 = 3;
const APART: Dur = Dur::ms(2_000);
const SLOW_NS: u64 = 60_000_000_000;
const ROUND_NAME: &str = "pairs, round ";
/// The pairs of a place and one below it, for each distance, and the longest distance, in bytes.
const BELOWS: u32 = 24;
const BELOW_MAX: u64 = 128 << 10;

pub(crate) fn rounds(level: Level) -> u32 {
    ROUNDS[usize::from(level == Level::Full)]
}

/// The bytes that are written: at most twice, if a limit is seen.
pub(crate) fn written(space: &Space) -> u64 {
    let area = blank::area(&part(space), space.block_bytes);
    2 * (area.end - area.start)
}

/// The part of the region that is read.
pub(crate) fn part(space: &Space) -> Range<u64> {
    space.region.start..space.region.start + space.span()
}

/// How places are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// The parameter that the samples are for, and the part of the drive that is read.
    pub(crate) of: Parameter,
    pub(crate) part: Range<u64>,
    /// Whether each place is read before, so that its entry of the map is in memory.
    pub(crate) mapped: bool,
    /// The places of two blocks that are read; any of the part if there are none.
    pub(crate) pool: Vec<u64>,
    pub(crate) pace: Pace,
}

impl Manner {
    /// Makes ready for reads of these places.
    pub(crate) fn before(&self, io: &mut Io<'_>, places: &[u64], len: u64) -> Result<(), Stop> {
        if self.mapped {
            for at in places {
                self.pace.wait(io, 1)?;
                io.read(*at, len)?;
            }
        }
        self.pace.wait(io, places.len() as u64)
    }

    /// Returns a place for a read of `unit` bytes: one block, or two.
    fn place(&self, io: &mut Io<'_>, unit: u64) -> u64 {
        if !self.pool.is_empty() {
            let block = u64::from(io.info().logical_block_bytes).max(1);
            let at = self.pool[io.rng.below(self.pool.len() as u64) as usize];
            return at + io.rng.below((2 * block / unit).max(1)) * unit;
        }
        let slots = (self.part.end - self.part.start) / unit;
        self.part.start + io.rng.below(slots.max(1)) * unit
    }

    fn alone(&self, io: &mut Io<'_>, at: u64, len: u64, kind: Kind) -> Result<(), Stop> {
        self.before(io, &[at], len)?;
        if let Some(one) = io.serve(&[Ask::read(at, len)], 1)?.first() {
            io.sample_served(kind.series, kind.x, kind.rep, one);
        }
        Ok(())
    }
}

/// What a sample is.
#[derive(Clone, Copy)]
struct Kind {
    series: Series,
    x: u64,
    rep: u32,
}

impl Kind {
    fn new(series: Series, x: u64, rep: u32) -> Self {
        Self { series, x, rep }
    }
}

/// Reads places that hold nothing.
pub(crate) fn nothing(session: &mut Session<'_>, of: Parameter, pace: Pace) -> Result<(), Stop> {
    let space = session.space();
    let area = blank::area(&part(&space), space.block_bytes);
    session.step(of, &pace.name("nothing"), |io| {
        blank::measure(io, area, space.block_bytes, BLANKS, pace)?;
        io.idle(blank::SETTLE)
    })
}

/// Reads places again, and places below them.
pub(crate) fn again(session: &mut Session<'_>, of: Parameter, pace: Pace) -> Result<(), Stop> {
    let space = session.space();
    let block = space.block_bytes;
    let manner = Manner {
        of,
        part: part(&space),
        mapped: false,
        pool: Vec::new(),
        pace,
    };
    session.step(of, &pace.name("again"), |io| {
        for rep in 0..4 * BELOWS {
            let at = manner.place(io, block);
            manner.alone(io, at, block, Kind::new(FIRST, 0, rep))?;
            manner.alone(io, at, block, Kind::new(SECOND, 0, rep))?;
        }
        let mut distance = block;
        while distance <= BELOW_MAX.min(space.span() / 8) {
            for rep in 0..BELOWS {
                // The upper half of a piece of twice the distance, then the lower.
                let at = manner.place(io, 2 * distance);
                pace.wait(io, 1)?;
                io.read(at + distance, block)?;
                manner.alone(io, at, block, Kind::new(BELOW, distance, rep))?;
            }
            distance *= 2;
        }
        Ok(())
    })
}

/// Reads random places alone and in pairs.
pub(crate) fn round(session: &mut Session<'_>, manner: &Manner, round: u32) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    let blank = session.info().trim && !session.read_only();
    let name = manner.pace.name(&format!("{ROUND_NAME}{round}"));
    session.step(manner.of, &name, |io| {
        for rep in round * ROUND..(round + 1) * ROUND {
            let [a, b, c] = [0; 3].map(|_| manner.place(io, block));
            manner.alone(io, a, block, Kind::new(SOLO, block, rep))?;
            if rep % LONG_EVERY == 0 {
                let at = manner.place(io, 2 * block);
                manner.alone(io, at, 2 * block, Kind::new(LONG, 2 * block, rep))?;
                if !blank {
                    let at = manner.place(io, 2 * block);
                    both(
                        io,
                        manner,
                        [at, at + block],
                        Kind::new(TOGETHER, block, rep),
                    )?;
                }
            }
            both(io, manner, [b, c], Kind::new(PAIR, block, rep))?;
        }
        Ok(())
    })
}

fn both(io: &mut Io<'_>, manner: &Manner, places: [u64; 2], kind: Kind) -> Result<(), Stop> {
    let block = u64::from(io.info().logical_block_bytes).max(1);
    manner.before(io, &places, block)?;
    pair(io, places, block, kind.series, kind.x, kind.rep)
}

/// Pauses before a round, so that the rounds are spread over time.
pub(crate) fn apart(session: &mut Session<'_>, manner: &Manner, round: u32) -> Result<(), Stop> {
    let name = manner.pace.name(&format!("pause before round {round}"));
    session.step(manner.of, &name, |io| io.idle(APART))
}

/// Returns true if the rounds have taken long.
pub(crate) fn long(session: &Session<'_>, manner: &Manner) -> bool {
    let steps = session.record().steps.iter();
    let rounds =
        steps.filter(|step| step.parameter == manner.of && step.name.starts_with(ROUND_NAME));
    let most = if manner.pace.is_slow() {
        10 * SLOW_NS
    } else {
        SLOW_NS
    };
    rounds.map(|step| step.cost.device_ns).sum::<u64>() > most
}

//! Single reads after a write: when the drive programs what its memory holds, and how long reads wait for that.

use super::measure::PARAMETER;
use crate::record::Level;
use crate::{Ask, Record, Sample, Series, Served, Session, Space, Stop};
use fathom_base::Dur;
use fathom_stats::excess::together;

/// Slow reads after a write, with the time since it was complete.
pub(super) const AFTER_WRITE: Series = Series::new("after_write");

/// The bytes of a write. It keeps some dies busy, and most memories hold it.
const WRITE: u64 = 256 << 10;
/// The length of a read, in bytes, if the logical block is not longer.
const READ: u64 = 4096;
/// The rounds of a step, and the slow reads of a round that are kept at most.
const ROUNDS: u32 = 8;
const KEPT: usize = 24;

/// The steps, and how long a round reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    pub(super) steps: u32,
    read: Dur,
}

impl Rounds {
    pub(super) fn of(space: &Space) -> Self {
        let (steps, ms) = match space.level {
            Level::Quick => (6, 40),
            Level::Full => (8, 100),
        };
        Self {
            steps,
            read: Dur::ms(ms),
        }
    }

    /// Returns the bytes that all rounds write.
    pub(super) fn bytes(&self, space: &Space) -> u64 {
        u64::from(self.steps * ROUNDS) * space.round_up(WRITE)
    }
}

/// Writes, and reads one after another at random places until the time of a round is over. A read is slow from `slow_ns` on.
pub(super) fn after(session: &mut Session<'_>, slow_ns: f64, number: u32) -> Result<(), Stop> {
    let space = session.space();
    let rounds = Rounds::of(&space);
    let (len, short) = (space.round_up(WRITE), space.round_up(READ));
    session.step(PARAMETER, &format!("after writes {number}"), |io| {
        let slots = (space.span() / len).max(1);
        for round in number * ROUNDS..(number + 1) * ROUNDS {
            let place = u64::from(round) % slots * len;
            io.write(space.region.start + place, len.min(space.span()))?;
            let mut slow = Vec::new();
            let began = io.now();
            while io.now().since(began) < rounds.read {
                let at = io.rng.below((space.span() / short).max(1)) * short;
                let ask = Ask::read(space.region.start + at, short);
                let from = io.now();
                if io.read(ask.offset, ask.len)?.0 as f64 >= slow_ns {
                    slow.push(Served {
                        ask,
                        from,
                        to: io.now(),
                    });
                }
            }
            // Evenly, so that many slow reads do not look like early ones.
            for done in slow.iter().step_by(slow.len().div_ceil(KEPT).max(1)) {
                io.sample_served(AFTER_WRITE, done.from.since(began).0, round, done);
            }
        }
        Ok(())
    })
}

/// Returns when the drive begins to program what was written, in nanoseconds after the write, if reads show it.
pub(super) fn programmed_ns(record: &Record) -> Option<f64> {
    let of = |sample: &&Sample| sample.parameter == PARAMETER && sample.series == AFTER_WRITE;
    let times: Vec<f64> = (record.samples.iter().filter(of))
        .map(|sample| sample.x as f64)
        .collect();
    let span = Rounds::of(&Space::of(record)).read;
    Some(together(&times, span.0 as f64)?.from)
}

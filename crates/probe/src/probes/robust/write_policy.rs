//! Write buffer or write cache (`parameter-aware-io` 4.3): whether memory keeps one copy of what is written again and
//! again.
//!
//! Half of the known capacity is written in small pieces, round after round, until three capacities have been
//! written; beside it as much at places that never come back. A cache takes the first at the speed of the link,
//! a first-in-first-out buffer must drain both. No two writes in a row go to the same place, which even a plain
//! buffer may join.

use super::{at, identified, prepare, sizes, without, write_unit};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series, Timed};
use crate::session::{Session, Stop};
use crate::solve::separate::{Decision, separate};

const PARAMETER: Parameter = Parameter::WritePolicy;
const REPS: u32 = 8;
/// Pieces that half of the capacity is written in.
const PIECES: u64 = 16;
const PIECE_MAX: u64 = 64 << 10;
/// Capacities that one sample writes.
const VOLUMES: u64 = 3;

pub(super) struct WritePolicy;

fn capacity(session: &Session<'_>) -> Option<u64> {
    session
        .known(Parameter::WriteBuffer)?
        .value
        .as_ref()?
        .bytes()
}

impl Probe for WritePolicy {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs { writes: true }
    }

    fn bound(&self, space: &Space) -> u64 {
        let capacity = (64 << 20).min(space.span() / 8);
        space.span() + 2 * u64::from(REPS) * (VOLUMES * capacity + PIECE_MAX)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let Some(capacity) = capacity(session) else {
            return Ok(());
        };
        prepare(session, PARAMETER)?;
        let (space, start) = (Space::from(&*session), session.region().start);
        let piece = space.round_down((capacity / 2 / PIECES).min(PIECE_MAX));
        let places = (capacity / 2 / piece).max(2);
        let writes = VOLUMES * capacity / piece;
        // In units of their own, but close together: places that come back must not save merges.
        let stride = write_unit(session).max(piece).next_multiple_of(piece);
        let area = (writes + places) * stride;
        if area * 2 > space.span() {
            return Ok(());
        }
        session.step(PARAMETER, "rounds", |io| {
            for rep in 0..REPS {
                let base = start
                    + io.rng
                        .below((space.span() - (writes + places) * stride) / piece)
                        * piece;
                for (series, distinct) in [(Series::Rewrite, false), (Series::Distinct, true)] {
                    io.flush()?;
                    let mark = io.mark(base);
                    for i in 0..writes {
                        let place = if distinct { places + i } else { i % places };
                        io.write(base + place * stride, piece)?;
                    }
                    io.sample_since(&mark, Timed::Write, series, piece, rep);
                }
            }
            io.flush()?;
            Ok(())
        })?;
        Ok(())
    }

    fn solve(&self, record: &Record) -> Estimate {
        let Some(piece) = sizes(record, PARAMETER, Series::Rewrite).first().copied() else {
            return without(
                PARAMETER,
                Verdict::Absent,
                "no write buffer is known that could have a policy",
            );
        };
        let arms = [Series::Rewrite, Series::Distinct].map(|s| at(record, PARAMETER, s, piece));
        let Some(test) = separate(&arms[0], &arms[1], 0.99, 0.25) else {
            return without(PARAMETER, Verdict::Inconclusive, "there are too few rounds");
        };
        let estimate = match test.decision {
            Decision::Less if test.interval.high < 0.75 => {
                let reason = "writes that come back to the same places are taken at once, those that do not must wait";
                identified(PARAMETER, Value::Choice("cache".into()), reason)
            }
            Decision::NotDifferent | Decision::Greater => {
                let reason =
                    "writes that come back to the same places wait as long as those that do not";
                identified(PARAMETER, Value::Choice("buffer".into()), reason)
            }
            _ => without(
                PARAMETER,
                Verdict::Inconclusive,
                "the noise hides whether rewrites are cheaper",
            ),
        };
        estimate.figure("ratio", test.ratio)
    }
}

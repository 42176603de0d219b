//! Write buffer or write cache (`parameter-aware-io` 4.3): whether memory keeps one copy of what is written again and
//! again.
//!
//! Half of the known capacity is written in small pieces, round after round, until three capacities have been
//! written; beside it as much at places that never come back. A cache takes the first at the speed of the link,
//! a first-in-first-out buffer must drain both. No two writes in a row go near each other, which even a plain
//! buffer may join.

use super::{identified, prepare, without, write_unit};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series, Timed};
use crate::session::{Session, Stop};
use crate::solve::robust;

const PARAMETER: Parameter = Parameter::WritePolicy;
const REPS: u32 = 8;
const BATCHES: u32 = 5;
/// Batches that are set aside for the largest buffer; smaller ones have all.
const BATCHES_WORTH: u32 = 1;
/// Less than this share of the wait of writes that do not come back is hardly waiting.
const WAITS: f64 = 0.3;
/// So large a share of the passes may disagree.
const DISSENT: f64 = 0.2;
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
        Needs {
            writes: true,
            prepared: true,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        let capacity = (32 << 20).min(space.span() / 8);
        2 * u64::from(REPS * BATCHES_WORTH) * (VOLUMES * capacity + PIECE_MAX)
    }

    fn expected(&self, space: &Space) -> u64 {
        self.bound(space) / 32
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let Some(capacity) = capacity(session) else {
            return Ok(());
        };
        prepare(session, PARAMETER)?;
        let (space, start) = (Space::from(&*session), session.region().start);
        let piece = space.round_down((capacity / 2 / PIECES).min(PIECE_MAX));
        let places = (capacity / 2 / piece).max(4) / 2 * 2;
        let writes = VOLUMES * capacity / piece;
        // In units of their own, but close together: places that come back must not save merges. Even and odd places
        // lie far apart, so that no write goes to the unit or the stripe of the one before.
        let stride = write_unit(session).max(piece).next_multiple_of(piece);
        let area = (writes + places) * stride;
        let half = ((space.span() / 2) >> 20) << 20;
        if area > half {
            return Ok(());
        }
        for batch in 0..BATCHES {
            session.step(PARAMETER, &format!("rounds {batch}"), |io| {
                for rep in 0..REPS {
                    let base = start + (io.rng.below(((half - area) >> 20).max(1)) << 20);
                    let mut arms = [(Series::Rewrite, false), (Series::Distinct, true)];
                    io.rng.shuffle(&mut arms);
                    for (series, distinct) in arms {
                        io.flush()?;
                        let mark = io.mark(base);
                        for i in 0..writes {
                            if i == places {
                                io.sample_since(
                                    &mark,
                                    Timed::Write,
                                    Series::EmptyBuffer,
                                    piece,
                                    batch * REPS + rep,
                                );
                            }
                            let place = if distinct { places + i } else { i % places };
                            io.write(base + place % 2 * half + place / 2 * stride, piece)?;
                        }
                        io.sample_since(&mark, Timed::Write, series, piece, batch * REPS + rep);
                    }
                }
                io.flush()?;
                Ok(())
            })?;
            if decide(session.record()).is_some_and(|(policy, _)| policy.is_some()) {
                break;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record) -> Estimate {
        let buffer = crate::run::answer(record, Parameter::WriteBuffer);
        match decide(record) {
            Some((Some(policy), share)) => {
                let reason = match policy {
                    "cache" => {
                        "writes that come back to the same places are taken at once, those that do not must wait"
                    }
                    _ => {
                        "writes that come back to the same places wait as long as those that do not"
                    }
                };
                identified(PARAMETER, Value::Choice(policy.into()), reason)
                    .figure("hardly_waiting_share", share)
            }
            Some((None, share)) => {
                let reason = "the noise hides whether rewrites are cheaper";
                without(PARAMETER, Verdict::Inconclusive, reason)
                    .figure("hardly_waiting_share", share)
            }
            None if buffer.verdict == Verdict::Absent => without(
                PARAMETER,
                Verdict::Absent,
                "there is no write buffer that could have a policy",
            ),
            None if buffer.verdict == Verdict::NotIdentifiable => without(
                PARAMETER,
                Verdict::NotIdentifiable,
                "the capacity of the write buffer is not identifiable, so that it cannot be filled on purpose",
            ),
            None => without(
                PARAMETER,
                Verdict::Inconclusive,
                "the capacity of the write buffer must be measured first",
            ),
        }
    }
}

/// The policy, where it is settled, and the share of passes of writes that come back which hardly wait.
fn decide(record: &Record) -> Option<(Option<&'static str>, f64)> {
    let fast = record
        .series(PARAMETER, Series::EmptyBuffer)
        .map(|s| s.ns as f64 / s.bytes as f64);
    let fast = robust::median(&fast.collect::<Vec<_>>())?;
    // What a pass took beyond the time of as many writes into an empty buffer, in nanoseconds; never quite nothing,
    // for it is compared by ratio.
    let waiting = |series| -> Vec<f64> {
        let passes = record
            .series(PARAMETER, series)
            .map(|s| (s.ns as f64, fast * s.bytes as f64));
        passes
            .map(|(took, fast)| (took - fast).max(0.01 * fast))
            .collect()
    };
    let (rewrites, distinct) = (waiting(Series::Rewrite), waiting(Series::Distinct));
    // The wait of a pass that met no merge: merges come in lumps, and either kind of pass may meet one.
    let least = robust::quantile(&distinct, 0.1)?;
    let hardly = rewrites
        .iter()
        .filter(|wait| **wait < WAITS * least)
        .count();
    let share = hardly as f64 / rewrites.len() as f64;
    let policy = match share {
        _ if rewrites.len() < REPS as usize => None,
        share if share >= 1.0 - DISSENT => Some("cache"),
        share if share <= DISSENT => Some("buffer"),
        _ => None,
    };
    Some((policy, share))
}

//! Write buffer or write cache (`parameter-aware-io` 4.3): whether memory keeps one copy of what is written again and
//! again.
//!
//! Half of the known capacity is written in pieces, round after round, into emptied memory; beside it as much at places
//! that never come back. The second waits for the flash once the capacity is written. A first-in-first-out buffer does
//! so with the first, too; a cache never does. That the second is seen to wait is what makes not seeing the first
//! one wait an answer.
//!
//! No two writes in a row go near each other, which even a plain buffer may join.

use crate::parameters::write_buffer::filling::{Emptying, empty, restore, runs, write_short};
use crate::parameters::write_buffer::robust::emptying;
use crate::robust::prepare::prepare;
use crate::robust::samples::of_step;
use crate::robust::units::write_unit;
use crate::{
    Answers, Estimate, Io, Parameter, Probe, Record, Series, Session, Space, Stop, Value, Verdict,
};
use fathom_base::Dur;
use fathom_stats::location;
use fathom_stats::onset::onset;
use std::ops::Range;

const PARAMETER: Parameter = Parameter::WritePolicy;
/// Runs of each kind in a batch, and batches.
const RUNS: u32 = 6;
const BATCHES: u32 = 3;
/// Pieces that half of the capacity is written in, at most.
const PIECES: u64 = 32;
/// Capacities that a run writes.
const VOLUMES: u64 = 2;
/// The capacity that one batch is set aside for, in bytes; smaller ones have all.
const CAPACITY_WORTH: u64 = 64 << 20;
/// What it needs under a budget, in bytes: the places of the largest buffer that is looked for.
const REACH: u64 = 384 << 20;
/// A wait of less than this share of a piece that fits does not matter.
const MATTERS: f64 = 0.05;

pub(crate) struct WritePolicy;

/// How a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    piece: u64,
    /// Places that come back.
    places: u64,
    /// Pieces of a run.
    writes: u64,
    /// Pieces that fit whatever the policy is.
    fitting: u64,
}

impl Layout {
    fn of(capacity: u64, block: u64) -> Option<Layout> {
        let piece = (capacity / 2 / PIECES / block).max(1) * block;
        let places = capacity / 2 / piece;
        // Two places of half the capacity each are the fewest that come back without being the one before.
        let places = places.max(2.min(capacity / piece));
        (places >= 2).then_some(Layout {
            piece,
            places,
            writes: VOLUMES * capacity / piece,
            fitting: (capacity / piece).saturating_sub(2).max(1),
        })
    }
}

/// How a run goes where the answer to the write buffer is known.
fn layout(buffer: &Estimate, space: &Space) -> Option<Layout> {
    Layout::of(buffer.bytes()?, space.block_bytes)
}

fn name(batch: u32) -> String {
    format!("rounds {batch}")
}

/// Where the pieces of both kinds lie.
struct Places {
    start: u64,
    /// From an even place to the odd one after it.
    half: u64,
    stride: u64,
    /// Room to begin in.
    slack: u64,
}

impl Places {
    /// In units of their own, but close together: places that come back must not save merges. Even and odd places lie
    /// far apart, so that no write goes to the unit or the stripe of the one before.
    fn new(session: &Session<'_>, space: &Space, layout: &Layout) -> Option<Places> {
        let stride = write_unit(session)
            .max(layout.piece)
            .next_multiple_of(layout.piece);
        let area = (layout.writes + layout.places) / 2 * stride + stride;
        let half = ((space.span() / 2) >> 20) << 20;
        (area <= half).then(|| Places {
            start: session.region().start,
            half: match emptying(session.record()) {
                Emptying::Flush => half,
                // What is forgotten is written again: no more than must be.
                Emptying::Forget => half.min((2 * area).next_multiple_of(1 << 20)),
            },
            stride,
            slack: half - area,
        })
    }

    fn window(&self) -> Range<u64> {
        self.start..self.start + 2 * self.half
    }

    fn at(&self, base: u64, place: u64) -> u64 {
        self.start + base + place % 2 * self.half + place / 2 * self.stride
    }
}

/// One run into emptied memory; how long it took.
fn fill(
    io: &mut Io<'_>,
    layout: &Layout,
    places: &Places,
    distinct: bool,
    rep: u32,
) -> Result<Dur, Stop> {
    let room = places.slack.min(places.half / 2);
    let base = io.rng.below((room >> 20).max(1)) << 20;
    let begin = io.now();
    for i in 0..layout.writes {
        let place = if distinct {
            layout.places + i
        } else {
            i % layout.places
        };
        write_short(io, places.at(base, place), layout.piece)?;
        let series = if distinct {
            Series::DISTINCT
        } else {
            Series::REWRITE
        };
        io.sample(series, (i + 1) * layout.piece, rep);
    }
    Ok(io.now().since(begin))
}

impl Probe for WritePolicy {
    fn bound(&self, space: &Space) -> u64 {
        let capacity = CAPACITY_WORTH.min(space.span() / 4);
        // And what was forgotten written again.
        2 * u64::from(RUNS) * VOLUMES * capacity + 8 * capacity
    }

    fn expected(&self, space: &Space) -> u64 {
        self.bound(space) / 32
    }

    fn least(&self, space: &Space) -> u64 {
        // As much for a small buffer.
        self.bound(space) / 512
    }

    fn reach(&self, _: &Space) -> u64 {
        REACH
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let known = session.known(Parameter::WriteBuffer);
        let Some(layout) = known.and_then(|buffer| layout(buffer, &space)) else {
            return Ok(());
        };
        prepare(session, PARAMETER)?;
        let Some(places) = Places::new(session, &space, &layout) else {
            return Ok(());
        };
        let by = emptying(session.record());
        for batch in 0..BATCHES {
            session.step(PARAMETER, &name(batch), |io| {
                let window = places.window();
                let mut took = Dur::ms(100);
                for rep in 0..RUNS {
                    let mut arms = [false, true];
                    io.rng.shuffle(&mut arms);
                    for distinct in arms {
                        empty(io, by, &window, took)?;
                        took = fill(io, &layout, &places, distinct, rep)?;
                    }
                }
                empty(io, by, &window, took)
            })?;
            if decide(session.record(), &layout).flatten().is_some() {
                break;
            }
        }
        restore(session, PARAMETER, by, &places.window())
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let buffer = others(Parameter::WriteBuffer);
        let layout = layout(&buffer, &Space::of(record));
        match (
            layout.and_then(|layout| decide(record, &layout)),
            buffer.verdict,
        ) {
            (Some(Some(policy)), _) => {
                let reason = match policy {
                    "cache" => {
                        "writes that come back to the same places never wait for the flash; those that do not must"
                    }
                    _ => {
                        "writes that come back to the same places wait for the flash once the capacity is written, as those that do not"
                    }
                };
                Estimate::identified(Value::Word(policy.into()), reason)
            }
            (Some(None), _) => Estimate::inconclusive(
                "writes that do not come back were not seen to wait where they should, so that nothing can be said of those that do",
            ),
            (None, Verdict::Absent) => {
                Estimate::absent("there is no write buffer that could have a policy")
            }
            (None, Verdict::NotIdentifiable) => Estimate::not_identifiable(
                "the capacity of the write buffer is not identifiable, so that it cannot be filled on purpose",
            ),
            (None, Verdict::Identified) => Estimate::not_identifiable(
                "the write buffer has no room for two places, or the region none for enough of them",
            ),
            (None, Verdict::Inconclusive) => {
                Estimate::inconclusive("the capacity of the write buffer must be measured first")
            }
        }
    }
}

/// The policy where it was measured, and is settled.
fn decide(record: &Record, layout: &Layout) -> Option<Option<&'static str>> {
    let of = |series| -> Vec<Vec<f64>> {
        (0..BATCHES)
            .filter_map(|batch| of_step(record, PARAMETER, &name(batch)))
            .flat_map(|samples| runs(samples, series))
            .collect()
    };
    let (again, distinct) = (of(Series::REWRITE), of(Series::DISTINCT));
    let first: Vec<f64> = distinct
        .iter()
        .filter_map(|run| run.first())
        .copied()
        .collect();
    let least = MATTERS * location::median(&first)?;
    let fitting = layout.fitting as usize;
    // Where both kinds wait about the capacity, or only one.
    let late = |at: usize| at as u64 > layout.fitting + 2 + layout.fitting / 8;
    let waits = onset(&distinct, fitting, least);
    let same = onset(&again, fitting, least);
    Some(match (waits, same) {
        (Some(waits), None) if !late(waits) => Some("cache"),
        (Some(waits), Some(same)) if !late(waits) && !late(same) => Some("buffer"),
        _ => None,
    })
}

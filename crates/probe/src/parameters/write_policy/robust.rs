//! Write buffer or write cache (`parameter-aware-io` 4.3): tests whether memory keeps a single copy of what is written
//! repeatedly.
//!
//! Writes half of the known capacity in pieces, round after round, into emptied memory, and for comparison as many bytes at
//! places that are never written again. The second kind waits for the flash once the capacity is written. With a FIFO buffer
//! the first kind waits as well; with a cache it never does. Not seeing the first kind wait is an answer only because the
//! second kind is seen to wait.
//!
//! No two writes in a row are near each other, because even a plain buffer may merge those.

use crate::parameters::write_buffer::filling::{Emptying, empty, restore, runs, write_short};
use crate::parameters::write_buffer::robust::emptying;
use crate::robust::prepare::prepare;
use crate::robust::samples::of_step;
use crate::robust::size::SEEN;
use crate::robust::units::write_unit;
use crate::{
    Answers, Estimate, Io, Parameter, Probe, Quick, Record, Series, Session, Space, Stop, Value,
    Verdict,
};
use fathom_base::Dur;
use fathom_stats::location;
use fathom_stats::onset::onset;
use std::ops::Range;

const PARAMETER: Parameter = Parameter::WritePolicy;
/// The runs of each kind in a batch, and the most batches.
const RUNS: u32 = 6;
const BATCHES: u32 = 3;
/// The most pieces in which half of the capacity is written.
const PIECES: u64 = 32;
/// The number of capacities that a run writes.
const VOLUMES: u64 = 2;
/// The bound allows for one batch with a buffer of this capacity, in bytes; for small buffers it allows all batches.
const CAPACITY_WORTH: u64 = 64 << 20;
/// The bytes that it needs under a budget: the places for the largest buffer that is looked for.
const REACH: u64 = 384 << 20;
/// A wait shorter than this share of a piece that fits does not matter.
const MATTERS: f64 = 0.05;

pub(crate) struct WritePolicy;

/// The layout of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    piece: u64,
    /// The number of places that are written repeatedly.
    places: u64,
    /// The number of pieces of a run.
    writes: u64,
    /// The number of pieces that fit under either policy.
    fitting: u64,
}

impl Layout {
    fn of(capacity: u64, block: u64) -> Option<Layout> {
        let piece = (capacity / 2 / PIECES / block).max(1) * block;
        let places = capacity / 2 / piece;
        // Two places of half the capacity each are the fewest at which a write is not at the place of the one before.
        let places = places.max(2.min(capacity / piece));
        (places >= 2).then_some(Layout {
            piece,
            places,
            writes: VOLUMES * capacity / piece,
            fitting: (capacity / piece).saturating_sub(2).max(1),
        })
    }
}

/// Returns the layout of a run, if the capacity of the write buffer is known. Of memory that is emptied while it is filled, it
/// is what went in before a write waited.
fn layout(buffer: &Estimate, space: &Space) -> Option<Layout> {
    let seen = buffer.evidence.figures.get(SEEN);
    let capacity = seen.map_or(buffer.bytes()?, |seen| *seen as u64);
    Layout::of(capacity, space.block_bytes)
}

fn name(batch: u32) -> String {
    format!("rounds {batch}")
}

/// The places of the pieces of both kinds.
struct Places {
    start: u64,
    /// The distance from an even place to the odd one after it, in bytes.
    half: u64,
    stride: u64,
    /// The room for random starting points, in bytes.
    slack: u64,
}

impl Places {
    /// Each place has a unit of its own, but the places are close together: places that are written repeatedly must not save
    /// merges. Even and odd places are far apart, so that no write goes to the unit or the stripe of the one before.
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
                // The trimmed range must be written again, so keep it as small as possible.
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

/// Executes one run into emptied memory. Returns how long it took.
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
        // Includes writing the trimmed range again.
        2 * u64::from(RUNS) * VOLUMES * capacity + 8 * capacity
    }

    fn expected(&self, space: &Space) -> u64 {
        self.bound(space) / 32
    }

    fn quick(&self) -> Quick {
        // Memory of some tens of megabytes takes half a gigabyte.
        Quick {
            bytes_percent: 15,
            ..Quick::default()
        }
    }

    fn least(&self, space: &Space) -> u64 {
        // The same for a small buffer.
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

/// Returns the policy. The outer `None` if it was not measured, the inner one if it is not settled.
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
    // Both kinds wait at about the capacity (a buffer), or only the second kind does (a cache).
    let late = |at: usize| at as u64 > layout.fitting + 2 + layout.fitting / 8;
    let waits = onset(&distinct, fitting, least);
    let same = onset(&again, fitting, least);
    Some(match (waits, same) {
        (Some(waits), None) if !late(waits) => Some("cache"),
        (Some(waits), Some(same)) if !late(waits) && !late(same) => Some("buffer"),
        _ => None,
    })
}

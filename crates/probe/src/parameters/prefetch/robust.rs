//! Prefetch (`parameter-aware-io` 4.3): tests whether reads at consecutive places are faster than the same reads in another
//! order.
//!
//! One stretch that was not read before is read upwards, and another in an order without neighbours. Each place is read
//! once, so units, stripes, the map and lines of a buffer have the same effect on both, and only a drive that predicts the
//! next read makes a difference. Reads shorter than a line of the buffer are skipped, because a buffer of a few lines keeps
//! a line for the neighbour but not for a place that comes later. They are recognised by pairs: after the upper half of a
//! place, the lower half is read faster. A difference is measured twice.

use crate::robust::prepare::prepare;
use crate::robust::samples::times;
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_base::Dur;
use fathom_stats::separate::{Decision, Separation, separate};

const PARAMETER: Parameter = Parameter::Prefetch;
/// The number of pairs of neighbours for one size.
const PAIRS: u32 = 24;
/// The stretches of each order in a round, the reads of a stretch, and its first reads that are not sampled because a drive
/// may need them to detect the stream.
const STRETCHES: u32 = 6;
const ROW: u64 = 24;
const UNSEEN: u64 = 10;
/// The longest read, in bytes.
const READ_MAX: u64 = 1 << 20;
/// The relative difference below which times count as equal.
const MARGIN: f64 = 0.05;
/// The confidence of each comparison; about twenty are made.
const CONFIDENCE: f64 = 0.9995;
const PAUSE: Dur = Dur::ms(300);

pub(crate) struct Prefetch;

/// A step to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Pair(u64),
    Rows(u64, u32),
}

fn name(next: Next) -> String {
    match next {
        Next::Pair(len) => format!("pairs {len}"),
        Next::Rows(len, round) => format!("rows {len} round {round}"),
    }
}

/// Compares two series of a step; `None` if the step was not made.
fn arms(record: &Record, next: Next, series: [Series; 2]) -> Option<Separation> {
    let [a, b] = series.map(|series| times(record, PARAMETER, &name(next), series));
    separate(&a, &b, CONFIDENCE, MARGIN)
}

/// Returns the sizes that are tried, in bytes.
fn lens(space: &Space, longest: u64) -> Vec<u64> {
    let most = READ_MAX.min(longest).min(space.span() / (8 * ROW));
    let all = std::iter::successors(Some(space.block_bytes), |len| Some(len * 2));
    all.take_while(|len| *len <= most).collect()
}

/// Returns true if the first time is less by more than the margin.
fn less(test: &Separation) -> bool {
    test.decision == Decision::Less && test.interval.high < 1.0 - MARGIN
}

/// Compares the two orders for a size and a round.
fn rows(record: &Record, len: u64, round: u32) -> Option<Separation> {
    arms(
        record,
        Next::Rows(len, round),
        [Series::CONSECUTIVE, Series::SCATTERED],
    )
}

/// Returns the next step that is missing.
fn next(record: &Record, space: &Space) -> Option<Next> {
    for len in lens(space, record.meta.target.max_request_bytes) {
        let pair = Next::Pair(len);
        let Some(test) = arms(record, pair, [Series::HIT, Series::MISS]) else {
            return Some(pair);
        };
        if test.decision == Decision::Less {
            continue;
        }
        for round in 0..2 {
            match rows(record, len, round) {
                None => return Some(Next::Rows(len, round)),
                Some(test) if !less(&test) => break,
                Some(_) if round == 1 => return None,
                Some(_) => {}
            }
        }
    }
    None
}

/// Reads the upper half of a place, then the lower one.
fn read_pairs(session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
    let (start, span) = (session.region().start, session.space().span());
    session.step(PARAMETER, &name(Next::Pair(len)), |io| {
        for rep in 0..PAIRS {
            let place = start + io.rng.below(span / (2 * len)) * 2 * len;
            io.read(place + len, len)?;
            io.sample(Series::MISS, len, rep);
            io.read(place, len)?;
            io.sample(Series::HIT, len, rep);
        }
        Ok(())
    })
}

fn read_rows(session: &mut Session<'_>, len: u64, round: u32) -> Result<(), Stop> {
    let (start, span) = (session.region().start, session.space().span());
    session.step(PARAMETER, &name(Next::Rows(len, round)), |io| {
        if round > 0 {
            io.idle(PAUSE)?;
        }
        for stretch in 0..STRETCHES {
            let mut kinds = [(Series::CONSECUTIVE, true), (Series::SCATTERED, false)];
            io.rng.shuffle(&mut kinds);
            for (series, upwards) in kinds {
                let from = start + io.rng.below(span / (2 * ROW * len)) * 2 * ROW * len;
                for i in 0..ROW {
                    let place = if upwards { i } else { i * 7 % ROW };
                    io.read(from + place * len, len)?;
                    if i >= UNSEEN {
                        io.sample(series, len, stretch * ROW as u32 + i as u32);
                    }
                }
            }
        }
        Ok(())
    })
}

impl Probe for Prefetch {
    fn bound(&self, _: &Space) -> u64 {
        0
    }

    fn reach(&self, _: &Space) -> u64 {
        // With this many bytes all lengths are tried.
        8 * ROW * READ_MAX
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let space = session.space();
        loop {
            match next(session.record(), &space) {
                Some(Next::Pair(len)) => read_pairs(session, len)?,
                Some(Next::Rows(len, round)) => read_rows(session, len, round)?,
                None => return Ok(()),
            }
        }
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let space = Space::of(record);
        let lens = lens(&space, record.meta.target.max_request_bytes);
        let tested: Vec<(u64, Separation, Option<Separation>)> = lens
            .into_iter()
            .filter_map(|len| Some((len, rows(record, len, 0)?, rows(record, len, 1))))
            .collect();
        let found = tested
            .iter()
            .find(|(_, first, again)| less(first) && again.as_ref().is_some_and(less));
        if let Some((len, test, _)) = found {
            let reason = format!(
                "reads of {} take {:.2} of the time in ascending order, again after a pause",
                size(*len),
                test.ratio
            );
            return Estimate::identified(Value::Word("read-ahead".into()), reason)
                .figure("ratio", test.ratio);
        }
        if tested.is_empty() {
            return Estimate::inconclusive("the region is too small for rows of reads");
        }
        let settled = tested
            .iter()
            .all(|(_, test, _)| test.interval.low > 1.0 - 3.0 * MARGIN);
        if settled {
            return Estimate::absent(
                "reads at consecutive places are no faster than the same reads in another order",
            );
        }
        Estimate::inconclusive("the noise hides whether consecutive reads are faster")
    }
}

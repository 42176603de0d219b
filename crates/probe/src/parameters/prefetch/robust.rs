//! Prefetch (`parameter-aware-io` 4.3): whether reads at consecutive places are faster than the same reads in another
//! order.
//!
//! A stretch that was not read before is read upwards, and another one in an order without neighbours: each place once,
//! so that units, stripes, maps and lines of a buffer do the same for both, and only a drive that foresees the next read
//! tells them apart. Reads shorter than a line of the buffer are left out, because a buffer of a few lines keeps a
//! line for the neighbour and not for a place that comes later: there the lower half of a pair is read faster after
//! the upper one. A difference is measured twice.

use crate::robust::prepare::prepare;
use crate::robust::samples::times;
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_base::Dur;
use fathom_stats::separate::{Decision, Separation, separate};

const PARAMETER: Parameter = Parameter::Prefetch;
/// Pairs of neighbours, for one size.
const PAIRS: u32 = 24;
/// Stretches of each order in a round, reads of one, and those at its beginning that a drive may need to see the stream.
const STRETCHES: u32 = 6;
const ROW: u64 = 24;
const UNSEEN: u64 = 10;
/// The longest read, in bytes.
const READ_MAX: u64 = 1 << 20;
/// A difference below this share is none.
const MARGIN: f64 = 0.05;
/// Confidence of every comparison; about twenty are made.
const CONFIDENCE: f64 = 0.9995;
const PAUSE: Dur = Dur::ms(300);

pub(crate) struct Prefetch;

/// What is to be done.
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

/// Both arms of a step; `None` where it was not made.
fn arms(record: &Record, next: Next, series: [Series; 2]) -> Option<Separation> {
    let [a, b] = series.map(|series| times(record, PARAMETER, &name(next), series));
    separate(&a, &b, CONFIDENCE, MARGIN)
}

/// Sizes that are tried.
fn lens(space: &Space, longest: u64) -> Vec<u64> {
    let most = READ_MAX.min(longest).min(space.span() / (8 * ROW));
    let all = std::iter::successors(Some(space.block_bytes), |len| Some(len * 2));
    all.take_while(|len| *len <= most).collect()
}

/// Whether the time of the first is less by more than the margin.
fn less(test: &Separation) -> bool {
    test.decision == Decision::Less && test.interval.high < 1.0 - MARGIN
}

/// Comparisons of the two orders, by size and round.
fn rows(record: &Record, len: u64, round: u32) -> Option<Separation> {
    arms(
        record,
        Next::Rows(len, round),
        [Series::CONSECUTIVE, Series::SCATTERED],
    )
}

/// What is missing, where something is.
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

/// The upper half of a place, then the lower one.
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
        // All lengths are tried from there on.
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

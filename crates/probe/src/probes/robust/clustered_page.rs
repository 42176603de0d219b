//! The clustered page (`parameter-aware-io` 4.1.1, 4.2.3): the period at which flushed writes get cheaper, confirmed
//! by writing the same size aligned and shifted.
//!
//! The sweep looks for a comb over a line, against a smooth curve and against a staircase, which a program unit or
//! a stripe gives without any read-modify-write. The comb is a hint; the answer is the size of which a write costs
//! more when it is shifted by half, while one of twice the size does not: the unit is then neither smaller nor
//! larger. Without a hint every power of two is tried.

use super::{identified, prepare, size, sizes, without};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};
use crate::solve::comb::{self, Choice, Point};
use crate::solve::separate::{Decision, Separation, separate};

const PARAMETER: Parameter = Parameter::ClusteredPage;
/// Sizes of a sweep.
const GRID: u64 = 64;
/// Consecutive writes at each size and round, the first of which is left out: it may pay for what was before.
const REPS: u32 = 7;
const ROUNDS: u32 = 3;
/// Steps of the sweeps, in bytes: up to 64 KiB, 256 KiB and 1 MiB.
const GRAINS: [u64; 3] = [1 << 10, 4 << 10, 16 << 10];
/// Aligned and shifted writes each in a round, and rounds at most.
const PAIRS: u64 = 24;
const SHIFT_ROUNDS: u64 = 4;
/// P-values that ask for more pairs, and that forbid to call the unit absent (many sizes are tried).
const SUSPICIOUS: (f64, f64) = (0.02, 0.001);
/// Repetitions are numbered from so many times the factor on where a size is divided.
const DIVISION: u32 = 1_000;
/// Steps from a hint to the answer.
const REFINEMENTS: u32 = 5;
/// The largest size tried without a hint, in bytes.
const LADDER_MAX: u64 = 256 << 10;
/// Sweeps start on multiples of this, which any unit looked for divides or is not a power of two.
const BASE: u64 = 1 << 20;

pub(super) struct ClusteredPage;

impl ClusteredPage {
    /// The steps of the sweeps on this drive: no finer than its logical block, no wider than its span.
    fn grains(space: &Space) -> Vec<u64> {
        let mut grains: Vec<u64> = GRAINS.iter().map(|g| space.round_up(*g)).collect();
        grains.dedup();
        grains.retain(|grain| grain * GRID * u64::from(REPS) + BASE <= space.span());
        grains
    }

    fn sweep(&self, session: &mut Session<'_>, grain: u64, round: u32) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        session.step(PARAMETER, &format!("sweep {grain} round {round}"), |io| {
            let mut order: Vec<u64> = (1..=GRID).map(|i| i * grain).collect();
            io.rng.shuffle(&mut order);
            for len in order {
                let bases = (span - len * u64::from(REPS)) / BASE;
                let mut offset = start + io.rng.below(bases.max(1)) * BASE;
                for rep in 0..REPS {
                    io.write_flush(offset, len)?;
                    if rep > 0 {
                        io.sample(Series::Sweep, len, round * REPS + rep);
                    }
                    offset += len;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Writes of `len` at even multiples of it, and shifted from there by half; both in random order.
    fn compare(&self, session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
        for round in 0..SHIFT_ROUNDS {
            self.compare_once(session, len, round)?;
            if !unsettled(session.record(), len, SUSPICIOUS.0) {
                break;
            }
        }
        Ok(())
    }

    fn compare_once(&self, session: &mut Session<'_>, len: u64, round: u64) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let (start, span, shift) = (
            session.region().start,
            space.span(),
            space.round_up(len / 2),
        );
        session.step(PARAMETER, &format!("shift {len} round {round}"), |io| {
            for rep in 0..PAIRS {
                let base = io.rng.below((span / (8 * len)).max(1)) * 8 * len;
                let mut arms = [(Series::Aligned, 0), (Series::Shifted, shift)];
                io.rng.shuffle(&mut arms);
                // The first write in a place pays for what was there before.
                io.write_flush(start + base, len)?;
                for (i, (series, shift)) in arms.into_iter().enumerate() {
                    let offset = base + 2 * (i as u64 + 1) * len + shift;
                    io.write_flush(start + offset.min(span - len), len)?;
                    io.sample(series, len, (round * PAIRS + rep) as u32);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Climbs or descends from a hint to the size whose shift costs while that of its double does not.
    fn refine(&self, session: &mut Session<'_>, hint: u64) -> Result<bool, Stop> {
        let space = Space::from(&*session);
        let mut len = hint;
        for _ in 0..REFINEMENTS {
            let fits = |len: u64| {
                len >= 2 * space.block_bytes
                    && len.is_multiple_of(2 * space.block_bytes)
                    && 16 * len <= space.span()
            };
            if !fits(len) || !fits(2 * len) {
                return Ok(false);
            }
            for len in [len, 2 * len] {
                if costs(session.record(), len).is_none() {
                    self.compare(session, len)?;
                }
            }
            match (
                costs(session.record(), len),
                costs(session.record(), 2 * len),
            ) {
                (Some(true), Some(false)) => return self.divide(session, len).map(|()| true),
                (_, Some(true)) => len *= 2,
                (Some(false), _) => len /= 2,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// A size that is an odd multiple of the unit looks like the unit to the shift test: writes of two thirds (two
    /// fifths, ...) of it that lie across its boundary are compared with writes that do not.
    fn divide(&self, session: &mut Session<'_>, hint: u64) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let (start, span) = (session.region().start, space.span());
        for factor in odd_factors(hint, space.block_bytes) {
            let part = hint / factor;
            session.step(PARAMETER, &format!("divide {hint} by {factor}"), |io| {
                for rep in 0..2 * PAIRS {
                    let base = io.rng.below((span / (8 * hint)).max(1)) * 8 * hint;
                    let mut arms = [(Series::Aligned, 0), (Series::Shifted, (factor - 1) * part)];
                    io.rng.shuffle(&mut arms);
                    io.write_flush(start + base, 2 * part)?;
                    for (i, (series, shift)) in arms.into_iter().enumerate() {
                        let offset = base + 2 * (i as u64 + 1) * hint + shift;
                        io.write_flush(start + offset.min(span - 2 * part), 2 * part)?;
                        io.sample(series, hint, DIVISION * factor as u32 + rep as u32);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Tries every power of two.
    fn ladder(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let lens = std::iter::successors(Some(2 * space.block_bytes), |len| Some(2 * len));
        for len in lens.take_while(|len| *len <= LADDER_MAX && 16 * len <= space.span()) {
            if costs(session.record(), len).is_none() {
                self.compare(session, len)?;
            }
        }
        Ok(())
    }
}

/// The answer, where a run measured it.
pub(super) fn known(record: &Record) -> Option<u64> {
    let measured = record.steps.iter().any(|s| s.parameter == PARAMETER);
    measured.then(|| ClusteredPage.solve(record).value?.bytes())?
}

/// What the sweep with one grain says.
fn solve_sweep(record: &Record, grain: u64) -> Option<comb::CombAnswer> {
    let samples = record.series(PARAMETER, Series::Sweep);
    let points: Vec<Point> = samples
        .filter(|s| {
            record.steps[s.step as usize]
                .name
                .starts_with(&format!("sweep {grain} "))
        })
        .map(|s| Point {
            x_bytes: s.x,
            y_ns: s.ns as f64,
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    comb::solve(
        &points,
        &comb::candidates(&points),
        &comb::Options::default(),
    )
    .ok()
}

/// The shift test of one size.
fn shift(record: &Record, len: u64) -> Option<Separation> {
    arms(record, len, 0)
}

/// The shift test of one size, or (`factor` above 0) the division of it.
fn arms(record: &Record, len: u64, factor: u32) -> Option<Separation> {
    let arms = [Series::Shifted, Series::Aligned].map(|series| -> Vec<f64> {
        let all = record.series(PARAMETER, series).filter(|s| s.x == len);
        all.filter(|s| s.rep / DIVISION == factor)
            .map(|s| s.ns as f64)
            .collect()
    });
    separate(&arms[0], &arms[1], 0.999, 0.05)
}

/// Odd numbers that divide a size into whole pairs of logical blocks.
fn odd_factors(len: u64, block_bytes: u64) -> Vec<u64> {
    [7, 5, 3]
        .into_iter()
        .filter(|f| len.is_multiple_of(2 * f * block_bytes))
        .collect()
}

/// The size itself, or the odd part of it across whose boundary nothing costs more.
fn divided(record: &Record, len: u64) -> u64 {
    let block_bytes = u64::from(record.meta.target.logical_block_bytes);
    let free = |factor: &u64| {
        arms(record, len, *factor as u32)
            .is_some_and(|test| test.interval.low <= 1.02 && test.ratio < 1.05)
    };
    odd_factors(len, block_bytes)
        .into_iter()
        .find(free)
        .map_or(len, |factor| len / factor)
}

/// Whether the pairs so far speak for a difference (p-value below `p`) that they do not settle.
fn unsettled(record: &Record, len: u64, p: f64) -> bool {
    shift(record, len)
        .is_none_or(|test| test.decision == Decision::Undecided && test.ratio > 1.01 && test.p < p)
}

/// Whether a write of `len` costs more shifted by half; `None` where that was not tried.
fn costs(record: &Record, len: u64) -> Option<bool> {
    shift(record, len).map(|test| test.decision == Decision::Greater && test.interval.low > 1.02)
}

/// The largest size whose shift costs while that of its double does not.
fn found(record: &Record) -> Option<u64> {
    let tried = sizes(record, PARAMETER, Series::Shifted);
    let fits =
        |len: &&u64| costs(record, **len) == Some(true) && costs(record, 2 * **len) == Some(false);
    tried
        .iter()
        .rev()
        .find(fits)
        .map(|len| divided(record, *len))
}

fn grains_of(record: &Record) -> Vec<u64> {
    let names = record
        .steps
        .iter()
        .filter(|s| s.parameter == PARAMETER)
        .map(|s| s.name.as_str());
    let mut grains: Vec<u64> = names
        .filter_map(|n| n.strip_prefix("sweep ")?.split(' ').next()?.parse().ok())
        .collect();
    grains.dedup();
    grains
}

impl Probe for ClusteredPage {
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
        let sweeps = Self::grains(space)
            .into_iter()
            .map(|g| g * GRID * (GRID + 1) / 2 * u64::from(REPS * ROUNDS));
        let shifts = 3 * PAIRS * SHIFT_ROUNDS * (2 * LADDER_MAX + (2 << 20));
        sweeps.sum::<u64>() + shifts
    }

    fn expected(&self, space: &Space) -> u64 {
        self.bound(space) / 8
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        for grain in Self::grains(&Space::from(&*session)) {
            for round in 0..ROUNDS {
                self.sweep(session, grain, round)?;
                match solve_sweep(session.record(), grain).map(|answer| answer.choice) {
                    Some(Choice::Comb(period)) => {
                        if self.refine(session, period)? {
                            return Ok(());
                        }
                        break;
                    }
                    Some(Choice::Undecided) => {}
                    _ => break,
                }
            }
        }
        self.ladder(session)
    }

    fn solve(&self, record: &Record) -> Estimate {
        if let Some(period) = found(record) {
            let tried = sizes(record, PARAMETER, Series::Shifted);
            let shown = tried
                .into_iter()
                .filter(|len| costs(record, *len) == Some(true))
                .max();
            let ratio = shown
                .and_then(|len| shift(record, len))
                .map_or(1.0, |test| test.ratio);
            let reason = format!(
                "a flushed write of {period} costs {ratio:.2} times as much shifted by half, and one of twice the size costs the same",
                period = size(period)
            );
            return identified(PARAMETER, Value::Bytes(period), reason)
                .figure("shifted_ratio", ratio);
        }
        let answers: Vec<_> = grains_of(record)
            .into_iter()
            .filter_map(|g| solve_sweep(record, g))
            .collect();
        let hidden = answers.iter().map(|a| a.hidden_share).fold(0.0, f64::max);
        let tried = sizes(record, PARAMETER, Series::Shifted);
        let periodic = answers
            .iter()
            .any(|a| matches!(a.choice, Choice::Comb(_) | Choice::Staircase(_)));
        let (verdict, reason) = if answers.is_empty() || tried.is_empty() {
            (
                Verdict::Inconclusive,
                "the region is too small to measure it in",
            )
        } else if tried.iter().any(|len| costs(record, *len) == Some(true)) {
            (
                Verdict::Inconclusive,
                "some shifted writes cost more, but no size was found from which on they do not",
            )
        } else if tried
            .iter()
            .any(|len| shift(record, *len).is_some_and(|s| s.decision == Decision::Undecided))
        {
            (
                Verdict::Inconclusive,
                "the noise hides whether a shifted write costs more",
            )
        } else if periodic {
            (
                Verdict::NotIdentifiable,
                "the latency steps with the size, but no shifted write costs more: a program unit or a stripe, not one that is read and modified",
            )
        } else {
            (
                Verdict::Absent,
                "no write costs more when it is shifted: a partly written unit costs nothing that can be seen",
            )
        };
        without(PARAMETER, verdict, reason).figure("hidden_share", hidden)
    }
}

//! Random overwrites until the speed is steady, at one utilisation after the other.
//!
//! Steady is decided by an equivalence test: the batches of the last fill against those of the fill before. A rule that only
//! looks at range and slope of a few rounds (SNIA PTS 2.0.2) fires while a drive still has erased blocks.

use crate::robust::samples::of_step;
use crate::robust::size::SEEN;
use crate::{Estimate, Parameter, Record, Series, Session, Space, Stop};
use fathom_block::DriveLog;
use fathom_stats::location;
use fathom_stats::separate::{Decision, separate};

/// Batches of random overwrites; `x` is the part of the drive that holds data, in bytes.
pub(crate) const OVERWRITE: Series = Series::new("overwrite");
/// Batches of random overwrites and of those in order of the smallest part, with all else trimmed from the beginning.
pub(crate) const SPARSE: Series = Series::new("overwrite_few");
pub(crate) const IN_ORDER: Series = Series::new("overwrite_order");
/// Batches of random overwrites of a part that is not much longer than blocks; `x` is the part, in bytes. They tell apart what
/// merges blocks: a log for all of them, or a log block for each.
pub(crate) const NEAR: Series = Series::new("overwrite_near");

const PARAMETER: Parameter = Parameter::OverProvisioning;
/// The parts of the capacity that hold data, in percent, in the order in which they are measured.
pub(crate) const USED: [u64; 6] = [100, 90, 80, 65, 45, 20];
/// The batches of random writes in which a part is overwritten once.
const BATCHES: u64 = 16;
/// The most fills of a part, for the first and for the others: the state after the first is not far from the next.
const FILLS: u64 = 6;
const FILLS_LATER: u64 = 4;
/// The parts that are not much longer than blocks, in bytes, and the batches and the writes of a batch in each.
const NEAR_PARTS: [u64; 4] = [4 << 20, 16 << 20, 64 << 20, 256 << 20];
const NEAR_BATCHES: u64 = 8;
const NEAR_WRITES: u64 = 64;
/// The length of a write, in bytes, if the indirection unit is not known.
const LEN: u64 = 64 << 10;
/// The number of writes in flight.
const DEPTH: u32 = 32;
/// The confidence of the equivalence, and the relative difference that counts as none.
const CONFIDENCE: f64 = 0.9;
const SAME: f64 = 0.05;
/// The ratio of the means of the last two fills up to which the last one counts even if the test has not decided: where large
/// units are collected at once, batches differ too much for it. Half of the difference then counts as an error.
const NEARLY: f64 = 1.1;
/// The time on the drive's clock after which no more is measured, in nanoseconds.
const LONG_NS: u64 = 48 * 3_600_000_000_000;

/// The speed at one utilisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steady {
    /// The time of a byte, in nanoseconds, over the last fill, and its relative standard error.
    pub(crate) ns_per_byte: f64,
    pub(crate) error: f64,
    /// Bytes written to the media for each byte of the host, if the drive tells.
    pub(crate) media: Option<f64>,
}

/// Returns the length of a part, in bytes.
fn part(space: &Space, used: u64) -> u64 {
    let bytes = (u128::from(space.bytes()) * u128::from(used) / 100) as u64;
    bytes / LEN * LEN
}

fn fills(used: u64) -> u64 {
    if used == USED[0] { FILLS } else { FILLS_LATER }
}

fn name(used: u64, fill: u64) -> String {
    format!("overwrites of {used} % fill {fill}")
}

/// The names of the steps of overwrites in order, of a few blocks, and of the fill.
const ORDER: &str = "overwrites in order";
const FEW_BLOCKS: &str = "overwrites of a few blocks";
const FILL: &str = "fill";
/// The largest ratio of random to ordered overwrites on a nearly empty drive that moves no data.
pub(crate) const ORDER_MAX: f64 = 1.6;

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    let parts = USED.iter().map(|used| fills(*used) * part(space, *used));
    let near = NEAR_PARTS.len() as u64 * NEAR_BATCHES * NEAR_WRITES * LEN;
    space.bytes() + parts.sum::<u64>() + 4 * part(space, USED[USED.len() - 1]) + near
}

/// Returns the length of a write on a drive that takes no longer requests than `longest`: a multiple of the indirection unit,
/// if it is known or writes fit one. A write that ends within a unit has it completed, and the next one writes it again: more
/// than the host's bytes age, and unevenly.
fn length(known: Option<&Estimate>, longest: u64, block: u64) -> u64 {
    let seen = |known: &Estimate| Some(*known.evidence.figures.get(SEEN)? as u64);
    let unit = known.and_then(|known| known.bytes().or_else(|| seen(known)));
    let unit = unit.unwrap_or(LEN);
    let len = if unit > LEN { unit } else { LEN / unit * unit };
    len.min(longest.max(unit)).next_multiple_of(block)
}

/// Fills the drive, and overwrites ever smaller parts of it, unless random overwrites are slow even where nothing is moved.
pub(crate) fn measure(session: &mut Session<'_>) -> Result<(), Stop> {
    let region = session.region();
    let known = session.known(Parameter::IndirectionUnit);
    let (longest, block) = (
        session.info().max_request_bytes,
        session.space().block_bytes,
    );
    let len = length(known, longest, block);
    sparse(session, len)?;
    match order(session.record()) {
        None => return Ok(()),
        Some(ratio) if ratio > ORDER_MAX => return near(session, len),
        Some(_) => {}
    }
    session.step(PARAMETER, FILL, |io| io.fill_sequential(region))?;
    for used in USED {
        for fill in 0..fills(used) {
            overwrite(session, used, fill, len)?;
            if steady(session.record(), used).is_some() {
                break;
            }
        }
        let spent = session
            .record()
            .steps
            .iter()
            .filter(|s| s.parameter == PARAMETER);
        let spent: u64 = spent.map(|step| step.cost.device_ns).sum();
        if spent > LONG_NS || steady(session.record(), USED[0]).is_none() {
            break;
        }
    }
    Ok(())
}

/// Overwrites the smallest part of the drive at random and in order, in turns, with all else trimmed.
fn sparse(session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
    let region = session.region();
    let live = part(&session.space(), USED[USED.len() - 1]);
    session.step(PARAMETER, ORDER, |io| {
        io.trim(region.start, region.end - region.start)?;
        io.fill_sequential(region.start..region.start + live)?;
        let places = (live / len).max(1);
        let count = (places / BATCHES).max(1);
        for batch in 0..BATCHES {
            let ordered = (0..count).map(|n| ((batch * count + n) % places) * len);
            let ordered: Vec<(u64, u64)> = ordered.map(|at| (region.start + at, len)).collect();
            let random = (0..count).map(|_| (region.start + io.rng.below(places) * len, len));
            let random: Vec<(u64, u64)> = random.collect();
            for (series, list) in [(SPARSE, random), (IN_ORDER, ordered)] {
                io.write_queued(&list, DEPTH)?;
                io.sample(series, live, batch as u32);
            }
        }
        Ok(())
    })
}

/// Overwrites a few blocks at random, and more of them.
fn near(session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
    let region = session.region();
    let live = part(&session.space(), USED[USED.len() - 1]);
    session.step(PARAMETER, FEW_BLOCKS, |io| {
        for near in NEAR_PARTS.into_iter().filter(|near| *near <= live) {
            let places = (near / len).max(1);
            for batch in 0..NEAR_BATCHES {
                let any =
                    (0..NEAR_WRITES).map(|_| (region.start + io.rng.below(places) * len, len));
                let list: Vec<(u64, u64)> = any.collect();
                io.write_queued(&list, DEPTH)?;
                io.sample(NEAR, near, batch as u32);
            }
        }
        Ok(())
    })
}

/// Overwrites a part once at random, after a trim of the rest.
fn overwrite(session: &mut Session<'_>, used: u64, fill: u64, len: u64) -> Result<(), Stop> {
    let (region, live) = (session.region(), part(&session.space(), used));
    session.step(PARAMETER, &name(used, fill), |io| {
        if fill == 0 && region.start + live < region.end {
            io.trim(region.start + live, region.end - region.start - live)?;
        }
        io.log();
        let places = (live / len).max(1);
        for batch in 0..BATCHES {
            let count = (places / BATCHES).max(1);
            let list: Vec<(u64, u64)> = (0..count)
                .map(|_| (region.start + io.rng.below(places) * len, len))
                .collect();
            io.write_queued(&list, DEPTH)?;
            io.sample(OVERWRITE, live, (fill * BATCHES + batch) as u32);
        }
        io.log();
        Ok(())
    })
}

fn times<'r>(samples: impl Iterator<Item = &'r crate::Sample>) -> Vec<f64> {
    samples
        .map(|s| s.ns as f64 / s.bytes.max(1) as f64)
        .collect()
}

/// Returns how many times as long random overwrites take as those in order on a nearly empty drive.
pub(crate) fn order(record: &Record) -> Option<f64> {
    let of = |series| {
        let samples = of_step(record, PARAMETER, ORDER)?;
        location::median(&times(samples.filter(|s| s.series == series)))
    };
    Some(of(SPARSE)? / of(IN_ORDER)?)
}

/// Returns the speed at one utilisation once two fills in a row have the same, or after the last fill one that is nearly so.
pub(crate) fn steady(record: &Record, used: u64) -> Option<Steady> {
    let of = |fill| Some(times(of_step(record, PARAMETER, &name(used, fill))?));
    let last = (0..fills(used))
        .take_while(|fill| of(*fill).is_some())
        .last()?;
    let (now, before) = (of(last)?, of(last.checked_sub(1)?)?);
    let test = separate(&now, &before, CONFIDENCE, SAME)?;
    let (mean, mean_before) = (location::mean(&now)?, location::mean(&before)?);
    let apart = (mean / mean_before).ln().abs();
    let undecided = match test.decision {
        Decision::NotDifferent => 0.0,
        _ if last + 1 == fills(used) && apart <= NEARLY.ln() => 0.5 * apart,
        _ => return None,
    };
    let squares: f64 = now.iter().map(|t| (t - mean).powi(2)).sum();
    let count = now.len() as f64;
    let error = (squares / (count - 1.0) / count).sqrt() / mean;
    Some(Steady {
        ns_per_byte: mean,
        error: error.hypot(undecided),
        media: media(record, used, last),
    })
}

/// Returns the bytes written to the media for each byte of the host during a fill, if the drive's log tells.
fn media(record: &Record, used: u64, fill: u64) -> Option<f64> {
    let name = name(used, fill);
    let mut steps = record.steps.iter();
    let step = steps.find(|step| step.parameter == PARAMETER && step.name == name)?;
    let (first, last) = (step.logs.first()?, step.logs.last()?);
    let grown =
        |of: fn(&DriveLog) -> Option<u64>| Some(of(last)?.saturating_sub(of(first)?) as f64);
    let host = grown(|log| log.host_bytes_written)?;
    (host > 0.0).then_some(grown(|log| log.media_bytes_written)? / host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn writes_are_whole_units_even_where_the_unit_is_not_certain() {
        let of = |known: Option<&Estimate>| length(known, 1 << 20, 4096) >> 10;
        assert_eq!(of(None), 64);
        let named = |kib: u64| Estimate::identified(Value::Bytes(kib << 10), "");
        assert_eq!(
            [4, 36, 24, 128].map(|kib| of(Some(&named(kib)))),
            [64, 36, 48, 128]
        );
        let seen = Estimate::inconclusive("").figure(SEEN, f64::from(36 << 10));
        assert_eq!(of(Some(&seen)), 36);
        assert_eq!(of(Some(&Estimate::inconclusive(""))), 64);
    }
}

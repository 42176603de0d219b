//! The clustered page (`parameter-aware-io` 4.1.1, 4.2.3), as far as writes show it: the unit that is read, modified and
//! written as a whole.
//!
//! Small flushed writes at multiples of many sizes find the unit ([`straddle`]); writes of whole units, aligned and shifted
//! by half, show its cost. If no write shows a unit, it is *absent* only if a flushed write reaches the flash.

use super::{straddle, stream};
use crate::robust::prepare::prepare;
use crate::robust::samples::at;
use crate::robust::size::size;
use crate::{
    Answers, Estimate, Level, Parameter, Probe, Record, Series, Session, Space, Stop, Value,
    Verdict,
};
use fathom_stats::location;
use fathom_stats::separate::{Decision, Separation, separate};

const PARAMETER: Parameter = Parameter::ClusteredPage;
/// The number of aligned and of shifted writes in a round, and the most rounds.
const PAIRS: u64 = 24;
const SHIFT_ROUNDS: u64 = 4;
/// The sizes whose shift is tried if no unit showed, in bytes: nearly any small unit divides one of them.
const WHOLE: [u64; 3] = [64 << 10, 240 << 10, 252 << 10];
/// The confidence of a ratio, and the relative difference below which times count as equal.
const CONFIDENCE: f64 = 0.999;
const NONE: f64 = 0.05;
/// The least ratio at which a unit matters: of writes across its ends to others, or of shifted to aligned ones.
const MATTERS: f64 = 1.01;
/// The least ratio that counts even if the other ratio does not show it.
const LARGE: f64 = 1.05;
/// The bytes that it needs under a budget: enough for small writes at different places.
const REACH: u64 = 256 << 20;
/// The number of reads from the flash.
const READS: u64 = 64;
/// The share of the fastest flushed writes that are compared with reads.
const FASTEST: f64 = 0.05;

pub(crate) struct ClusteredPage;

/// Writes `len` bytes at multiples of `len`, and shifted from there by half, in random order.
fn compare(session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
    for round in 0..SHIFT_ROUNDS {
        compare_once(session, len, round)?;
        let settled = |test: Separation| test.decision != Decision::Undecided;
        if shift(session.record(), len).is_some_and(settled) {
            break;
        }
    }
    Ok(())
}

fn compare_once(session: &mut Session<'_>, len: u64, round: u64) -> Result<(), Stop> {
    let space = session.space();
    let (region, span) = (session.region().start, space.span());
    let (start, shift) = (
        region.next_multiple_of(len) - region,
        space.round_up(len / 2),
    );
    session.step(PARAMETER, &format!("shift {len} round {round}"), |io| {
        for rep in 0..PAIRS {
            let groups = (span - start) / (8 * len);
            let base = region + start + io.rng.below(groups.max(1)) * 8 * len;
            let mut arms = [(Series::ALIGNED, 0), (Series::SHIFTED, shift)];
            io.rng.shuffle(&mut arms);
            // The first write in a place pays for earlier writes there.
            io.write_flush(base, len)?;
            for (i, (series, shift)) in (1u64..).zip(arms) {
                io.write_flush(base + 2 * i * len + shift, len)?;
                io.sample(series, len, (round * PAIRS + rep) as u32);
            }
        }
        Ok(())
    })
}

/// Returns the sizes of [`WHOLE`] that fit.
fn wholes(space: &Space) -> impl Iterator<Item = u64> {
    let (block, span) = (space.block_bytes, space.span());
    let fits = move |len: &u64| len.is_multiple_of(2 * block) && 9 * len <= span;
    WHOLE.into_iter().filter(fits)
}

/// Reads at random places, with the length of the small writes.
fn read(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    let (start, len) = (session.region().start, 2 * space.block_bytes);
    session.step(PARAMETER, "reads", |io| {
        for rep in 0..READS {
            let offset = start + io.rng.below(space.span() / len) * len;
            io.read(offset, len)?;
            io.sample(Series::RANDOM_READ, len, rep as u32);
        }
        Ok(())
    })
}

/// Returns the result of the shift test of one size.
fn shift(record: &Record, len: u64) -> Option<Separation> {
    let of = |series| at(record, PARAMETER, series, len);
    separate(&of(Series::SHIFTED), &of(Series::ALIGNED), CONFIDENCE, NONE)
}

/// A write and its flush are two commands: memory may take those that are faster than as many reads, where most of a read is the
/// way to the drive.
pub(crate) const COMMANDS: f64 = 2.0;

/// Returns true if flushed writes complete faster than reads, that is, without waiting for the flash.
pub(crate) fn from_memory(record: &Record) -> bool {
    in_reads(record).is_some_and(|reads| reads < 1.0)
}

/// Returns the time of the fastest flushed writes in those of a read.
fn in_reads(record: &Record) -> Option<f64> {
    let of = |series| -> Vec<f64> {
        let samples = record.series(PARAMETER, series);
        samples.map(|s| s.ns as f64).collect()
    };
    let fastest = location::quantile(&of(Series::WITHIN), FASTEST);
    let read = location::median(&of(Series::RANDOM_READ));
    fastest.zip(read).map(|(write, read)| write / read)
}

/// A unit, and how many times as long writes take that are not aligned to it.
struct Unit {
    bytes: u64,
    /// The ratio of small writes across its ends to other small writes.
    straddling: f64,
    /// The ratio of whole writes shifted by half to aligned ones.
    shifted: f64,
}

impl Unit {
    /// Returns the larger of the two ratios.
    fn ratio(&self) -> f64 {
        self.straddling.max(self.shifted)
    }

    /// Returns true if both ratios show the unit, or if one of them is large. Whole shifted writes, which have two parts to
    /// complete, must confirm a small effect, because at the end of a stripe only small writes take a little longer: they
    /// wait for two lanes.
    fn agreed(&self) -> bool {
        self.straddling.min(self.shifted) >= MATTERS || self.ratio() >= LARGE
    }

    /// Returns why the unit is not named; `None` if there is no doubt.
    fn doubt(&self, space: &Space) -> Option<&'static str> {
        match () {
            () if self.ratio() < MATTERS => Some("too little to matter"),
            () if self.bytes > straddle::largest(space) => Some("a unit so large, or a block"),
            () if !self.agreed() => Some(
                "small ones and whole ones that are shifted do not both show it, so that it may be a stripe",
            ),
            () => None,
        }
    }
}

/// Returns the unit that showed in both looks.
fn unit(record: &Record) -> Option<Unit> {
    let bytes = straddle::shown(record).filter(|size| straddle::shown_again(record, *size))?;
    let [across, within] = straddle::arms(record, bytes);
    Some(Unit {
        bytes,
        straddling: separate(&across, &within, CONFIDENCE, NONE)?.ratio,
        shifted: shift(record, bytes).map_or(1.0, |test| test.ratio),
    })
}

/// Returns the clustered page in bytes, if a run has found it.
pub(crate) fn known(record: &Record) -> Option<u64> {
    let space = Space::of(record);
    let flushed = unit(record).filter(|unit| unit.doubt(&space).is_none());
    let shown = flushed.map(|unit| unit.bytes);
    shown.or_else(|| Some(stream::shown(record)?.bytes))
}

fn named(unit: &Unit) -> Estimate {
    let reason = format!(
        "a small flushed write across a multiple of {unit} takes {:.2} times as long as elsewhere, one of {unit} shifted by half {:.2} times as long as aligned",
        unit.straddling,
        unit.shifted,
        unit = size(unit.bytes)
    );
    Estimate::identified(Value::Bytes(unit.bytes), reason)
        .figure("straddling_ratio", unit.straddling)
        .figure("shifted_ratio", unit.shifted)
}

fn named_by_streams(shown: &stream::Shown) -> Estimate {
    let reason = format!(
        "memory answers flushed writes; streams of small writes across multiples of {} take {:.2} times as long as others once it is full",
        size(shown.bytes),
        shown.ratio
    );
    Estimate::identified(Value::Bytes(shown.bytes), reason).figure("stream_ratio", shown.ratio)
}

/// Returns the verdict and the reason if there is no value.
fn nameless(record: &Record) -> (Verdict, String) {
    let space = Space::of(record);
    let open = |reason: &str| (Verdict::Inconclusive, reason.to_owned());
    if straddle::sizes(&space).is_empty() {
        return open("the region is too small to measure it in");
    }
    let doubted = unit(record).and_then(|unit| Some((unit.doubt(&space)?, unit)));
    if let Some((why, unit)) = doubted {
        return open(&format!(
            "writes across multiples of {} take {:.3} times as long as elsewhere: {why}",
            size(unit.bytes),
            unit.ratio()
        ));
    }
    if straddle::shown(record).is_some() {
        return open("writes at multiples of a size took longer, and did not in the repetition");
    }
    if from_memory(record) {
        let hidden = "flushed writes are answered sooner than reads: memory takes them, and the work of the flash does not show";
        return match space.level {
            Level::Quick => open(&format!(
                "{hidden}; streams at depth 32, which may show it, are left to the full level"
            )),
            Level::Full => open(hidden),
        };
    }
    let shifts: Vec<Decision> = wholes(&space)
        .map(|len| shift(record, len).map_or(Decision::Undecided, |test| test.decision))
        .collect();
    let said = |verdict, reason: &str| (verdict, reason.to_owned());
    match (straddle::nowhere(record), shifts.as_slice()) {
        (true, shifts) if shifts.contains(&Decision::Greater) => said(
            Verdict::NotIdentifiable,
            "no small write takes longer for where it begins, but long ones do that are shifted: a program unit or a stripe, \
             not one that is read and modified",
        ),
        (true, shifts) if shifts.iter().all(|s| *s == Decision::NotDifferent) => {
            match in_reads(record) {
                Some(reads) if reads < COMMANDS => open(
                    "no write takes longer for where it begins, but flushed writes take less time than two reads: memory may take them",
                ),
                _ => said(
                    Verdict::Absent,
                    "no write takes longer for where it begins: a partly written unit costs nothing that can be seen",
                ),
            }
        }
        _ => open("the noise hides whether a write across the end of a unit takes longer"),
    }
}

impl Probe for ClusteredPage {
    fn bound(&self, space: &Space) -> u64 {
        let whole: u64 = wholes(space).sum();
        straddle::bound(space)
            + stream::bound(space)
            + 3 * PAIRS * SHIFT_ROUNDS * whole.max(256 << 10)
    }

    fn expected(&self, space: &Space) -> u64 {
        straddle::expected(space) + 3 * PAIRS * (64 << 10)
    }

    fn reach(&self, _: &Space) -> u64 {
        REACH
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        if straddle::sizes(&session.space()).is_empty() {
            return Ok(());
        }
        straddle::look(session)?;
        let shown = straddle::shown(session.record());
        if let Some(size) = shown {
            straddle::look_again(session, size)?;
            compare(session, size)?;
            if known(session.record()).is_some() {
                return Ok(());
            }
        }
        read(session)?;
        let hidden = from_memory(session.record());
        if hidden && session.space().level == Level::Quick {
            return Ok(());
        }
        if shown.is_some() || hidden {
            return stream::look(session);
        }
        for len in wholes(&session.space()) {
            compare(session, len)?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let space = Space::of(record);
        if let Some(unit) = unit(record).filter(|unit| unit.doubt(&space).is_none()) {
            return named(&unit);
        }
        if let Some(shown) = stream::shown(record) {
            return named_by_streams(&shown);
        }
        let (verdict, reason) = nameless(record);
        Estimate::without_value(verdict, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_effect_counts_where_both_kinds_of_writes_show_it() {
        let space = Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
            level: crate::record::Level::Full,
        };
        let cases = [
            (1.03, 1.03, true),
            (1.00, 1.03, false),
            (1.03, 1.00, false),
            (1.00, 1.06, true),
            (1.06, 1.00, true),
        ];
        for (straddling, shifted, named) in cases {
            let unit = Unit {
                bytes: 36 << 10,
                straddling,
                shifted,
            };
            let doubt = unit.doubt(&space);
            assert_eq!(doubt.is_none(), named, "{straddling} {shifted}: {doubt:?}");
        }
    }
}

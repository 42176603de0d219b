//! Small writes across the ends of units: finds the size at whose multiples a flushed write of two logical blocks takes
//! longer than elsewhere.
//!
//! A write that lies in two mapping units causes both to be read, modified and written. It is small, so nothing dilutes the
//! difference. A write across any multiple of the unit is slow, so writes at random multiples of many sizes tell which size
//! explains the slow ones.

use crate::robust::samples::of_step;
use crate::robust::units::PAGE_FACTORS;
use crate::{Parameter, Record, Series, Session, Space, Stop};
use fathom_stats::location;

const PARAMETER: Parameter = Parameter::ClusteredPage;

/// The pairs of writes per size in a round, for each size and for the size that was found.
const PAIRS: u64 = 12;
const PAIRS_AGAIN: u64 = 64;
/// The most rounds of the first sizes, and of all sizes once the first ones are excluded; the most rounds of the size that
/// was found.
const ROUNDS: u64 = 4;
const ROUNDS_AGAIN: u64 = 16;
/// This many consecutive pairs lie in a window of this many bytes: with log blocks the first write into a block costs a
/// merge.
const PAIRS_IN_ROW: u64 = 32;
const WINDOW: u64 = 1 << 20;
/// The least number of places in a window for a size to be named. Larger sizes, up to the window, are tried as well: one of
/// them may be a unit, or the block of a drive with log blocks, and then a divisor of it must not be named.
const PLACES_MIN: u64 = 4;
/// The larger sizes are multiples of this many bytes.
const LARGE_GRAIN: u64 = 16 << 10;
/// The least difference of mean scores in standard errors: for the best of all sizes, and for the same size again.
const STRONG: f64 = 6.0;
const STRONG_AGAIN: f64 = 4.0;
/// Times count as equal if their relative difference plus this many standard errors is below this.
const NONE: f64 = 0.05;
const CERTAIN: f64 = 3.3;
/// Logarithms of latencies are clipped at this many median absolute deviations from the median.
const FAR: f64 = 6.0;

/// A flushed write.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Written {
    /// The offset of its middle, in bytes.
    middle: u64,
    /// Its duration, in nanoseconds.
    ns: f64,
}

/// Returns the largest size that is named, in bytes.
pub(crate) fn largest(space: &Space) -> u64 {
    WINDOW.min(space.span()) / PLACES_MIN
}

/// Returns true if a size has no large prime factors, as is the case for most units.
fn smooth(blocks: u64) -> bool {
    let mut left = blocks;
    for factor in PAGE_FACTORS.into_iter().chain([7]) {
        while left.is_multiple_of(factor) {
            left /= factor;
        }
    }
    left == 1
}

/// Returns the sizes that are tried first, in bytes: those without large prime factors.
pub(crate) fn sizes(space: &Space) -> Vec<u64> {
    let block = space.block_bytes;
    let sizes = all(space).into_iter();
    sizes.filter(|size| smooth(size / block)).collect()
}

/// Returns all sizes, in bytes: every multiple of the logical block that can be named, and larger ones.
fn all(space: &Space) -> Vec<u64> {
    let (block, largest) = (space.block_bytes, largest(space));
    let named = (2..=largest / block).map(|n| n * block);
    let grain = LARGE_GRAIN.next_multiple_of(block);
    let large = (largest / grain + 1..=largest * PLACES_MIN / grain).map(|n| n * grain);
    let large = large.filter(|size| smooth(size / block));
    named.chain(large).collect()
}

/// Writes at multiples of all sizes until one of them shows, or until all are excluded.
pub(crate) fn look(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    let first = sizes(&space);
    for round in 0..ROUNDS {
        write(session, &format!("{LOOK}{round}"), &first, PAIRS)?;
        if shown(session.record()).is_some() {
            return Ok(());
        }
        if open(session.record(), &first).is_empty() {
            break;
        }
    }
    if !open(session.record(), &first).is_empty() {
        return Ok(());
    }
    for round in ROUNDS..2 * ROUNDS {
        let left = open(session.record(), &all(&space));
        if left.is_empty() {
            break;
        }
        write(session, &format!("{LOOK}{round}"), &left, PAIRS)?;
        if shown(session.record()).is_some() {
            break;
        }
    }
    Ok(())
}

/// Writes at multiples of the size that showed until it shows again.
pub(crate) fn look_again(session: &mut Session<'_>, size: u64) -> Result<(), Stop> {
    for round in 0..ROUNDS_AGAIN {
        let name = format!("{}{round}", again(size));
        write(session, &name, &[size], PAIRS_AGAIN)?;
        if shown_again(session.record(), size) {
            break;
        }
    }
    Ok(())
}

/// Returns the bytes that `sizes` sizes take in a round, plus `again` rounds of a size that is looked at again.
fn written(space: &Space, sizes: usize, again: u64) -> u64 {
    (sizes as u64 * PAIRS + PAIRS_AGAIN * again) * 4 * space.block_bytes
}

/// The most that is written, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    let sizes = ROUNDS as usize * (sizes(space).len() + all(space).len());
    written(space, sizes, ROUNDS_AGAIN)
}

/// The bytes that are written if a unit shows at once.
pub(crate) fn expected(space: &Space) -> u64 {
    written(space, sizes(space).len(), 1)
}

/// The prefix of the step names.
const LOOK: &str = "straddles round ";

fn again(size: u64) -> String {
    format!("straddles of {size} round ")
}

fn write(session: &mut Session<'_>, name: &str, sizes: &[u64], pairs: u64) -> Result<(), Stop> {
    let space = session.space();
    let (start, span, block) = (session.region().start, space.span(), space.block_bytes);
    session.step(PARAMETER, name, |io| {
        let mut order: Vec<u64> = (0..pairs).flat_map(|_| sizes.iter().copied()).collect();
        io.rng.shuffle(&mut order);
        let mut window = start;
        for (number, size) in (0u64..).zip(order) {
            if number.is_multiple_of(PAIRS_IN_ROW) {
                window = start + io.rng.below((span / WINDOW).max(1)) * WINDOW;
            }
            // The window may begin between multiples. What lies after the place must be in the span.
            let last = (start + span - size) / size * size;
            let first = window.next_multiple_of(size).clamp(size, last);
            let places = (window + WINDOW.min(span)).saturating_sub(first) / size;
            let place = first + io.rng.below(places.max(1)) * size;
            let inside = place + (1 + io.rng.below(size / block - 1)) * block;
            let mut arms = [(Series::ACROSS, place), (Series::WITHIN, inside)];
            io.rng.shuffle(&mut arms);
            for (series, middle) in arms {
                io.write_flush(middle - block, 2 * block)?;
                io.sample(series, size, number as u32);
            }
        }
        Ok(())
    })
}

/// Returns the writes of all rounds whose names begin with `name`.
fn writes(record: &Record, name: &str) -> Vec<Written> {
    let rounds =
        (0..ROUNDS_AGAIN).filter_map(|round| of_step(record, PARAMETER, &format!("{name}{round}")));
    let written = |s: &crate::record::Sample| Written {
        middle: s.offset + s.bytes / 2,
        ns: s.ns as f64,
    };
    rounds.flatten().map(written).collect()
}

fn times(writes: &[Written]) -> Vec<f64> {
    writes.iter().map(|w| w.ns).collect()
}

/// Returns the size at whose multiples writes take longer, from all writes. Only few multiples of a large size are written,
/// so a large size must show a large difference.
pub(crate) fn shown(record: &Record) -> Option<u64> {
    let writes = writes(record, LOOK);
    let scores = Contrast::new(&writes, location::normal_scores(&times(&writes)))?;
    let logs = Contrast::new(&writes, logs(&writes))?;
    let space = Space::of(record);
    let large = |size: u64| {
        logs.at_ends(size)
            .is_some_and(|(difference, _)| difference >= NONE.ln_1p())
    };
    let strengths = all(&space).into_iter().filter_map(|size| {
        let (difference, error) = scores.at_ends(size)?;
        let strength = difference / error.max(1e-12);
        let counts = strength >= STRONG && (size <= largest(&space) || large(size));
        counts.then_some((size, strength))
    });
    Some(strengths.max_by(|a, b| a.1.total_cmp(&b.1))?.0)
}

/// Returns true if writes at multiples of the size took longer again.
pub(crate) fn shown_again(record: &Record, size: u64) -> bool {
    let writes = writes(record, &again(size));
    let scores = Contrast::new(&writes, location::normal_scores(&times(&writes)));
    scores
        .and_then(|scores| scores.at_ends(size))
        .is_some_and(|(difference, error)| difference >= STRONG_AGAIN * error && difference > 0.0)
}

/// Returns the latencies of the second look, in nanoseconds: of writes across the ends of units, and of the others.
pub(crate) fn arms(record: &Record, size: u64) -> [Vec<f64>; 2] {
    let writes = writes(record, &again(size));
    [true, false].map(|end| {
        let chosen = writes
            .iter()
            .filter(|w| w.middle.is_multiple_of(size) == end);
        chosen.map(|w| w.ns).collect()
    })
}

/// Returns true if there is no size at whose multiples writes take notably longer.
pub(crate) fn nowhere(record: &Record) -> bool {
    open(record, &all(&Space::of(record))).is_empty()
}

/// Returns those of `sizes` at whose multiples writes may take notably longer, as far as was measured.
fn open(record: &Record, sizes: &[u64]) -> Vec<u64> {
    let writes = writes(record, LOOK);
    let logs = Contrast::new(&writes, logs(&writes));
    let none = |size: &&u64| {
        let difference = logs.as_ref().and_then(|logs| logs.at_ends(**size));
        difference
            .is_some_and(|(difference, error)| difference.abs() + CERTAIN * error < NONE.ln_1p())
    };
    sizes.iter().filter(|size| !none(size)).copied().collect()
}

/// Returns the logarithms of the times, clipped.
fn logs(writes: &[Written]) -> Vec<f64> {
    let logs = writes.iter().map(|w| w.ns.max(1.0).ln());
    clipped(&logs.collect::<Vec<f64>>())
}

/// Clips values to at most [`FAR`] median absolute deviations from the median.
fn clipped(values: &[f64]) -> Vec<f64> {
    let center = location::median(values).unwrap_or(0.0);
    let far = FAR * location::mad(values).unwrap_or(0.0);
    let clip = |v: &f64| v.clamp(center - far, center + far);
    values.iter().map(clip).collect()
}

/// Values of writes, compared by the offset of the writes. Hundreds of sizes are tested, so the common sums are computed
/// once.
struct Contrast {
    /// The offset of the middle of each write, in bytes, and its value.
    values: Vec<(u64, f64)>,
    sum: f64,
    variance: f64,
}

impl Contrast {
    /// Returns `None` without writes.
    fn new(writes: &[Written], values: Vec<f64>) -> Option<Contrast> {
        let mean = location::mean(&values)?;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Some(Contrast {
            sum: values.iter().sum(),
            variance: squares / values.len() as f64,
            values: writes.iter().map(|w| w.middle).zip(values).collect(),
        })
    }

    /// Returns by how much the mean of the values at multiples of the size is larger than that of the others, and its
    /// standard error; `None` without values of both kinds.
    fn at_ends(&self, size: u64) -> Option<(f64, f64)> {
        let at = self
            .values
            .iter()
            .filter(|(middle, _)| middle.is_multiple_of(size));
        let (count, sum) = at.fold((0usize, 0.0), |(count, sum), (_, v)| (count + 1, sum + v));
        let others = self.values.len() - count;
        if count == 0 || others == 0 {
            return None;
        }
        let (count, others) = (count as f64, others as f64);
        let error = (self.variance * (1.0 / count + 1.0 / others)).sqrt();
        Some((sum / count - (self.sum - sum) / others, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_small_factors_and_leave_places() {
        let space = Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
            level: crate::record::Level::Full,
        };
        let sizes = sizes(&space);
        assert_eq!((sizes[0], sizes.last()), (1024, Some(&(1 << 20))));
        assert_eq!(largest(&space), 256 << 10);
        assert!(all(&space).contains(&(11 << 10)) && !all(&space).contains(&(257 << 10)));
        assert!(sizes.contains(&(18 << 10)) && !sizes.contains(&(11 << 10)));
    }

    #[test]
    fn a_difference_by_hand() {
        let of = |values: &[(u64, f64)]| {
            let written = |&(middle, ns): &(u64, f64)| Written { middle, ns };
            let writes: Vec<Written> = values.iter().map(written).collect();
            Contrast::new(&writes, times(&writes))
        };
        // The means are 5 and 2. Squares about the overall mean of 3.2: 3.24 + 3.24 + 0.04 + 1.44 + 4.84 = 12.8, over 5.
        let some = of(&[(64, 5.0), (128, 5.0), (96, 3.0), (72, 2.0), (80, 1.0)]).unwrap();
        let (difference, error) = some.at_ends(64).unwrap();
        assert!((difference - 3.0).abs() < 1e-12);
        assert!((error - (12.8f64 / 5.0 * (1.0 / 2.0 + 1.0 / 3.0)).sqrt()).abs() < 1e-12);
        assert!(of(&[(64, 1.0), (128, 2.0)]).unwrap().at_ends(64).is_none());
        assert!(of(&[]).is_none());
    }
}

//! Explains the times of writes by their places: a level for every length, and for every candidate unit the parts that a write
//! leaves incomplete. The units are chosen by BIC, so that no unit at all may win.
//!
//! Within one length a stripe, of which a write touches one more, looks like a unit that is completed. Several sizes may
//! therefore show; [`super::confirm`] tells them apart.

use crate::Space;
use crate::robust::units::PAGE_FACTORS;
use fathom_stats::location;
use fathom_stats::terms::{self, Rules};
use std::collections::BTreeMap;

/// The largest unit that is named, in bytes.
pub(crate) const LARGEST: u64 = 256 << 10;
/// The most units of a model, and the least fall of the criterion for each.
const RULES: Rules = Rules {
    most: 3,
    gain: 12.0,
};
/// By how much a unit must fit better than any other one.
const LEAD: f64 = 8.0;
/// Logarithms of times are clipped at this many median absolute deviations from the median of their length, and never within
/// the second figure.
const FAR: f64 = 6.0;
const FAR_MIN: f64 = 1.4;
/// The standard errors within which a coefficient lies for certain.
const CERTAIN: f64 = 3.3;
/// The most places of a stream that are computed.
const PLACES_MAX: u64 = 512;

/// The times of writes of one length, in one place or at regular ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    /// The level that it belongs to: the length, or the length of which it lacks a block; in bytes.
    pub(crate) level: u64,
    /// The first place, in bytes, and the distance to the next one; 0 for a single write.
    pub(crate) first: u64,
    pub(crate) stride: u64,
    /// The length of a write, in bytes.
    pub(crate) len: u64,
    /// The time of a write, in nanoseconds.
    pub(crate) ns: f64,
}

impl Row {
    /// Returns how many units a write covers in part, on average over its places.
    fn parts(&self, unit: u64) -> f64 {
        let places = match self.stride {
            0 => 1,
            stride => (unit / gcd(stride, unit)).min(PLACES_MAX),
        };
        let at = |place: u64| parts(self.first + place * self.stride, self.len, unit);
        (0..places).map(at).sum::<u64>() as f64 / places as f64
    }
}

/// Returns how many units a write covers in part: 0 to 2.
fn parts(offset: u64, len: u64, unit: u64) -> u64 {
    let begins = u64::from(!offset.is_multiple_of(unit));
    let ends = u64::from(!(offset + len).is_multiple_of(unit));
    match offset / unit == (offset + len - 1) / unit {
        true => begins.max(ends),
        false => begins + ends,
    }
}

/// A unit that explains the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// By how much the criterion fell when it joined.
    pub(crate) gain: f64,
    /// By how much it is lower than with other units instead.
    pub(crate) lead: f64,
}

/// Returns the units that are tried, in bytes: numbers of logical blocks without large factors.
pub(crate) fn candidates(space: &Space) -> Vec<u64> {
    let block = space.block_bytes;
    let smooth = |blocks: &u64| {
        let mut left = *blocks;
        for factor in PAGE_FACTORS.into_iter().chain([7]) {
            while left.is_multiple_of(factor) {
                left /= factor;
            }
        }
        left == 1
    };
    let largest = LARGEST.min(space.span() / 16);
    let blocks = (2..=largest / block).filter(smooth);
    blocks.map(|n| n * block).collect()
}

/// Returns the lengths that are written, in bytes: powers of two and three times powers of two.
pub(crate) fn lengths(space: &Space) -> Vec<u64> {
    let block = space.block_bytes;
    let powers = (0..32).flat_map(|k| [1u64 << k, 3u64 << k]);
    let fits = |len: &u64| {
        *len >= block && *len <= LARGEST.min(space.span() / 16) && len.is_multiple_of(block)
    };
    let mut lengths: Vec<u64> = powers.filter(fits).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// How times are compared within a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By their normal scores: a merge or a collection counts no more than any slow write. Needs many times of a level.
    Ranks,
    /// By their logarithms, clipped.
    Logs,
}

/// The rows, without the level of each length, and the parts of every candidate in the same form.
struct Table {
    values: Vec<f64>,
    units: Vec<u64>,
    pool: Vec<Vec<f64>>,
}

impl Table {
    fn new(rows: &[Row], scale: Scale, space: &Space) -> Self {
        let levels = levels(rows);
        let mut values = vec![0.0; rows.len()];
        for members in levels.values() {
            let times: Vec<f64> = members.iter().map(|i| rows[*i].ns.max(1.0)).collect();
            let scaled = match scale {
                Scale::Ranks => location::normal_scores(&times),
                Scale::Logs => logs(&times),
            };
            members.iter().zip(scaled).for_each(|(i, v)| values[*i] = v);
        }
        let units = candidates(space);
        let term = |unit: &u64| rows.iter().map(|row| row.parts(*unit)).collect();
        let mut pool: Vec<Vec<f64>> = units.iter().map(term).collect();
        pool.iter_mut().for_each(|term| centred(term, &levels));
        centred(&mut values, &levels);
        Self {
            values,
            units,
            pool,
        }
    }

    /// Selects units, all or those other than one.
    fn select(&self, without: Option<usize>) -> Option<terms::Model> {
        let Some(without) = without else {
            return terms::select(&self.values, &[], &self.pool, RULES);
        };
        let mut pool = self.pool.clone();
        pool[without].iter_mut().for_each(|value| *value = 0.0);
        terms::select(&self.values, &[], &pool, RULES)
    }
}

/// Returns the indices of the rows of each level.
fn levels(rows: &[Row]) -> BTreeMap<u64, Vec<usize>> {
    let mut levels = BTreeMap::<u64, Vec<usize>>::new();
    for (index, row) in rows.iter().enumerate() {
        levels.entry(row.level).or_default().push(index);
    }
    levels
}

/// Subtracts from every value the mean of its level.
fn centred(values: &mut [f64], levels: &BTreeMap<u64, Vec<usize>>) {
    for members in levels.values() {
        let mean = members.iter().map(|i| values[*i]).sum::<f64>() / members.len() as f64;
        members.iter().for_each(|i| values[*i] -= mean);
    }
}

/// Returns the logarithms of times, clipped.
fn logs(times: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = times.iter().map(|ns| ns.ln()).collect();
    let middle = location::median(&logs).unwrap_or(0.0);
    let far = (FAR * location::mad(&logs).unwrap_or(0.0)).max(FAR_MIN);
    let clip = |log: &f64| log.clamp(middle - far, middle + far);
    logs.iter().map(clip).collect()
}

/// Returns the units whose parts explain the times, the most telling first.
pub(crate) fn explain(rows: &[Row], scale: Scale, space: &Space) -> Vec<Shown> {
    let table = Table::new(rows, scale, space);
    let Some(whole) = table.select(None) else {
        return Vec::new();
    };
    let shown = whole.terms.iter().filter_map(|term| {
        let other = table.select(Some(term.index))?;
        Some(Shown {
            bytes: table.units[term.index],
            gain: term.gain,
            lead: other.bic - whole.bic,
        })
    });
    shown.filter(|shown| shown.lead >= LEAD).collect()
}

/// Returns the largest share of the time of a write that completing a part of any unit may take; `None` with too few rows.
pub(crate) fn most(rows: &[Row], space: &Space) -> Option<f64> {
    let table = Table::new(rows, Scale::Logs, space);
    let shares = table.pool.iter().map(|term| {
        let (coefficient, error) = terms::coefficient(&table.values, &[], term)?;
        Some(coefficient + CERTAIN * error)
    });
    shares.flatten().max_by(f64::total_cmp)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    const KIB: u64 = 1 << 10;

    fn space() -> Space {
        Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
            level: crate::record::Level::Full,
        }
    }

    #[test]
    fn parts_by_hand() {
        // Within a unit; a whole one; the end of one and the beginning of the next; two whole ones.
        let cases = [(512, 1024), (4096, 4096), (2048, 4096), (0, 8192)];
        assert_eq!(cases.map(|(at, len)| parts(at, len, 4096)), [1, 0, 2, 0]);
        // Of the multiples of 3 KiB every fourth begins at a unit, and every fourth ends at one.
        let row = Row {
            level: 3 * KIB,
            first: 0,
            stride: 3 * KIB,
            len: 3 * KIB,
            ns: 1.0,
        };
        assert!((row.parts(4 * KIB) - 1.5).abs() < 1e-12);
    }

    /// Times of a drive that reads `read` ns for each part of a unit.
    fn times(unit: u64, read: f64, noise: f64) -> Vec<Row> {
        let mut rng = Rng::new(3, unit);
        let mut rows = Vec::new();
        for len in lengths(&space()) {
            for rep in 0..48u64 {
                let place = rng.below(1 << 10) * len;
                let first = match rep % 3 {
                    0 => place,
                    1 => place + len / 2 / 512 * 512,
                    _ => rng.below(1 << 20) * 512,
                };
                let reads = read * parts(first, len, unit) as f64;
                let ns = (200_000.0 + len as f64 + reads) * (noise * rng.normal()).exp();
                rows.push(Row {
                    level: len,
                    first,
                    stride: 0,
                    len,
                    ns,
                });
            }
        }
        rows
    }

    #[test]
    fn a_unit_is_found_and_none_where_there_is_none() {
        for unit in [KIB, 4 * KIB, 12 * KIB, 16 * KIB, 20 * KIB, 64 * KIB] {
            let rows = times(unit, 100_000.0, 0.1);
            for scale in [Scale::Ranks, Scale::Logs] {
                let shown = explain(&rows, scale, &space());
                assert_eq!(
                    shown.first().map(|shown| shown.bytes),
                    Some(unit),
                    "{shown:?}"
                );
            }
            assert!(most(&rows, &space()).unwrap() > 0.1);
        }
        let rows = times(512, 100_000.0, 0.02);
        assert_eq!(explain(&rows, Scale::Ranks, &space()), []);
        assert!(most(&rows, &space()).unwrap() < 0.05);
    }
}

//! What the curves say: the statistics of the block search, from the record alone.

use super::{BATCH, MARGIN, Manner, PRESSED, SEQUENTIAL_SAMPLES, SLOW, SLOW_SHARE};
use crate::probes::robust::{at, identified, size, sizes, without};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::solve::equivalence::{Location, Options, Sequential, Status};
use crate::solve::robust;
use crate::solve::separate::{Decision, separate};

impl Manner {
    /// How random writes of a size compare with sequential ones, and the ratio of their costs.
    pub(super) fn comparison(&self, record: &Record, len: u64) -> Option<(Status, f64)> {
        let random = self.last_batch(record, Series::Random, len);
        let sequential = self.sequential_cost(record, len)?;
        let options = Options {
            margin: MARGIN,
            location: Location::Trimmed,
            ..Options::default()
        };
        let mut test = Sequential::new(options);
        test.push(&random, &sequential);
        let look = test.last()?;
        Some((look.status, look.ratio))
    }

    /// The last batch of random or shifted writes of a size, under pressure if there is one.
    pub(super) fn last_batch(&self, record: &Record, series: Series, len: u64) -> Vec<f64> {
        last_of(record, (self.parameter, series), len, BATCH as u32)
    }

    /// The last batch of sequential writes of a size, under pressure if there is one.
    pub(super) fn sequential_at(&self, record: &Record, len: u64) -> Vec<f64> {
        let batch = SEQUENTIAL_SAMPLES.1 as u32;
        last_of(record, (self.parameter, Series::Sequential), len, batch)
    }

    /// Sequential samples of a size; between two measured sizes those of one of them, scaled.
    pub(super) fn sequential_cost(&self, record: &Record, len: u64) -> Option<Vec<f64>> {
        let own = self.sequential_at(record, len);
        if !own.is_empty() {
            return Some(own);
        }
        let measured = sizes(record, self.parameter, Series::Sequential);
        let low = *measured.iter().rev().find(|s| **s < len)?;
        let high = *measured.iter().find(|s| **s > len)?;
        let pressed = record
            .series(self.parameter, Series::Sequential)
            .any(|s| s.rep >= PRESSED);
        let group = |len| self.group(len, pressed) as f64;
        let per_write = |s: u64| Some(robust::median(&self.sequential_at(record, s))? / group(s));
        let (below, above) = (per_write(low)?, per_write(high)?);
        let share = (len - low) as f64 / (high - low) as f64;
        let wanted = (below + share * (above - below)) * group(len);
        // The neighbour whose samples agree better.
        let neighbours = [low, high].map(|s| self.sequential_at(record, s));
        let [lower, upper] = &neighbours;
        let even = if spread(lower) <= spread(upper) {
            lower
        } else {
            upper
        };
        let typical = robust::median(even)?;
        Some(even.iter().map(|v| v * wanted / typical).collect())
    }

    /// How many of the smallest sizes cost the same, from the first on.
    pub(super) fn same_from_start(&self, record: &Record) -> usize {
        let sizes = sizes(record, self.parameter, Series::Random);
        let same = |len: &&u64| {
            self.comparison(record, **len)
                .is_some_and(|c| c.0 == Status::Equivalent)
        };
        sizes.iter().take_while(same).count()
    }

    /// The answer.
    pub(in crate::probes::robust) fn solve(&self, record: &Record) -> Estimate {
        let tried = sizes(record, self.parameter, Series::Random);
        let same = self.same_from_start(record);
        if tried.is_empty() {
            return without(
                self.parameter,
                Verdict::Inconclusive,
                "the region is too small for writes of several sizes",
            );
        }
        if same > 0 {
            let reason = "random writes cost what sequential ones cost from the smallest size on: there is no size at which they meet (page mapping, or merges that cannot be seen)";
            return without(self.parameter, Verdict::NotIdentifiable, reason)
                .figure("sizes_alike", same as f64);
        }
        let compared = tried
            .iter()
            .map(|len| (*len, self.comparison(record, *len)));
        let met = compared
            .clone()
            .find(|(_, c)| c.is_some_and(|c| c.0 == Status::Equivalent));
        let Some((len, Some((_, ratio)))) = met else {
            let largest = tried.last().copied().unwrap_or_default();
            let reason = format!(
                "random writes still cost more than sequential ones at {largest}",
                largest = size(largest)
            );
            return without(self.parameter, Verdict::Inconclusive, reason);
        };
        let apart = |c: Option<(Status, f64)>| c.is_some_and(|c| c.0 == Status::Different);
        let below = compared
            .filter(|(l, c)| *l < len && apart(*c))
            .map(|(l, _)| l)
            .max();
        self.judge_shift(record, len, below).figure("ratio", ratio)
    }

    /// A size at which the costs meet stands only if its alignment matters.
    pub(super) fn judge_shift(&self, record: &Record, len: u64, below: Option<u64>) -> Estimate {
        let shifted = self.last_batch(record, Series::Shifted, len);
        let random = self.last_batch(record, Series::Random, len);
        if shifted.is_empty() {
            let reason = format!(
                "random and sequential writes meet at {}, which is too few of the drive's units for a block",
                size(len)
            );
            return without(self.parameter, Verdict::NotIdentifiable, reason);
        }
        let Some(test) = separate(&shifted, &random, 0.99, 0.03) else {
            let reason = format!(
                "random and sequential writes meet at {len}; whether alignment matters was not measured",
                len = size(len)
            );
            return without(self.parameter, Verdict::Inconclusive, reason);
        };
        let typical = robust::median(&random).unwrap_or(f64::MAX);
        let slow = |samples: &[f64]| {
            let slow = samples.iter().filter(|ns| **ns > SLOW * typical).count();
            slow as f64 / samples.len().max(1) as f64
        };
        // On a small drive some shifted writes complete a log block that an earlier one began, and cost nothing.
        let often = slow(&shifted) - slow(&random) >= SLOW_SHARE;
        let always = test.decision == Decision::Greater && test.interval.low > 1.03;
        let estimate = if always || often {
            let reason = format!(
                "aligned random writes of {len} cost what sequential ones cost; shifted by half they cost {:.2} times as much",
                test.ratio,
                len = size(len)
            );
            let low = below.map_or(len, |b| {
                b + u64::from(record.meta.target.logical_block_bytes)
            });
            identified(self.parameter, Value::Bytes(len), reason).between(low, len)
        } else if test.decision == Decision::Undecided {
            let reason = format!(
                "random and sequential writes meet at {len}, but the noise hides whether alignment matters",
                len = size(len)
            );
            without(self.parameter, Verdict::Inconclusive, reason)
        } else {
            let reason = format!(
                "random writes reach the sequential cost at about {len}, but a shifted write costs no more: the drive does not map by aligned blocks",
                len = size(len)
            );
            without(self.parameter, Verdict::NotIdentifiable, reason)
        };
        estimate.figure("shifted_ratio", test.ratio)
    }
}

/// Whether a flush after a write takes longer than one of nothing.
pub(super) fn flush_costs(record: &Record, parameter: Parameter) -> bool {
    let Some(len) = sizes(record, parameter, Series::FlushAfter).pop() else {
        return true;
    };
    let arms = [len, 0].map(|x| at(record, parameter, Series::FlushAfter, x));
    separate(&arms[0], &arms[1], 0.99, 0.2).is_none_or(|test| test.interval.low > 1.2)
}

/// The samples with the highest repetition numbers, cut where a new batch begins.
pub(super) fn last_of(
    record: &Record,
    (parameter, series): (Parameter, Series),
    len: u64,
    batch: u32,
) -> Vec<f64> {
    let all = || record.series(parameter, series).filter(|s| s.x == len);
    let last = all().map(|s| s.rep / batch).max();
    let chosen = all().filter(|s| Some(s.rep / batch) == last);
    chosen.map(|s| s.ns as f64).collect()
}

/// The ratio of the fifths at either end.
pub(super) fn spread(samples: &[f64]) -> f64 {
    let fifths = [0.8, 0.2].map(|share| robust::quantile(samples, share).unwrap_or(f64::MAX));
    fifths[0] / fifths[1].max(1.0)
}

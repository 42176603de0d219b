//! Teeth at the multiples of one size: finds the size that explains at which of many places an access took another time.
//!
//! Every place has one value. To decide *whether* a size means anything, the values are replaced by their normal scores (van
//! der Waerden 1952): if it means nothing, the mean score of the places at its multiples over its standard error is
//! approximately a standard normal variable, whatever the distribution of the values. To decide *which* size it is, their
//! logarithms are used, clipped at both ends: a few large differences explain more than many small ones. Half and twice the
//! right size explain less by a factor of the square root of two. In addition, every kind of multiple must be a tooth, and
//! no simple fraction of the size may be one.
//!
//! The places are assumed to be exchangeable. If neighbours are alike for another reason, access them in random order.

mod slots;

use crate::location;
use slots::{SLOTS_MAX, Slots};
use std::ops::Range;

/// One access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The offset at which it began, in bytes.
    pub from: u64,
    /// Its length, in bytes.
    pub len: u64,
    /// Its duration, in any unit in which durations are at least 1.
    pub value: f64,
}

/// The access that belongs to a multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tooth {
    /// The access whose middle is nearest; it is faster than others.
    Halved,
    /// The first access that ends after the multiple, if it begins less than a pitch after it; it is slower than others.
    First,
    /// The access of [`Tooth::First`] or the one after it.
    Either,
}

/// How well a size explains the places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The size, in bytes.
    pub period: u64,
    /// The smallest and the largest size that explain the places nearly as well, in bytes.
    pub between: (u64, u64),
    /// The mean score of its teeth over the standard error.
    pub strength: f64,
    /// The mean logarithm of its teeth over the standard error.
    pub explains: f64,
    /// The number of places at its multiples.
    pub teeth: usize,
    /// The ratio of the typical value there to that elsewhere.
    pub ratio: f64,
}

/// The requirements for a size.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The smallest and the largest size, in bytes.
    pub sizes: (u64, u64),
    /// The size is a multiple of this, in bytes; at least 1.
    pub grain: u64,
    /// The least number of places at its multiples.
    pub teeth: usize,
    /// The least [`Fit::strength`].
    pub strength: f64,
    /// The least factor between its teeth and other places, above 1.
    pub factor: f64,
}

/// The limit at which the logarithms of values over the typical value are clipped.
const CUT: f64 = 2.0;
/// The share of a wanted strength that slots must show: they assign one tooth in eight to the wrong place.
const BY_SLOTS: f64 = 0.6;
/// Sizes that explain at least this share of what the best one explains belong to its interval, up to this many pitches away
/// at the last multiple.
const ALIKE: f64 = 0.9;
const ALIKE_PITCHES: u64 = 48;
/// The largest share of the other phases of a size that may be teeth.
const OTHERS_MAX: f64 = 0.02;
/// The multiples whose numbers are divisible by each of these, and those whose numbers are not, must all be teeth.
const PARTS: [u64; 3] = [2, 3, 5];

/// The places in order.
#[derive(Clone, Debug)]
pub struct Places {
    tooth: Tooth,
    /// The beginning and the end of each access, in bytes.
    extents: Vec<(u64, u64)>,
    values: Vec<f64>,
    /// The normal scores; larger is more like a tooth.
    scores: Vec<f64>,
    /// The logarithms less their mean, larger is more like a tooth; and their standard deviation.
    logs: Vec<f64>,
    deviation: f64,
    pitch: u64,
    /// A slot for about every quarter of a pitch.
    slots: Slots,
}

impl Places {
    /// Takes places in any order; neighbours are `pitch` bytes apart.
    pub fn new(tooth: Tooth, pitch: u64, mut places: Vec<Place>) -> Self {
        places.sort_by_key(|place| place.from);
        let pitch = pitch.max(1);
        let slot = (pitch / 4).max(1).ilog2();
        let far = |(first, last): (&Place, &Place)| (last.from - first.from) >> slot > SLOTS_MAX;
        if places.first().zip(places.last()).is_some_and(far) {
            places.clear();
        }
        let mut values: Vec<f64> = places.iter().map(|place| place.value).collect();
        if tooth == Tooth::Either {
            let next = values.iter().skip(1).copied().chain([0.0]);
            values = values.iter().zip(next).map(|(a, b)| a.max(b)).collect();
        }
        let sign = match tooth {
            Tooth::Halved => -1.0,
            Tooth::First | Tooth::Either => 1.0,
        };
        let typical = location::median(&values).unwrap_or(1.0).max(1.0);
        let log = |v: &f64| (sign * (v.max(1.0) / typical).ln()).clamp(-CUT, CUT);
        let logs: Vec<f64> = values.iter().map(log).collect();
        let mean = location::mean(&logs).unwrap_or(0.0);
        let squares: Vec<f64> = logs.iter().map(|l| (l - mean).powi(2)).collect();
        let extents: Vec<(u64, u64)> = places
            .iter()
            .map(|p| (p.from, p.from.saturating_add(p.len)))
            .collect();
        let mut places = Self {
            tooth,
            extents,
            scores: location::normal_scores(&values)
                .into_iter()
                .map(|s| sign * s)
                .collect(),
            logs: logs.into_iter().map(|l| l - mean).collect(),
            deviation: location::mean(&squares).unwrap_or(0.0).sqrt().max(1e-9),
            values,
            pitch,
            slots: Slots::new(0, slot, &[], &[], &[]),
        };
        let of_slots = places.of_slots(slot);
        let from = places.covered().start;
        places.slots = Slots::new(from, slot, &of_slots, &places.scores, &places.logs);
        places
    }

    /// Returns the place that belongs to the middle of each slot.
    fn of_slots(&self, slot: u32) -> Vec<Option<usize>> {
        let middles = Slots::middles(&self.covered(), slot);
        let mut index = 0;
        let place = middles.map(|middle| {
            let before = |extent| self.is_before(extent, middle);
            while self.extents.get(index).is_some_and(before) {
                index += 1;
            }
            self.at_index(index, middle)
        });
        place.collect()
    }

    /// Returns the beginning and the end of all places, in bytes.
    fn covered(&self) -> Range<u64> {
        let first = self.extents.first().map_or(0, |e| e.0);
        first..self.extents.last().map_or(0, |e| e.1)
    }

    /// Returns the size that explains the places best, among those that meet the requirements and whose fractions show
    /// nothing. Costs a few million accesses to places for some thousand places and sizes over two decades.
    pub fn best(&self, wanted: &Wanted) -> Option<Fit> {
        let mut fits = self.fits(wanted);
        fits.sort_by(|a, b| b.explains.total_cmp(&a.explains));
        let stands = |fit: &Fit| self.stands(fit.period, wanted.factor);
        let fit = fits.into_iter().find(stands)?;
        Some(self.with_alike(fit, wanted))
    }

    /// Returns the size that explains the places best, whatever lies between its multiples: for places around multiples
    /// only.
    pub fn nearest(&self, wanted: &Wanted) -> Option<Fit> {
        let fits = self.fits(wanted).into_iter();
        let fit = fits.max_by(|a, b| a.explains.total_cmp(&b.explains))?;
        Some(self.with_alike(fit, wanted))
    }

    /// Returns the size whose multiples are best centred in the places that differ around them. Places up to `reach` bytes
    /// away count, with a weight that falls with the distance. For broad dips, whose bottom says little. The interval
    /// contains the sizes whose weighted sum is less than the best by no more than three standard errors of the difference.
    pub fn middle(&self, wanted: &Wanted, reach: u64) -> Option<Fit> {
        let grain = wanted.grain.max(1);
        let first = wanted.sizes.0.next_multiple_of(grain).max(grain);
        let sizes = (first..=wanted.sizes.1).step_by(grain as usize);
        let sum = |size: u64| {
            let weighted = self.weights(size, reach).zip(&self.logs);
            weighted.map(|(weight, log)| weight * log).sum::<f64>()
        };
        let sums: Vec<(u64, f64)> = sizes.map(|size| (size, sum(size))).collect();
        let &(period, most) = sums.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let fit = self.fit(period, wanted.teeth)?;
        let best: Vec<f64> = self.weights(period, reach).collect();
        let may_be = sums.iter().filter(|(size, sum)| {
            let apart = best.iter().zip(self.weights(*size, reach));
            let squares: f64 = apart.map(|(a, b)| (a - b).powi(2)).sum();
            most - sum <= 3.0 * self.deviation * squares.sqrt()
        });
        let low = may_be.clone().map(|(size, _)| *size).min()?;
        let high = may_be.map(|(size, _)| *size).max()?;
        (fit.strength >= wanted.strength).then(|| Fit {
            between: (low - grain, high + grain),
            ratio: self.ratio(period).unwrap_or(1.0),
            ..fit
        })
    }

    /// Returns the weight of every place: 1 at a multiple of a size, falling to 0 at `reach` bytes from it.
    fn weights(&self, size: u64, reach: u64) -> impl Iterator<Item = f64> + use<'_> {
        let (reach, inverse) = (reach.max(1) as f64, 1.0 / size as f64);
        self.extents.iter().map(move |extent| {
            let middle = middle(extent);
            // Faster than a division. Halfway between two multiples, either is the nearest.
            let nearest = (middle as f64 * inverse + 0.5) as u64 * size;
            (1.0 - middle.abs_diff(nearest) as f64 / reach).max(0.0)
        })
    }

    /// Returns all sizes that are strong enough.
    fn fits(&self, wanted: &Wanted) -> Vec<Fit> {
        let end = self.extents.last().map_or(0, |e| e.1);
        let grain = wanted.grain.max(1);
        let first = wanted.sizes.0.next_multiple_of(grain).max(grain);
        // Half a pitch at the last multiple is the least that makes a difference.
        let next = |size: &u64| {
            let multiples = (end / size).max(1);
            Some(size + (self.pitch / 2 / multiples / grain).max(1) * grain)
        };
        std::iter::successors(Some(first), next)
            .take_while(|size| *size <= wanted.sizes.1)
            .filter(|size| self.strength_by_slots(*size) >= BY_SLOTS * wanted.strength)
            .filter_map(|size| self.fit(size, wanted.teeth))
            .filter(|fit| fit.strength >= wanted.strength)
            .collect()
    }

    /// Returns [`Fit::strength`], slightly underestimated.
    fn strength_by_slots(&self, period: u64) -> f64 {
        let (score, teeth) = self.slots.scores(self.multiples(period), period);
        score / teeth.max(1.0).sqrt()
    }

    /// Returns how well a size explains the places; `None` if it has fewer than `teeth_min` teeth.
    fn fit(&self, period: u64, teeth_min: usize) -> Option<Fit> {
        let (mut score, mut log, mut teeth) = (0.0, 0.0, 0_usize);
        for index in self.teeth(period) {
            score += self.scores[index];
            log += self.logs[index];
            teeth += 1;
        }
        let root = (teeth as f64).sqrt();
        (teeth >= teeth_min.max(1)).then(|| Fit {
            period,
            between: (period, period),
            strength: score / root,
            explains: log / self.deviation / root,
            teeth,
            ratio: 1.0,
        })
    }

    /// Moves a fit to the middle of the sizes around it that explain nearly as much.
    fn with_alike(&self, fit: Fit, wanted: &Wanted) -> Fit {
        let (grain, period) = (wanted.grain.max(1), fit.period);
        let same = |size: u64| {
            let other = self.fit(size, wanted.teeth);
            other.is_some_and(|other| other.explains >= ALIKE * fit.explains)
        };
        let multiples = self.multiples(period).end.max(1);
        let reach = (ALIKE_PITCHES * self.pitch / multiples / grain).max(1);
        let reach = reach.min(period / grain - 1);
        let less = (1..=reach).take_while(|i| same(period - i * grain)).count() as u64;
        let more = (1..=reach).take_while(|i| same(period + i * grain)).count() as u64;
        let (low, high) = (period - less * grain, period + more * grain);
        Fit {
            period: low.midpoint(high) / grain * grain,
            between: (low, high),
            ratio: self.ratio(period).unwrap_or(1.0),
            ..fit
        }
    }

    /// Returns the place that belongs to a position in bytes.
    fn at(&self, position: u64) -> Option<usize> {
        let before = |extent: &(u64, u64)| self.is_before(extent, position);
        self.at_index(self.extents.partition_point(before), position)
    }

    /// Returns true for the accesses, the first ones, that lie before a position.
    fn is_before(&self, extent: &(u64, u64), position: u64) -> bool {
        match self.tooth {
            Tooth::First | Tooth::Either => extent.1 <= position,
            // All accesses have the same length, so their middles ascend as their beginnings do.
            Tooth::Halved => middle(extent) < position,
        }
    }

    /// Returns the place that belongs to a position before which lie `index` accesses.
    fn at_index(&self, index: usize, position: u64) -> Option<usize> {
        match self.tooth {
            Tooth::First | Tooth::Either => {
                let &(from, _) = self.extents.get(index)?;
                (from < position + self.pitch).then_some(index)
            }
            Tooth::Halved => {
                let near = [index.checked_sub(1), Some(index)].into_iter().flatten();
                let distances =
                    near.filter_map(|i| Some((middle(self.extents.get(i)?).abs_diff(position), i)));
                let (distance, index) = distances.min()?;
                (2 * distance <= self.pitch).then_some(index)
            }
        }
    }

    /// Returns the numbers of the multiples of a size that lie among the places. One before the first place has nothing to
    /// differ from.
    fn multiples(&self, period: u64) -> Range<u64> {
        let covered = self.covered();
        covered.start / period + 1..covered.end.div_ceil(period)
    }

    /// Returns the places at the multiples of a size.
    fn teeth(&self, period: u64) -> impl Iterator<Item = usize> + use<'_> {
        let multiples = self.multiples(period);
        multiples.filter_map(move |k| self.at(k * period))
    }

    /// Returns true if every kind of multiple is a tooth, no simple fraction of the size is one, and hardly anything else.
    fn stands(&self, period: u64, factor: f64) -> bool {
        let numbers = self.multiples(period);
        let mean = |positions: &mut dyn Iterator<Item = u64>| {
            let found = positions.filter_map(|at| self.at(at)).map(|i| self.logs[i]);
            location::mean(&found.collect::<Vec<f64>>())
        };
        let before = |by: u64| mean(&mut numbers.clone().map(|k| k * period - by));
        let Some(tooth) = before(0) else {
            return false;
        };
        let is_tooth = |log: f64| log >= tooth / 2.0;
        let simple = [period / 2, period / 3, period / 3 * 2];
        if simple.into_iter().filter_map(before).any(is_tooth) {
            return false;
        }
        let mut kinds = PARTS
            .into_iter()
            .flat_map(|part| [(part, true), (part, false)]);
        let every_kind = kinds.all(|(part, divides)| {
            let of_kind = numbers
                .clone()
                .filter(|k| k.is_multiple_of(part) == divides);
            mean(&mut of_kind.map(|k| k * period)).is_none_or(is_tooth)
        });
        every_kind && self.stands_out(period, tooth, factor)
    }

    /// Returns true if hardly any other phase of a size is a tooth, and a tooth differs enough from the typical phase.
    fn stands_out(&self, period: u64, tooth: f64, factor: f64) -> bool {
        let phases = (2..period / self.pitch).filter_map(|i| {
            let (log, places) = self
                .slots
                .logs(self.multiples(period), period, i * self.pitch);
            (places > 0.0).then(|| log / places)
        });
        let phases: Vec<f64> = phases.collect();
        let others = phases.iter().filter(|log| **log >= tooth / 2.0).count();
        let few = others as f64 <= OTHERS_MAX * phases.len() as f64;
        let gap = location::median(&phases).unwrap_or(0.0);
        few && tooth - gap >= factor.ln()
    }

    /// Returns the ratio of the typical value at the multiples of a size to that elsewhere.
    fn ratio(&self, period: u64) -> Option<f64> {
        let mut is_tooth = vec![false; self.values.len()];
        self.teeth(period).for_each(|index| is_tooth[index] = true);
        let of = |wanted: bool| {
            let values = self.values.iter().zip(&is_tooth);
            let chosen = values.filter(|(_, is)| **is == wanted).map(|(v, _)| *v);
            location::median(&chosen.collect::<Vec<f64>>())
        };
        Some(of(true)? / of(false)?)
    }
}

/// Returns the middle of an access, in bytes.
fn middle(extent: &(u64, u64)) -> u64 {
    extent.0.midpoint(extent.1)
}

#[cfg(test)]
#[path = "teeth_tests.rs"]
mod tests;

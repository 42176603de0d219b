//! Judging sizes by the values that are seen a number of accesses later.

use super::places::{Places, middle};
use super::slots::LANES;
use crate::location;
use std::ops::Range;

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

/// The places, each with the value of an access some accesses later: what a multiple causes shows there.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    places: &'a Places,
    /// How far behind a multiple its tooth lies, in bytes.
    delay: u64,
}

impl<'a> Seen<'a> {
    /// Takes the value of the access `later` accesses later for each place.
    pub fn new(places: &'a Places, later: u64) -> Self {
        let delay = later.saturating_mul(places.pitch);
        Self { places, delay }
    }

    /// Returns the size that explains the places best, among those that meet the requirements and whose fractions show
    /// nothing. Costs a few million accesses to places for some thousand places and sizes over two decades.
    pub fn best(&self, wanted: &Wanted) -> Option<Fit> {
        self.best_of(self.strong(wanted), wanted)
    }

    fn best_of(&self, sizes: impl Iterator<Item = u64>, wanted: &Wanted) -> Option<Fit> {
        let mut fits = self.fits(sizes, wanted);
        fits.sort_by(|a, b| b.explains.total_cmp(&a.explains));
        let stands = |fit: &Fit| self.stands(fit.period, wanted.factor);
        let fit = fits.into_iter().find(stands)?;
        Some(self.with_alike(fit, wanted))
    }

    /// Returns [`Seen::best`] for the values of the accesses themselves and of those up to `latest` accesses later, in this
    /// order. Faster than one after the other.
    ///
    /// # Panics
    /// If `latest` is above 19.
    pub fn best_of_each(places: &'a Places, wanted: &Wanted, latest: u64) -> Vec<Option<Fit>> {
        let each = (0..=latest).map(|later| Self::new(places, later));
        let each: Vec<Self> = each.collect();
        let mut strong = vec![Vec::new(); each.len()];
        assert!(each.len() <= LANES, "at most {LANES} at once");
        for size in each[0].sizes(wanted) {
            let numbers = each[0].multiples(size);
            let sums = places.slots.scores::<LANES>(numbers, size, 0);
            for (strong, sum) in strong.iter_mut().zip(sums) {
                if is_strong(sum, wanted) {
                    strong.push(size);
                }
            }
        }
        let each = each.into_iter().zip(strong);
        each.map(|(seen, sizes)| seen.best_of(sizes.into_iter(), wanted))
            .collect()
    }

    /// Returns the sizes to be tried.
    fn sizes(&self, wanted: &Wanted) -> impl Iterator<Item = u64> + use<> {
        let end = self.places.extents.last().map_or(0, |e| e.1);
        let (pitch, most) = (self.places.pitch, wanted.sizes.1);
        let grain = wanted.grain.max(1);
        let first = wanted.sizes.0.next_multiple_of(grain).max(grain);
        // Half a pitch at the last multiple is the least that makes a difference.
        let next = move |size: &u64| {
            let multiples = (end / size).max(1);
            Some(size + (pitch / 2 / multiples / grain).max(1) * grain)
        };
        std::iter::successors(Some(first), next).take_while(move |size| *size <= most)
    }

    /// Returns the sizes that seem strong enough.
    fn strong(&self, wanted: &Wanted) -> impl Iterator<Item = u64> {
        let strong = |size: &u64| {
            let numbers = self.multiples(*size);
            let [sum] = self.places.slots.scores(numbers, *size, self.delay);
            is_strong(sum, wanted)
        };
        self.sizes(wanted).filter(strong)
    }

    /// Returns the sizes that are strong enough.
    fn fits(&self, sizes: impl Iterator<Item = u64>, wanted: &Wanted) -> Vec<Fit> {
        sizes
            .filter_map(|size| self.fit(size, wanted.teeth))
            .filter(|fit| fit.strength >= wanted.strength)
            .collect()
    }

    /// Returns the size that explains the places best, whatever lies between its multiples: for places around multiples
    /// only.
    pub fn nearest(&self, wanted: &Wanted) -> Option<Fit> {
        let fits = self.fits(self.strong(wanted), wanted).into_iter();
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
            let weighted = self.weights(size, reach).zip(&self.places.logs);
            weighted.map(|(weight, log)| weight * log).sum::<f64>()
        };
        let sums: Vec<(u64, f64)> = sizes.map(|size| (size, sum(size))).collect();
        let &(period, most) = sums.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let fit = self.fit(period, wanted.teeth)?;
        let best: Vec<f64> = self.weights(period, reach).collect();
        let may_be = sums.iter().filter(|(size, sum)| {
            let apart = best.iter().zip(self.weights(*size, reach));
            let squares: f64 = apart.map(|(a, b)| (a - b).powi(2)).sum();
            most - sum <= 3.0 * self.places.deviation * squares.sqrt()
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
    fn weights(&self, size: u64, reach: u64) -> impl Iterator<Item = f64> + use<'_, 'a> {
        let (reach, inverse) = (reach.max(1) as f64, 1.0 / size as f64);
        self.places.extents.iter().map(move |extent| {
            let middle = middle(extent).saturating_sub(self.delay);
            // Faster than a division. Halfway between two multiples, either is the nearest.
            let nearest = (middle as f64 * inverse + 0.5) as u64 * size;
            (1.0 - middle.abs_diff(nearest) as f64 / reach).max(0.0)
        })
    }

    /// Returns how well a size explains the places; `None` if it has fewer than `teeth_min` teeth.
    fn fit(&self, period: u64, teeth_min: usize) -> Option<Fit> {
        let (mut score, mut log, mut teeth) = (0.0, 0.0, 0_usize);
        for index in self.teeth(period) {
            score += self.places.scores[index];
            log += self.places.logs[index];
            teeth += 1;
        }
        let root = (teeth as f64).sqrt();
        (teeth >= teeth_min.max(1)).then(|| Fit {
            period,
            between: (period, period),
            strength: score / root,
            explains: log / self.places.deviation / root,
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
        let reach = (ALIKE_PITCHES * self.places.pitch / multiples / grain).max(1);
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
        self.places.at(position.saturating_add(self.delay))
    }

    /// Returns the beginning and the end of all places, in bytes, as far before as their values are seen late.
    fn covered(&self) -> Range<u64> {
        let extents = &self.places.extents;
        let seen = |at: u64| at.saturating_sub(self.delay);
        let first = extents.first().map_or(0, |e| seen(e.0));
        first..extents.last().map_or(0, |e| seen(e.1))
    }

    /// Returns the numbers of the multiples of a size that lie among the places. One before the first place has nothing to
    /// differ from.
    fn multiples(&self, period: u64) -> Range<u64> {
        let covered = self.covered();
        covered.start / period + 1..covered.end.div_ceil(period)
    }

    /// Returns the places at the multiples of a size.
    fn teeth(&self, period: u64) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let multiples = self.multiples(period);
        multiples.filter_map(move |k| self.at(k * period))
    }

    /// Returns true if every kind of multiple is a tooth, no simple fraction of the size is one, and hardly anything else.
    fn stands(&self, period: u64, factor: f64) -> bool {
        let numbers = self.multiples(period);
        let mean = |positions: &mut dyn Iterator<Item = u64>| {
            let found = positions
                .filter_map(|at| self.at(at))
                .map(|i| self.places.logs[i]);
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
        let phases = (2..period / self.places.pitch).filter_map(|i| {
            let (log, places) = self.places.slots.logs(
                self.multiples(period),
                period,
                i * self.places.pitch,
                self.delay,
            );
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
        let mut is_tooth = vec![false; self.places.values.len()];
        self.teeth(period).for_each(|index| is_tooth[index] = true);
        let of = |wanted: bool| {
            let values = self.places.values.iter().zip(&is_tooth);
            let chosen = values.filter(|(_, is)| **is == wanted).map(|(v, _)| *v);
            location::median(&chosen.collect::<Vec<f64>>())
        };
        Some(of(true)? / of(false)?)
    }
}

/// Returns true if the sum of the scores of a number of places, slightly underestimated, is large enough.
fn is_strong((score, places): (f64, f64), wanted: &Wanted) -> bool {
    score / places.max(1.0).sqrt() >= BY_SLOTS * wanted.strength
}

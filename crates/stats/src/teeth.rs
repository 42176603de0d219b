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

mod seen;
mod slots;

use crate::location;
pub use seen::Seen;
use slots::{Grid, LANES, SLOTS_MAX, Slots};

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
    /// A slot for every quarter of a pitch.
    slots: Slots,
}

impl Places {
    /// Takes places in any order; neighbours are `pitch` bytes apart.
    pub fn new(tooth: Tooth, pitch: u64, mut places: Vec<Place>) -> Self {
        places.sort_by_key(|place| place.from);
        let pitch = pitch.max(1);
        let first = places.first().map_or(0, |place| place.from);
        let beyond = places.last().map_or(0, |p| p.from.saturating_add(p.len));
        let mut grid = Grid::new(&(first..beyond), pitch);
        if grid.slots() > SLOTS_MAX {
            places.clear();
            grid = Grid::new(&(0..0), pitch);
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
            slots: Slots::new(grid, &[], &[], &[]),
        };
        let of_slots = places.of_slots(grid);
        places.slots = Slots::new(grid, &of_slots, &places.scores, &places.logs);
        places
    }

    /// Returns the place that belongs to the middle of each slot.
    fn of_slots(&self, grid: Grid) -> Vec<Option<usize>> {
        let mut index = 0;
        let place = grid.middles().map(|middle| {
            let before = |extent| self.is_before(extent, middle);
            while self.extents.get(index).is_some_and(before) {
                index += 1;
            }
            self.at_index(index, middle)
        });
        place.collect()
    }

    /// Returns true for the accesses, the first ones, that lie before a position.
    fn is_before(&self, extent: &(u64, u64), position: u64) -> bool {
        match self.tooth {
            Tooth::First | Tooth::Either => extent.1 <= position,
            // All accesses have the same length, so their middles ascend as their beginnings do.
            Tooth::Halved => middle(extent) < position,
        }
    }

    /// Returns the place that belongs to a position in bytes.
    fn at(&self, position: u64) -> Option<usize> {
        self.at_index(self.before(position), position)
    }

    /// Returns how many accesses lie before a position. Looks around where it is if all pitches have an access.
    fn before(&self, position: u64) -> usize {
        let places = &self.extents;
        let before = |extent: &(u64, u64)| self.is_before(extent, position);
        let first = places.first().map_or(0, |extent| extent.0);
        let guess = position.saturating_sub(first) / self.pitch;
        let guess = (guess as usize).min(places.len());
        let (mut low, mut high) = (guess, guess);
        let mut step = 1;
        while low > 0 && !before(&places[low - 1]) {
            (low, high) = (low.saturating_sub(step), low);
            step *= 2;
        }
        while high < places.len() && before(&places[high]) {
            (low, high) = (high + 1, (high + step).min(places.len()));
            step *= 2;
        }
        low + places[low..high].partition_point(before)
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

    /// Returns the places, each with the value of the access `later` accesses later.
    pub fn seen(&self, later: u64) -> Seen<'_> {
        Seen::new(self, later.saturating_mul(self.pitch))
    }

    /// Returns [`Seen::best`] for the values of the accesses themselves and of each up to `latest` accesses later, in this
    /// order. Faster than one after the other.
    ///
    /// # Panics
    /// If `latest` is above 19.
    pub fn best_of_each(&self, wanted: &Wanted, latest: u64) -> Vec<Option<Fit>> {
        let mut strong = vec![Vec::new(); latest as usize + 1];
        for size in self.sizes(wanted) {
            let numbers = self.seen(0).multiples(size);
            let sums = self.slots.scores::<LANES>(numbers, size, 0);
            for (strong, sum) in strong.iter_mut().zip(sums) {
                if is_strong(sum, wanted) {
                    strong.push(size);
                }
            }
        }
        let each = (0..).zip(strong);
        each.map(|(later, sizes)| self.seen(later).best_of(sizes.into_iter(), wanted))
            .collect()
    }

    /// Returns the sizes to be tried.
    fn sizes(&self, wanted: &Wanted) -> impl Iterator<Item = u64> + use<> {
        let end = self.extents.last().map_or(0, |e| e.1);
        let (pitch, most) = (self.pitch, wanted.sizes.1);
        let grain = wanted.grain.max(1);
        let first = wanted.sizes.0.next_multiple_of(grain).max(grain);
        // Half a pitch at the last multiple is the least that makes a difference.
        let next = move |size: &u64| {
            let multiples = (end / size).max(1);
            Some(size + (pitch / 2 / multiples / grain).max(1) * grain)
        };
        std::iter::successors(Some(first), next).take_while(move |size| *size <= most)
    }
}

/// Returns true if the sum of the scores of a number of places, slightly underestimated, is large enough.
fn is_strong((score, places): (f64, f64), wanted: &Wanted) -> bool {
    score / places.max(1.0).sqrt() >= BY_SLOTS * wanted.strength
}

/// Returns the middle of an access, in bytes.
fn middle(extent: &(u64, u64)) -> u64 {
    extent.0.midpoint(extent.1)
}

#[cfg(test)]
#[path = "teeth_tests.rs"]
mod tests;

//! The places of a scan in order, and which of them belongs to a position.

use super::slots::{Grid, SLOTS_MAX, Slots};
use crate::location;

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

/// The limit at which the logarithms of values over the typical value are clipped.
const CUT: f64 = 2.0;
/// The largest position, in bytes: more than any drive has.
const POSITION_MAX: u64 = 1 << 60;

/// The places in order.
#[derive(Clone, Debug)]
pub struct Places {
    pub(super) tooth: Tooth,
    /// The beginning and the end of each access, in bytes.
    pub(super) extents: Vec<(u64, u64)>,
    pub(super) values: Vec<f64>,
    /// The normal scores; larger is more like a tooth.
    pub(super) scores: Vec<f64>,
    /// The logarithms less their mean, larger is more like a tooth; and their standard deviation.
    pub(super) logs: Vec<f64>,
    pub(super) deviation: f64,
    pub(super) pitch: u64,
    /// A slot for every quarter of a pitch.
    pub(super) slots: Slots,
}

impl Places {
    /// Takes places in any order; neighbours are `pitch` bytes apart.
    pub fn new(tooth: Tooth, pitch: u64, mut places: Vec<Place>) -> Self {
        places.sort_by_key(|place| place.from);
        let pitch = pitch.max(1);
        let first = places.first().map_or(0, |place| place.from);
        let beyond = places.last().map_or(0, |p| p.from.saturating_add(p.len));
        let mut grid = Grid::new(&(first..beyond), pitch);
        // Positions are added to and taken from each other.
        if grid.slots() > SLOTS_MAX || beyond > POSITION_MAX {
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
    pub(super) fn is_before(&self, extent: &(u64, u64), position: u64) -> bool {
        match self.tooth {
            Tooth::First | Tooth::Either => extent.1 <= position,
            // All accesses have the same length, so their middles ascend as their beginnings do.
            Tooth::Halved => middle(extent) < position,
        }
    }

    /// Returns the place that belongs to a position in bytes.
    pub(super) fn at(&self, position: u64) -> Option<usize> {
        self.at_index(self.before(position), position)
    }

    /// Returns how many accesses lie before a position. Looks around where it is if all pitches have an access.
    pub(super) fn before(&self, position: u64) -> usize {
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
}

/// Returns the middle of an access, in bytes.
pub(super) fn middle(extent: &(u64, u64)) -> u64 {
    extent.0.midpoint(extent.1)
}

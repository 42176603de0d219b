//! A series of constant levels: how many there are, and where they change.
//!
//! The cost of a level is twice the sum of the absolute deviations of its values from their median, over the scale of the
//! noise: minus twice the logarithm of the likelihood under Laplace's law of errors (L1 cost), so that a single outlier is no
//! level. The partition with the least sum of costs and of a penalty for each change is found exactly by dynamic
//! programming with pruning (PELT: Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear
//! computational cost", JASA 107(500), 2012). The scale comes from the differences of neighbours, which changes of the
//! level hardly affect. The null model is one level: a change is found only if it saves more than its penalty.

use crate::location::{mad, median};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The penalty of a change, as a multiple of ln n. BIC counts two parameters of a change, its place and its level, as
/// 2 ln n together; three times as much allows for a scale that is estimated and for neighbours that are not independent.
const PENALTY: f64 = 6.0;
/// The mean absolute deviation over the median one, for Laplace's law: 1 / ln 2.
const MEAN_OF_MEDIAN: f64 = std::f64::consts::LOG2_E;
/// The least scale of the noise, as a share of the largest difference of two values: rounding is no noise.
const SCALE_MIN: f64 = 1e-3;

/// A level of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The index of its first value.
    pub from: usize,
    /// The index after its last value.
    pub to: usize,
    /// The median of its values.
    pub value: f64,
}

/// Returns the levels of a series in order, each of at least `least` values (at least 1), and at most `most` of them (at
/// least 1): if more are found, the penalty is doubled until there are no more. Values that are not finite count as equal
/// to the value before. Empty without values.
pub fn levels(values: &[f64], least: usize, most: usize) -> Vec<Level> {
    let values = finite(values);
    let all = values.iter().copied();
    let range = all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min);
    if values.is_empty() {
        return Vec::new();
    }
    let scale = noise(&values).max(SCALE_MIN * range);
    let mut penalty = PENALTY * (values.len() as f64).ln();
    loop {
        let ends = match scale > 0.0 {
            true => partition(&values, least.max(1), scale, penalty),
            false => vec![values.len()],
        };
        if ends.len() <= most.max(1) {
            return described(&values, &ends);
        }
        penalty *= 2.0;
    }
}

fn finite(values: &[f64]) -> Vec<f64> {
    let first = values.iter().copied().find(|value| value.is_finite());
    let mut last = first.unwrap_or_default();
    let next = |value: &f64| {
        last = if value.is_finite() { *value } else { last };
        last
    };
    values.iter().map(next).collect()
}

/// Returns the mean absolute deviation of the noise: that of the differences of neighbours, over the square root of 2.
fn noise(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    mad(&steps).unwrap_or_default() * MEAN_OF_MEDIAN / std::f64::consts::SQRT_2
}

fn described(values: &[f64], ends: &[usize]) -> Vec<Level> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let level = |(from, to): (usize, &usize)| Level {
        from,
        to: *to,
        value: median(&values[from..*to]).unwrap_or_default(),
    };
    starts.zip(ends).map(level).collect()
}

/// A place where the last level may begin.
struct Candidate {
    from: usize,
    deviations: Deviations,
    /// From this end on, another candidate is always at least as good.
    beaten_from: Option<usize>,
}

/// Returns the ends of the levels of the best partition.
fn partition(values: &[f64], least: usize, scale: f64, penalty: f64) -> Vec<usize> {
    let n = values.len();
    let ranks = Ranks::of(values);
    // The least cost of the values before each index, and where their last level begins.
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0] = (-penalty, 0);
    let mut candidates: Vec<Candidate> = Vec::new();
    for end in 1..=n {
        if best[end - 1].0.is_finite() {
            candidates.push(Candidate {
                from: end - 1,
                deviations: Deviations::default(),
                beaten_from: None,
            });
        }
        candidates.retain(|c| c.beaten_from.is_none_or(|from| end < from));
        for candidate in &mut candidates {
            candidate.deviations.push(ranks.rank[end - 1], &ranks);
            let cost = 2.0 * candidate.deviations.sum(&ranks) / scale;
            let total = best[candidate.from].0 + cost + penalty;
            // Shorter levels are no levels, unless the whole series is.
            let long = end - candidate.from >= least || candidate.from == 0 && end == n;
            if long && total < best[end].0 {
                best[end] = (total, candidate.from);
            }
        }
        for candidate in &mut candidates {
            let cost = 2.0 * candidate.deviations.sum(&ranks) / scale;
            // A change at `end` makes the level no costlier, apart from its penalty, and needs `least` values after it.
            if best[candidate.from].0 + cost > best[end].0 && candidate.beaten_from.is_none() {
                candidate.beaten_from = Some(end + least);
            }
        }
    }
    let mut ends = vec![n];
    let mut end = best[n].1;
    while end > 0 {
        ends.push(end);
        end = best[end].1;
    }
    ends.reverse();
    ends
}

/// The values in ascending order, and the rank of each.
struct Ranks {
    sorted: Vec<f64>,
    rank: Vec<u32>,
}

impl Ranks {
    fn of(values: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
        let mut rank = vec![0; values.len()];
        for (place, index) in order.iter().enumerate() {
            rank[*index as usize] = place as u32;
        }
        let sorted = order.iter().map(|index| values[*index as usize]).collect();
        Self { sorted, rank }
    }
}

/// The sum of absolute deviations from the median of a growing list, by ranks: the lower half with its largest value on
/// top, and the upper half with its smallest.
#[derive(Default)]
struct Deviations {
    lower: BinaryHeap<u32>,
    upper: BinaryHeap<Reverse<u32>>,
    lower_sum: f64,
    upper_sum: f64,
}

impl Deviations {
    fn push(&mut self, rank: u32, ranks: &Ranks) {
        let value = |rank: u32| ranks.sorted[rank as usize];
        match self.lower.peek() {
            Some(middle) if rank > *middle => {
                self.upper.push(Reverse(rank));
                self.upper_sum += value(rank);
            }
            _ => {
                self.lower.push(rank);
                self.lower_sum += value(rank);
            }
        }
        if self.lower.len() > self.upper.len() + 1 {
            if let Some(moved) = self.lower.pop() {
                self.upper.push(Reverse(moved));
                self.lower_sum -= value(moved);
                self.upper_sum += value(moved);
            }
        } else if self.upper.len() > self.lower.len()
            && let Some(Reverse(moved)) = self.upper.pop()
        {
            self.lower.push(moved);
            self.upper_sum -= value(moved);
            self.lower_sum += value(moved);
        }
    }

    fn sum(&self, ranks: &Ranks) -> f64 {
        let middle = self.lower.peek();
        let middle = middle.map_or(0.0, |rank| ranks.sorted[*rank as usize]);
        let odd = self.lower.len() as f64 - self.upper.len() as f64;
        (self.upper_sum - self.lower_sum + middle * odd).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Deviations, Ranks, levels, partition};
    use fathom_base::Rng;

    /// Returns levels of given lengths and values with noise of a standard deviation.
    fn series(parts: &[(usize, f64)], spread: f64, rng: &mut Rng) -> Vec<f64> {
        let mut values = Vec::new();
        for (count, value) in parts {
            values.extend((0..*count).map(|_| value + spread * rng.normal()));
        }
        values
    }

    fn ends(values: &[f64]) -> Vec<usize> {
        levels(values, 4, 4).iter().map(|level| level.to).collect()
    }

    #[test]
    fn deviations_are_those_from_the_median() {
        let values = [5.0, 1.0, 4.0, 9.0, 2.0];
        let ranks = Ranks::of(&values);
        let mut all = Deviations::default();
        let sums = [0, 1, 2, 3, 4].map(|i: usize| {
            all.push(ranks.rank[i], &ranks);
            all.sum(&ranks)
        });
        // The medians are 5, 3, 4, 4.5 and 4.
        assert_eq!(sums, [0.0, 4.0, 4.0, 9.0, 11.0]);
    }

    #[test]
    fn changes_are_found_at_their_places() {
        let mut rng = Rng::new(1, 0);
        let exact = [(30, 7.0), (50, 6.0), (20, 6.5)];
        assert_eq!(ends(&series(&exact, 0.0, &mut rng)), [30, 80, 100]);
        for _ in 0..100 {
            let found = ends(&series(&exact, 0.05, &mut rng));
            assert_eq!(found.len(), 3, "{found:?}");
            assert!(found[0].abs_diff(30) <= 1 && found[1].abs_diff(80) <= 1);
        }
    }

    #[test]
    fn one_level_has_no_change() {
        let mut rng = Rng::new(2, 0);
        let wrong = (0..300)
            .filter(|_| ends(&series(&[(200, 3.0)], 0.2, &mut rng)).len() > 1)
            .count();
        assert!(wrong <= 3, "{wrong} of 300");
        assert_eq!(ends(&[1.5; 50]), [50]);
    }

    #[test]
    fn outliers_are_no_level() {
        let mut rng = Rng::new(3, 0);
        let mut values = series(&[(60, 5.0), (60, 4.0)], 0.05, &mut rng);
        for at in [7, 30, 31, 77, 100] {
            values[at] = 2.0;
        }
        let found = ends(&values);
        assert_eq!(found, [60, 120]);
    }

    #[test]
    fn more_levels_than_allowed_are_joined() {
        let mut rng = Rng::new(4, 0);
        let stairs = [
            (20, 1.0),
            (20, 2.0),
            (20, 3.0),
            (20, 4.0),
            (20, 5.0),
            (20, 6.0),
        ];
        let found = levels(&series(&stairs, 0.01, &mut rng), 4, 4);
        assert!((2..=4).contains(&found.len()), "{found:?}");
    }

    #[test]
    fn values_that_are_no_number_change_nothing() {
        let mut values = vec![1.0; 20];
        values.extend([3.0; 20]);
        values[5] = f64::NAN;
        values[30] = f64::INFINITY;
        assert_eq!(ends(&values), [20, 40]);
        assert!(levels(&[], 4, 4).is_empty());
        assert_eq!(ends(&[1.0, 2.0]), [2]);
    }

    fn cost(part: &[f64], scale: f64) -> f64 {
        let middle = crate::location::median(part).unwrap();
        2.0 * part.iter().map(|v| (v - middle).abs()).sum::<f64>() / scale
    }

    /// Returns the least cost over all partitions, without pruning.
    fn exhaustive(values: &[f64], least: usize, scale: f64, penalty: f64) -> f64 {
        let mut best = vec![-penalty];
        for end in 1..=values.len() {
            let all = (0..end).filter(|from| end - from >= least);
            let totals = all.map(|from| best[from] + cost(&values[from..end], scale) + penalty);
            best.push(totals.fold(f64::INFINITY, f64::min));
        }
        best[values.len()]
    }

    #[test]
    fn pruning_loses_nothing() {
        let mut rng = Rng::new(5, 0);
        for round in 0..200 {
            let parts: Vec<(usize, f64)> = (0..1 + rng.below(4))
                .map(|_| (5 + rng.below(15) as usize, rng.normal()))
                .collect();
            let values = series(&parts, 0.3, &mut rng);
            for least in [1, 3] {
                let penalty = [1.0, 4.0, 12.0][round % 3];
                let ends = partition(&values, least, 0.3, penalty);
                let starts = [0].iter().chain(&ends);
                let found: f64 = (starts.zip(&ends))
                    .map(|(from, to)| cost(&values[*from..*to], 0.3) + penalty)
                    .sum();
                let wanted = exhaustive(&values, least, 0.3, penalty);
                assert!((found - penalty - wanted).abs() < 1e-9, "{values:?}");
            }
        }
    }
}

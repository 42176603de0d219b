//! Tests whether times depend on the place, by measurements of the same places in several rounds.
//!
//! Friedman 1937, with ties (Conover 1999, 5.8). Places are ranked within each round, so changes from round to round, and
//! single outliers, decide nothing.

use crate::{law, location};

/// The least ratio of the slowest place to the fastest that counts as a difference.
const SPREAD: f64 = 1.02;

/// Returns true if the place makes a difference that repeats in every round, with a p-value below `below`. `rounds` has one
/// list for each round, with the times of the same places in the same order.
pub fn matters(rounds: &[Vec<f64>], below: f64) -> bool {
    friedman_p(rounds).is_some_and(|p| p < below)
        && spread(rounds).is_some_and(|spread| spread >= SPREAD)
}

/// Returns the p-value of Friedman's test of the hypothesis that the place makes no difference. `None` with fewer than 2
/// rounds or 3 places, or if the lists differ in length.
fn friedman_p(rounds: &[Vec<f64>]) -> Option<f64> {
    let places = rounds.first()?.len();
    if rounds.len() < 2 || places < 3 || rounds.iter().any(|round| round.len() != places) {
        return None;
    }
    let (b, k) = (rounds.len() as f64, places as f64);
    let ranked: Vec<Vec<f64>> = rounds.iter().map(|round| location::ranks(round)).collect();
    let squares: f64 = ranked.iter().flatten().map(|rank| rank * rank).sum();
    let expected = b * k * (k + 1.0) * (k + 1.0) / 4.0;
    if squares <= expected {
        // All places are equal in every round.
        return Some(1.0);
    }
    let sum_of = |place: usize| ranked.iter().map(|round| round[place]).sum::<f64>();
    let sums: f64 = (0..places).map(|place| sum_of(place).powi(2)).sum();
    let statistic = (k - 1.0) * (sums - b * expected) / (squares - expected);
    law::chi_square_tail(k - 1.0, statistic.max(0.0))
}

/// Returns the ratio of the slowest place to the fastest, each by the median of its rounds; `rounds` as for [`friedman_p`].
/// `None` without a place, or if the fastest takes no time.
fn spread(rounds: &[Vec<f64>]) -> Option<f64> {
    let places = rounds.first()?.len();
    let of = |place: usize| {
        let times: Vec<f64> = rounds
            .iter()
            .filter_map(|r| r.get(place).copied())
            .collect();
        location::median(&times)
    };
    let medians = location::sorted(&(0..places).filter_map(of).collect::<Vec<_>>());
    let (low, high) = (medians.first()?, medians.last()?);
    (*low > 0.0).then_some(high / low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn the_example_of_conover_is_reproduced() {
        // Conover 1999, 5.8, example 1: twelve home owners rank four grasses; T1 = 8.0973.
        let rounds = [
            [4.0, 3.0, 2.0, 1.0],
            [4.0, 2.0, 3.0, 1.0],
            [3.0, 1.5, 1.5, 4.0],
            [3.0, 1.0, 2.0, 4.0],
            [4.0, 2.0, 1.0, 3.0],
            [2.0, 2.0, 2.0, 4.0],
            [1.0, 3.0, 2.0, 4.0],
            [2.0, 4.0, 1.0, 3.0],
            [3.5, 1.0, 2.0, 3.5],
            [4.0, 1.0, 3.0, 2.0],
            [4.0, 2.0, 3.0, 1.0],
            [3.5, 1.0, 2.0, 3.5],
        ]
        .map(|round| round.to_vec());
        let p = friedman_p(&rounds).unwrap();
        // The upper tail of the chi-square distribution with 3 degrees of freedom at 8.0973.
        assert!((p - 0.0440).abs() < 1e-3, "{p}");
    }

    #[test]
    fn places_that_differ_are_told_from_bursts() {
        let mut rng = Rng::new(5, 0);
        let mut found = [0, 0];
        for _ in 0..1000 {
            for (kind, found) in found.iter_mut().enumerate() {
                let rounds: Vec<Vec<f64>> = (0..9)
                    .map(|_| {
                        (0..8)
                            .map(|place| {
                                let burst = if rng.chance(0.2) { 20.0 } else { 1.0 };
                                let own = if kind == 1 && place % 2 == 0 {
                                    1.5
                                } else {
                                    1.0
                                };
                                own * burst * (1.0 + 0.2 * rng.uniform())
                            })
                            .collect()
                    })
                    .collect();
                *found += u32::from(friedman_p(&rounds).unwrap() < 0.05);
            }
        }
        assert!(found[0] < 70, "{found:?}");
        assert!(found[1] > 950, "{found:?}");
    }

    #[test]
    fn equal_times_and_too_few_say_nothing() {
        assert_eq!(friedman_p(&[vec![7.0; 8], vec![7.0; 8]]), Some(1.0));
        assert_eq!(friedman_p(&[vec![1.0, 2.0, 3.0]]), None);
        assert_eq!(friedman_p(&[vec![1.0, 2.0, 3.0], vec![1.0, 2.0]]), None);
        assert_eq!(friedman_p(&[]), None);
        assert_eq!(spread(&[vec![2.0, 3.0], vec![2.0, 5.0]]), Some(2.0));
        assert_eq!(spread(&[vec![0.0, 3.0]]), None);
    }
}

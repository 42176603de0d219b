//! Events that come together at some time, beside others that come at any time.

use crate::location::sorted;

/// The events that must come together, and the standard deviations of a Poisson count of those that come at any time by which
/// they must be more.
const TOGETHER_MIN: f64 = 12.0;
const DEVIATIONS: f64 = 5.0;

/// Events that come together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Together {
    /// When a fifth of them has come.
    pub from: f64,
    /// When nine tenths have come.
    pub to: f64,
}

/// Returns when events come together, for events at `times` from 0 to `span`. Those that come at any time are taken to be as
/// frequent as in the quarter of the span with the second fewest. `None` if no events come together.
pub fn together(times: &[f64], span: f64) -> Option<Together> {
    let times = sorted(times);
    let count = |quarter: f64| {
        let within = |t: &&f64| (quarter..quarter + 1.0).contains(&(**t / span * 4.0));
        times.iter().filter(within).count()
    };
    let mut quarters = [0.0, 1.0, 2.0, 3.0].map(count);
    quarters.sort_unstable();
    let rate = 4.0 * quarters[1] as f64 / span;
    // The number of events up to each, less those that come at any time.
    let above = |(i, t): (usize, &f64)| (i + 1) as f64 - rate * t;
    let sums: Vec<f64> = times.iter().enumerate().map(above).collect();
    let (last, most) = (sums.iter().copied().enumerate()).max_by(|a, b| a.1.total_cmp(&b.1))?;
    if most < TOGETHER_MIN + DEVIATIONS * (rate * times[last]).sqrt() {
        return None;
    }
    let at = |share: f64| {
        let place = sums.iter().position(|sum| *sum >= share * most)?;
        Some(times[place])
    };
    Some(Together {
        from: at(0.2)?,
        to: at(0.9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::together;
    use fathom_base::Rng;

    /// Returns events: `together` ones around `at`, and `any` ones at any time.
    fn events(near: usize, at: f64, any: usize, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed, 0);
        let mut one =
            |low: f64, high: f64| low + (high - low) * rng.below(1 << 20) as f64 / (1 << 20) as f64;
        let near = (0..near)
            .map(|_| one(0.98 * at, 1.02 * at))
            .collect::<Vec<f64>>();
        let other = (0..any).map(|_| one(0.0, 100.0));
        near.into_iter().chain(other).collect()
    }

    #[test]
    fn events_that_come_together_are_found_among_others() {
        for (at, any) in [(0.5, 0), (5.0, 60), (37.0, 30), (80.0, 8)] {
            let found = together(&events(60, at, any, 7), 100.0);
            assert!(
                found.is_some_and(|t| t.from >= 0.95 * at && t.to <= 1.2 * at),
                "{at}: {found:?}"
            );
        }
    }

    #[test]
    fn events_at_any_time_do_not_come_together() {
        let found = (0..200).filter(|seed| together(&events(0, 1.0, 120, *seed), 100.0).is_some());
        assert!(found.count() <= 4);
        assert_eq!(together(&[], 100.0), None);
        assert_eq!(together(&[1.0; 11], 100.0), None);
    }
}

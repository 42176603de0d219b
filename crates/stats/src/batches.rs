//! The mean of a stream with a confidence interval, by batch means (Law and Kelton, "Simulation Modeling and Analysis",
//! 9.5.3): the stream is cut into batches of equal size whose means are nearly independent.
//!
//! Memory is constant: once there are `BATCHES_MAX` batches, neighbours are joined and the size doubles. After the start,
//! between 32 and 64 batches are complete at any time. The values of an incomplete batch count for the mean but not for the
//! interval.

use crate::law::student_t;
use serde::{Deserialize, Serialize};

/// The number of batches at which neighbours are joined.
const BATCHES_MAX: usize = 64;
/// The least number of batches for an interval.
const BATCHES_MIN: usize = 10;

/// A mean and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean of all values.
    pub mean: f64,
    /// The lower end; `None` with too few batches.
    pub low: Option<f64>,
    /// The upper end; `None` with too few batches.
    pub high: Option<f64>,
}

/// The batches of a stream so far.
#[derive(Clone, Debug)]
pub struct Batches {
    /// The sums of the complete batches.
    sums: Vec<f64>,
    size: u64,
    open: (u64, f64),
    count: u64,
    total: f64,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            sums: Vec::with_capacity(BATCHES_MAX),
            size: 1,
            open: (0, 0.0),
            count: 0,
            total: 0.0,
        }
    }
}

impl Batches {
    /// Adds the next value.
    #[inline]
    pub fn push(&mut self, value: f64) {
        self.extend(std::iter::once(value));
    }

    /// Adds the next values, in their order. The sums stay in registers.
    #[inline]
    pub fn extend(&mut self, values: impl Iterator<Item = f64>) {
        let (mut added, mut total, mut open) = (0, self.total, self.open);
        for value in values {
            added += 1;
            total += value;
            open = (open.0 + 1, open.1 + value);
            if open.0 >= self.size {
                self.open = open;
                self.close();
                open = self.open;
            }
        }
        self.count += added;
        (self.total, self.open) = (total, open);
    }

    /// Completes the open batch.
    fn close(&mut self) {
        self.sums.push(self.open.1);
        self.open = (0, 0.0);
        if self.sums.len() == BATCHES_MAX {
            self.sums = self.sums.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.size *= 2;
        }
    }

    /// Returns the number of values so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns how many batches are complete after `count` values.
    pub fn complete(count: u64) -> usize {
        let mut size = 1;
        while count / size >= BATCHES_MAX as u64 {
            size *= 2;
        }
        (count / size) as usize
    }

    /// Returns the means of the complete batches, in order.
    pub fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.size as f64).collect()
    }

    /// Returns the mean so far with its 95 % interval; `None` without values.
    pub fn interval(&self) -> Option<Interval> {
        let mean = self.total / self.count.max(1) as f64;
        let half = half_width(&self.means(), BATCHES_MIN);
        (self.count > 0).then(|| Interval {
            mean,
            low: half.map(|half| mean - half),
            high: half.map(|half| mean + half),
        })
    }
}

/// Returns half the width of the 95 % interval of the mean of independent values; `None` with fewer than `least` (2 or
/// more).
pub fn half_width(values: &[f64], least: usize) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < least {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    Some(student_t(n - 1.0)? * (squares / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn the_interval_holds_the_mean_as_often_as_it_says() {
        // A first-order autoregressive stream around 5, in which neighbours are correlated.
        let holds = |seed: u64| {
            let mut rng = Rng::new(seed, 0);
            let (mut batches, mut x) = (Batches::default(), 0.0);
            for _ in 0..40_000 {
                x = 0.8 * x + rng.normal();
                batches.push(5.0 + x);
            }
            let Interval { low, high, .. } = batches.interval().unwrap();
            (low.unwrap()..high.unwrap()).contains(&5.0)
        };
        let held = (0..400).filter(|&seed| holds(seed)).count();
        // 95 % of 400, within three standard errors of that count.
        assert!((367..=393).contains(&held), "{held} of 400");
    }

    #[test]
    fn the_mean_counts_everything_and_the_memory_stays() {
        let mut batches = Batches::default();
        (1..=1001).for_each(|i| batches.push(f64::from(i)));
        assert_eq!(batches.interval().unwrap().mean, 501.0);
        assert!((BATCHES_MAX / 2..BATCHES_MAX).contains(&batches.sums.len()));
        assert_eq!(batches.sums[0], f64::from((1..=16).sum::<i32>()));
        assert_eq!(Batches::default().interval(), None);
    }
}

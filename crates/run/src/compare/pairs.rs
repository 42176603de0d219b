//! The same access in two runs.

use super::ratio::{Basis, Ratio, Verdict, fieller, t};
use crate::Batches;

/// Fewer batches of pairs give no interval.
const BATCHES_MIN: usize = 10;

/// An access with how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// A write, not a read.
    pub write: bool,
    /// Response time in nanoseconds.
    pub response_ns: u64,
}

/// The reads and writes of a run by their number in the workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Responses {
    rows: Vec<(u64, Timed)>,
}

impl Responses {
    /// From rows in any order.
    pub fn new(mut rows: Vec<(u64, Timed)>) -> Self {
        rows.sort_unstable_by_key(|(number, _)| *number);
        Self { rows }
    }

    /// How many accesses there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Two means over the same accesses, batch by batch.
#[derive(Clone, Debug, Default)]
struct Both {
    base: Batches,
    run: Batches,
    differs: bool,
}

impl Both {
    fn push(&mut self, base: u64, run: u64) {
        self.base.push(base as f64);
        self.run.push(run as f64);
        self.differs |= base != run;
    }

    fn ratio(&self) -> Option<Ratio> {
        let means = (self.base.interval()?.mean, self.run.interval()?.mean);
        let (x, y) = (self.base.means(), self.run.means());
        let n = x.len() as f64;
        let interval = (x.len() >= BATCHES_MIN)
            .then(|| {
                let errors = (
                    product(&x, &x) / n,
                    product(&y, &y) / n,
                    product(&x, &y) / n,
                );
                fieller(means, errors, t(n - 1.0)?)
            })
            .flatten();
        let ratio = Ratio::new(means, interval, Basis::Pairs);
        Some(match self.differs {
            true => ratio,
            false => Ratio {
                verdict: Verdict::Same,
                ..ratio
            },
        })
    }
}

/// The covariance of values that belong together.
fn product(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mx, my) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my));
    products.sum::<f64>() / (n - 1.0)
}

/// The accesses of two runs, paired.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    reads: Both,
    writes: Both,
    all: Both,
}

impl Pairs {
    /// Pairs every access with itself; `None` where the runs do not have the same accesses.
    pub fn of(base: &Responses, run: &Responses) -> Option<Self> {
        let mut pairs = Pairs::default();
        if base.rows.len() != run.rows.len() {
            return None;
        }
        for ((i, x), (j, y)) in base.rows.iter().zip(&run.rows) {
            if i != j || x.write != y.write {
                return None;
            }
            let side = if x.write {
                &mut pairs.writes
            } else {
                &mut pairs.reads
            };
            side.push(x.response_ns, y.response_ns);
            pairs.all.push(x.response_ns, y.response_ns);
        }
        Some(pairs)
    }

    /// The ratio of `reads`, `writes` or `all`; `None` where there is no such access.
    pub fn ratio(&self, side: &str) -> Option<Ratio> {
        match side {
            "reads" => self.reads.ratio(),
            "writes" => self.writes.ratio(),
            _ => self.all.ratio(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mean;
    use super::*;
    use fathom_base::Rng;

    fn responses(times: &[u64], write: bool) -> Responses {
        let timed = |&response_ns| Timed { write, response_ns };
        Responses::new((0..).zip(times.iter().map(timed)).collect())
    }

    #[test]
    fn covariance_by_hand() {
        // Means 2 and 4; products of the deviations (-1)(-2) + 0 + (1)(2).
        assert_eq!(product(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 2.0);
        assert_eq!(product(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), -2.0);
    }

    #[test]
    fn accesses_are_paired_by_their_number_or_not_at_all() {
        let rows = |order: &[u64]| {
            let timed = |&number: &u64| {
                let response_ns = 100 + number;
                (
                    number,
                    Timed {
                        write: number % 2 == 0,
                        response_ns,
                    },
                )
            };
            Responses::new(order.iter().map(timed).collect())
        };
        let ordered: Vec<u64> = (0..40).collect();
        let reversed: Vec<u64> = (0..40).rev().collect();
        let pairs = Pairs::of(&rows(&ordered), &rows(&reversed)).unwrap();
        assert_eq!(pairs.ratio("reads").unwrap().verdict, Verdict::Same);
        assert_eq!(pairs.ratio("all").unwrap().low, Some(1.0));
        let short = rows(&ordered[..39]);
        assert!(Pairs::of(&short, &rows(&ordered)).is_none());
        let (x, y) = (responses(&[1, 2], false), responses(&[1, 2], true));
        assert!(Pairs::of(&x, &y).is_none());
    }

    #[test]
    fn twice_the_time_is_twice_the_time_and_nothing_is_open() {
        let times: Vec<u64> = (0..64 * 16).map(|i| 1_000 + i * 37 % 911).collect();
        let twice: Vec<u64> = times.iter().map(|t| 2 * t).collect();
        let pairs = Pairs::of(&responses(&times, true), &responses(&twice, true)).unwrap();
        let ratio = pairs.ratio("writes").unwrap();
        assert_eq!((ratio.value, ratio.verdict), (Some(2.0), Verdict::Slower));
        assert!((ratio.low.unwrap() - 2.0).abs() < 1e-6, "{ratio:?}");
        assert!((ratio.high.unwrap() - 2.0).abs() < 1e-6, "{ratio:?}");
        assert_eq!(pairs.ratio("reads"), None);
    }

    /// Two runs whose accesses share most of what makes them slow: the true ratio is 1.2.
    fn simulated(seed: u64) -> (Responses, Responses) {
        let mut rng = Rng::new(seed, 3);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for _ in 0..4_000 {
            let shared = rng.exponential(10_000.0);
            x.push((shared + rng.exponential(1_000.0)).round() as u64);
            y.push((1.2 * shared + rng.exponential(1_200.0)).round() as u64);
        }
        (responses(&x, false), responses(&y, false))
    }

    #[test]
    fn the_paired_interval_holds_the_ratio_as_often_as_it_says() {
        let holds = |seed: u64| {
            let (x, y) = simulated(seed);
            let ratio = Pairs::of(&x, &y).unwrap().ratio("reads").unwrap();
            (ratio.low.unwrap()..ratio.high.unwrap()).contains(&1.2)
        };
        let held = (0..800).filter(|&seed| holds(seed)).count();
        // 95 % of 800, and three standard errors of that count.
        assert!((742..=778).contains(&held), "{held} of 800");
    }

    #[test]
    fn pairs_are_narrower_than_the_runs_alone() {
        let (x, y) = simulated(1);
        let pairs = Pairs::of(&x, &y).unwrap();
        let alone = |batches: &Batches| {
            let (interval, n) = (batches.interval().unwrap(), batches.means().len());
            let freedom = n as f64 - 1.0;
            let error = (interval.high.unwrap() - interval.mean) / t(freedom).unwrap();
            Mean {
                mean: interval.mean,
                error: Some((error * error, freedom)),
            }
        };
        let loose = Ratio::independent(&alone(&pairs.reads.base), &alone(&pairs.reads.run));
        let paired = pairs.ratio("reads").unwrap();
        let width = |ratio: &Ratio| ratio.high.unwrap() - ratio.low.unwrap();
        // The shared part is ten elevenths of the time.
        assert!(width(&paired) < width(&loose) / 4.0, "{paired:?} {loose:?}");
        assert_eq!(paired.value, loose.value);
    }
}

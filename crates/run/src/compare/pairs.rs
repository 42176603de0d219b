//! Pairing of the same accesses in two runs.

use fathom_stats::ratio::{Paired, Ratio};

/// An access with its response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Whether it is a write; otherwise it is a read.
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
    /// Creates the set from rows in any order.
    pub fn new(mut rows: Vec<(u64, Timed)>) -> Self {
        rows.sort_unstable_by_key(|(number, _)| *number);
        Self { rows }
    }

    /// Number of accesses.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there are no accesses.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The paired accesses of two runs.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    reads: Paired,
    writes: Paired,
    all: Paired,
}

impl Pairs {
    /// Pairs every access of `base` with the same one of `run`. `None` if the runs do not have the same accesses.
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
            let (x, y) = (x.response_ns as f64, y.response_ns as f64);
            side.push(x, y);
            pairs.all.push(x, y);
        }
        Some(pairs)
    }

    /// The ratio of `reads`, `writes` or `all`; `None` if there is no such access.
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
    use super::*;
    use fathom_stats::ratio::Verdict;

    fn responses(times: &[u64], write: bool) -> Responses {
        let timed = |&response_ns| Timed { write, response_ns };
        Responses::new((0..).zip(times.iter().map(timed)).collect())
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
}

//! Comparison of two block layers above one drive: the mean ratio of their rounds, which alternate, with its 95 %
//! interval. The result applies to this drive and this load only.

use crate::figures::Side;
use crate::record::RunRecord;
use fathom_iosched::QueueConfig;
use fathom_stats::batches::half_width;
use serde::Serialize;

/// A named block layer; without a queue, none of Fathom's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stack {
    /// The user's name for it.
    pub name: String,
    /// Its settings.
    pub queue: Option<QueueConfig>,
    /// The kernel's scheduler for the drive during its rounds. If not set, the scheduler that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// The measurements of two stacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ab {
    /// The stacks, A and B.
    pub stacks: [Stack; 2],
    /// The results of each stack in each round.
    pub rounds: Vec<[RunRecord; 2]>,
    /// The differences between the stacks.
    pub differences: Vec<Difference>,
}

/// One figure under both stacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the figure.
    pub what: &'static str,
    /// Unit of the figure.
    pub unit: &'static str,
    /// Mean of the figure over the rounds under A and B.
    pub means: [f64; 2],
    /// Mean difference of B to A over the rounds, in percent of A.
    pub percent: f64,
    /// 95 % interval of that difference; `None` with fewer than three rounds.
    pub interval: Option<[f64; 2]>,
    /// Whether a higher value is better.
    pub more_is_better: bool,
}

/// Minimum number of rounds for an interval.
const ROUNDS_MIN: usize = 3;

impl Ab {
    /// Compares the rounds that both stacks have played.
    pub fn of(stacks: [Stack; 2], rounds: Vec<[RunRecord; 2]>) -> Self {
        Self {
            differences: differences(&rounds),
            stacks,
            rounds,
        }
    }
}

/// A figure: its name, its unit, whether more is better, and how to read it from a run.
type Figure = (
    &'static str,
    &'static str,
    bool,
    fn(&RunRecord) -> Option<f64>,
);

fn ms(side: Option<Side>, of: fn(Side) -> f64) -> Option<f64> {
    Some(of(side?) / 1e6)
}

const FIGURES: [Figure; 8] = [
    ("accesses a second", "", true, |o| {
        Some(o.totals.accesses_per_second())
    }),
    ("throughput", "MB/s", true, |o| {
        Some(o.totals.bytes_per_second() / 1e6)
    }),
    ("mean response of reads", "ms", false, |o| {
        ms(o.totals.reads, |s| s.response_ns.mean)
    }),
    ("99 % of reads", "ms", false, |o| {
        ms(o.totals.reads, |s| s.p99_ns as f64)
    }),
    ("mean response of writes", "ms", false, |o| {
        ms(o.totals.writes, |s| s.response_ns.mean)
    }),
    ("99 % of writes", "ms", false, |o| {
        ms(o.totals.writes, |s| s.p99_ns as f64)
    }),
    ("fairness (Jain)", "", true, |o| o.totals.fairness()),
    ("write amplification", "", false, |o| {
        o.work?.write_amplification()
    }),
];

fn differences(rounds: &[[RunRecord; 2]]) -> Vec<Difference> {
    let difference = |&(what, unit, more_is_better, of): &Figure| {
        let pair = |[a, b]: &[RunRecord; 2]| Some([of(a)?, of(b)?]);
        let pairs: Vec<[f64; 2]> = rounds.iter().map(pair).collect::<Option<_>>()?;
        let (percent, interval) = between(&pairs)?;
        let mean = |i: usize| pairs.iter().map(|pair| pair[i]).sum::<f64>() / pairs.len() as f64;
        Some(Difference {
            what,
            unit,
            means: [mean(0), mean(1)],
            percent,
            interval,
            more_is_better,
        })
    };
    FIGURES.iter().filter_map(difference).collect()
}

/// The difference of the second value to the first in percent, with its interval. Computed as the mean of the
/// logarithms of the ratios, so that a ratio and its inverse have the same weight.
fn between(pairs: &[[f64; 2]]) -> Option<(f64, Option<[f64; 2]>)> {
    let log = |[a, b]: &[f64; 2]| (*a > 0.0 && *b > 0.0).then(|| (b / a).ln());
    let logs: Vec<f64> = pairs.iter().map(log).collect::<Option<_>>()?;
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let percent = |log: f64| (log.exp() - 1.0) * 100.0;
    let half = half_width(&logs, ROUNDS_MIN);
    let interval = half.map(|half| [percent(mean - half), percent(mean + half)]);
    (!logs.is_empty()).then(|| (percent(mean), interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_and_its_inverse_weigh_the_same() {
        let (percent, interval) = between(&[[1.0, 2.0], [2.0, 1.0]]).unwrap();
        assert!(percent.abs() < 1e-9);
        assert_eq!(interval, None);
        // The ratio is 2 in each of four rounds: the interval has no width.
        let (percent, interval) = between(&[[1.0, 2.0]; 4]).unwrap();
        assert!((percent - 100.0).abs() < 1e-9);
        let [low, high] = interval.unwrap();
        assert!((low - 100.0).abs() < 1e-6 && (high - 100.0).abs() < 1e-6);
        // By hand: logs 0, ln 2, ln 4; mean ln 2, deviation ln 2, half 4.3027 ln 2 / sqrt(3).
        let (percent, interval) = between(&[[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]]).unwrap();
        assert!((percent - 100.0).abs() < 1e-9);
        let half = 4.3027 * 2_f64.ln() / 3_f64.sqrt();
        let expected = (2_f64.ln() + half).exp() * 100.0 - 100.0;
        assert!((interval.unwrap()[1] - expected).abs() < 0.1);
        assert_eq!(between(&[[0.0, 1.0]]), None);
    }
}

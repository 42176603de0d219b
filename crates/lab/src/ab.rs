//! Two block layers above one drive, in turn, and what is between them.
//!
//! A drive is not the same from one minute to the next, so that two long runs one after the other compare its moods as
//! much as the stacks. Here both play in every round, and who begins changes from round to round: a drift that is slower
//! than a round falls on both alike. Over all rounds both play the same accesses, but never in the same round, where the
//! second would find what the first has left in the drive's memory. One run before the first round is not counted. What comes out
//! is the mean of the ratios of the rounds, with its 95 % interval; it says nothing of another drive or another load.

use crate::replay::{Outcome, Plan, RunError, Seen, Watch, run_watched};
use fathom_block::Subject;
pub use fathom_hostio::KernelScheduler;
use fathom_iosched::QueueConfig;
use fathom_run::{Side, half_width};
use serde::Serialize;
use std::cell::Cell;

/// A block layer with its name; none of ours where there is no queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stack {
    /// What the user calls it.
    pub name: String,
    /// What it is.
    pub queue: Option<QueueConfig>,
    /// The kernel's scheduler of the drive meanwhile; the one that was found where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// What was measured of two stacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ab {
    /// The stacks, A and B.
    pub stacks: [Stack; 2],
    /// What each gave in each round.
    pub rounds: Vec<[Outcome; 2]>,
    /// What is between them.
    pub differences: Vec<Difference>,
}

/// One figure under both stacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Which figure.
    pub what: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its mean over the rounds under A and B.
    pub means: [f64; 2],
    /// By how many percent B's is above A's, on average over the rounds.
    pub percent: f64,
    /// The 95 % interval of that; `None` with fewer than three rounds.
    pub interval: Option<[f64; 2]>,
    /// Whether more of it is better.
    pub more_is_better: bool,
}

/// Fewer rounds than that give no interval.
const ROUNDS_MIN: usize = 3;

/// Plays a workload under both stacks in turn, `rounds` times each. Before each it sets the drive's own scheduler, where one of
/// the stacks names one. A `watch` that stops ends it after the whole rounds so far; the part that it sees is of all runs.
///
/// # Errors
/// [`RunError`] of a run; [`RunError::Host`] where the kernel does not switch; [`RunError::CutShort`] where the drive failed on the way; [`RunError::Interrupted`] before the
/// first round is done.
pub fn ab(
    device: &mut dyn Subject,
    plan: &Plan,
    stacks: [Stack; 2],
    kernel: Option<&KernelScheduler>,
    (rounds, watch): (u32, Watch<'_>),
) -> Result<Ab, RunError> {
    let seeds = u64::from(rounds);
    let (runs, ended) = (2 * seeds + 1, Cell::new(0_u64));
    let seen = |seen: Seen| {
        let done = ended.get() as f64 + seen.part.unwrap_or(0.0);
        let part = Some(done / runs as f64);
        if let Some(told) = watch.seen {
            told(Seen { part, ..seen });
        }
    };
    let watch = Watch {
        seen: Some(&seen),
        ..watch
    };
    let mut one = |stack: usize, round: u64| {
        let plan = Plan {
            queue: stacks[stack].queue.clone(),
            // The second stack is one round ahead.
            seed: plan
                .seed
                .wrapping_add((round + stack as u64) % seeds.max(1)),
            ..plan.clone()
        };
        if let Some(kernel) = kernel {
            let found = || kernel.found();
            kernel.switch(&stacks[stack].kernel.clone().unwrap_or_else(found))?;
        }
        let outcome = run_watched(&mut *device, &plan, None, watch)?;
        ended.set(ended.get() + 1);
        match &outcome.cut_short {
            Some(cut) => Err(RunError::CutShort(cut.clone())),
            None => Ok(outcome),
        }
    };
    one(0, seeds / 2)?;
    let mut done = Vec::new();
    for round in 0..seeds {
        let begins = usize::from(round % 2 == 1);
        let both = one(begins, round).and_then(|first| Ok([first, one(1 - begins, round)?]));
        match both {
            Ok([a, b]) if begins == 0 => done.push([a, b]),
            Ok([b, a]) => done.push([a, b]),
            Err(RunError::Interrupted) if !done.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(Ab {
        differences: differences(&done),
        stacks,
        rounds: done,
    })
}

/// A figure: its name, its unit, whether more is better, and how it is read from a run.
type Figure = (
    &'static str,
    &'static str,
    bool,
    fn(&Outcome) -> Option<f64>,
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

fn differences(rounds: &[[Outcome; 2]]) -> Vec<Difference> {
    let difference = |&(what, unit, more_is_better, of): &Figure| {
        let pair = |[a, b]: &[Outcome; 2]| Some([of(a)?, of(b)?]);
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

/// By how many percent the second is above the first: the mean of the ratios' logarithms, since a ratio and its inverse
/// weigh the same then.
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
        // Twice as much in each of four rounds: no doubt about it.
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

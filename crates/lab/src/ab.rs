//! A/B comparison of two block layers above the same drive.
//!
//! A drive's performance drifts over time, so comparing two long runs one after the other measures the drift as much as the
//! block layers. Here both stacks play in every round, and the order alternates from round to round: a drift slower than a
//! round affects both alike. Over all rounds both stacks play the same accesses, but never in the same round, where the
//! second would find the data that the first left in the drive's memory. One warm-up run before the first round is not
//! counted. The result is the mean of the ratios of the rounds with its 95 % confidence interval. It says nothing about
//! another drive or another load.

use crate::replay::{Plan, RunError, Seen, Watch, run};
use fathom_block::Subject;
use fathom_hostio::HostError;
pub use fathom_hostio::KernelScheduler;
use fathom_run::ab::{Ab, Stack};
use std::cell::Cell;

/// Plays a workload under both stacks in turn, `rounds` times each.
///
/// Before each run it sets the kernel's scheduler of the drive, where one of the stacks names one. If `watch` stops the
/// comparison, the rounds completed so far are returned. The part that `watch` sees is the part of all runs.
///
/// # Errors
/// - [`RunError`] if a run fails.
/// - [`RunError::Host`] if the kernel does not switch its scheduler.
/// - [`RunError::CutShort`] if the drive fails during a run.
/// - [`RunError::Interrupted`] if `watch` stops it before the first round is complete.
pub fn ab(
    device: &mut dyn Subject,
    plan: &Plan,
    stacks: [Stack; 2],
    kernel: Option<&KernelScheduler>,
    rounds: u32,
    watch: Watch<'_>,
) -> Result<Ab, RunError> {
    let named = stacks.clone().map(|stack| stack.kernel);
    let before = |stack: usize| {
        let Some(kernel) = kernel else {
            return Ok(());
        };
        let found = || kernel.found();
        kernel.switch(&named[stack].clone().unwrap_or_else(found))
    };
    ab_with(device, plan, stacks, &before, rounds, watch)
}

/// As [`ab`], with a function that prepares the drive for each run of the first (0) or the second stack (1).
///
/// # Errors
/// Those of [`ab`]; [`RunError::Host`] if the function fails.
pub(crate) fn ab_with(
    device: &mut dyn Subject,
    plan: &Plan,
    stacks: [Stack; 2],
    before: &dyn Fn(usize) -> Result<(), HostError>,
    rounds: u32,
    watch: Watch<'_>,
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
            // The second stack plays the accesses of the next round.
            seed: plan
                .seed
                .wrapping_add((round + stack as u64) % seeds.max(1)),
            ..plan.clone()
        };
        before(stack)?;
        let record = run(&mut *device, &plan, None, watch)?;
        ended.set(ended.get() + 1);
        match &record.cut_short {
            Some(cut) => Err(RunError::CutShort(cut.clone())),
            None => Ok(record),
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
    Ok(Ab::of(stacks, done))
}

//! Two block layers above one drive, in turn, and what is between them.
//!
//! A drive is not the same from one minute to the next, so that two long runs one after the other compare its moods as
//! much as the stacks. Here both play in every round, and who begins changes from round to round: a drift that is slower
//! than a round falls on both alike. Over all rounds both play the same accesses, but never in the same round, where the
//! second would find what the first has left in the drive's memory. One run before the first round is not counted. What comes out
//! is the mean of the ratios of the rounds, with its 95 % interval; it says nothing of another drive or another load.

use crate::replay::{Plan, RunError, Seen, Watch, run};
use fathom_block::Subject;
pub use fathom_hostio::KernelScheduler;
use fathom_run::ab::{Ab, Stack};
use std::cell::Cell;

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

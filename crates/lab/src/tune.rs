//! `fathom tune` on this machine: what a drive reports, which of the settings can be set now, and a trial of them.
//!
//! Only attributes of the request queue can be set now. The trial is [`mod@crate::ab`]: the job with the old and the new
//! values in turn. The settings stay only if the whole interval of the difference is above zero.

use crate::ab::ab_with;
use crate::replay::{Plan, RunError, Watch};
use fathom_block::Subject;
use fathom_hostio::{DriveQueue, HostError, QueueChange, Refusal, Setting};
use fathom_report::tune::{Alone, Applied, Refused, Set, Tuning, Undo};
use fathom_run::ab::{Ab, Difference, Stack};
use std::cell::RefCell;

/// The family of settings that can be set now.
const FAMILY: &str = "queue";

/// Returns the settings that can be set now: those of the request queue that the drive has, and that have another value.
pub fn settings(found: &Tuning) -> Vec<Setting> {
    let advice = found.advice.iter();
    advice
        .filter(|advice| advice.family == FAMILY && advice.now.is_some() && !advice.is_set())
        .map(|advice| Setting {
            attribute: advice.setting.clone(),
            value: advice.value.clone(),
        })
        .collect()
}

/// Settings to try, and how.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The drive.
    pub drive: &'a DriveQueue,
    /// The settings.
    pub change: &'a QueueChange,
    /// The job and its target.
    pub plan: &'a Plan,
    /// Rounds.
    pub rounds: u32,
    /// The figure that decides, as [`fathom_run::ab::Difference`] names it.
    pub figure: &'a str,
}

/// Plays the job with the old and with the new values in turn, and keeps the new ones only where they are better. The old
/// values are restored in every other case, also if the job fails or `watch` stops it.
///
/// # Errors
/// - Those of [`crate::ab::ab`], after the old values were restored.
/// - [`RunError::Interrupted`] if `watch` stops it, also after complete rounds.
/// - [`RunError::Host`] if the old values cannot be restored; the journal stays then.
pub fn try_settings(
    device: &mut dyn Subject,
    trial: Trial<'_>,
    watch: Watch<'_>,
) -> Result<Applied, RunError> {
    let change = trial.change;
    match played(device, trial, watch) {
        Ok(mut applied) if applied.is_gain() => {
            applied.each = each(device, trial, watch).inspect_err(|_| {
                // The old values come back, and the first error is the one that is told.
                let _ = change.restore();
            })?;
            change.apply()?;
            change.keep()?;
            applied.kept = true;
            Ok(applied)
        }
        ended => {
            change.restore()?;
            ended
        }
    }
}

fn played(
    device: &mut dyn Subject,
    trial: Trial<'_>,
    watch: Watch<'_>,
) -> Result<Applied, RunError> {
    let Trial { change, plan, .. } = trial;
    let refused: RefCell<Vec<Refusal>> = RefCell::default();
    let before = |stack: usize| -> Result<(), HostError> {
        if stack == 0 {
            return change.undo();
        }
        refused.borrow_mut().extend(change.apply()?);
        Ok(())
    };
    // What is refused is known before the first round, so that nothing is played for nothing.
    before(1)?;
    let rounds = match change.changes().is_empty() {
        true => None,
        false => {
            let stacks = ["as found", "as advised"].map(stack);
            Some(ab_with(device, plan, stacks, &before, trial.rounds, watch)?)
        }
    };
    if (watch.stop)() {
        return Err(RunError::Interrupted);
    }
    let refused = refused.into_inner();
    Ok(result(&trial, rounds.as_ref(), refused))
}

/// Plays the job with each setting by itself, where there are several, to tell which of them carries the gain.
fn each(
    device: &mut dyn Subject,
    trial: Trial<'_>,
    watch: Watch<'_>,
) -> Result<Vec<Alone>, RunError> {
    let changes = trial.change.changes();
    if changes.len() < 2 {
        return Ok(Vec::new());
    }
    let mut alone = Vec::new();
    for [attribute, _, new] in changes {
        let before = |stack: usize| match stack {
            0 => trial.change.undo(),
            _ => trial.change.apply_only(&attribute),
        };
        let stacks = ["as found", "alone"].map(stack);
        let rounds = ab_with(device, trial.plan, stacks, &before, trial.rounds, watch)?;
        if (watch.stop)() {
            return Err(RunError::Interrupted);
        }
        let gain = Gain::of(&rounds.differences, trial.figure);
        alone.push(Alone {
            attribute,
            value: new,
            gain_percent: gain.percent,
            gain_interval: gain.interval,
        });
    }
    Ok(alone)
}

/// A gain in percent: more of what is better more, and less of the rest.
struct Gain {
    percent: Option<f64>,
    interval: Option<[f64; 2]>,
}

impl Gain {
    fn of(differences: &[Difference], figure: &str) -> Self {
        let difference = differences.iter().find(|one| one.what == figure);
        let sign = difference.map_or(1.0, |one| if one.more_is_better { 1.0 } else { -1.0 });
        let interval = difference.and_then(|one| one.interval);
        let ends = interval.map(|ends| ends.map(|end| end * sign));
        Self {
            percent: difference.map(|one| one.percent * sign),
            interval: ends.map(|[a, b]| [a.min(b), a.max(b)]),
        }
    }
}

fn stack(name: &str) -> Stack {
    Stack {
        name: name.to_owned(),
        queue: None,
        kernel: None,
    }
}

fn result(trial: &Trial<'_>, rounds: Option<&Ab>, refused: Vec<Refusal>) -> Applied {
    let differences = rounds.map_or(&[][..], |ab| &ab.differences);
    let difference = differences.iter().find(|one| one.what == trial.figure);
    let gain = Gain::of(differences, trial.figure);
    let path = |attribute: &str| trial.drive.path_of(attribute).display().to_string();
    let set = |[attribute, old, new]: [String; 3], follows| Set {
        path: path(&attribute),
        attribute,
        old,
        new,
        follows,
    };
    let wanted = trial.change.changes().into_iter();
    let follows = trial.change.follows().into_iter();
    let all = wanted.map(|one| set(one, false));
    let all = all.chain(follows.map(|one| set(one, true)));
    let by_hand = trial.change.by_hand().into_iter();
    let undo = by_hand.map(|[attribute, value]| Undo {
        path: path(&attribute),
        value,
    });
    Applied {
        job: trial.plan.workload.name.clone(),
        target: trial.plan.target.clone(),
        rounds: rounds.map_or(0, |ab| ab.rounds.len()),
        set: all.collect(),
        undo: undo.collect(),
        refused: refused.into_iter().map(refusal).collect(),
        figure: trial.figure.to_owned(),
        unit: difference.map_or("", |one| one.unit).to_owned(),
        means: difference.map(|one| one.means),
        gain_percent: gain.percent,
        gain_interval: gain.interval,
        each: Vec::new(),
        kept: false,
    }
}

fn refusal(refusal: Refusal) -> Refused {
    Refused {
        attribute: refusal.attribute,
        value: refusal.value,
        error: refusal.error,
        help: refusal.help.to_owned(),
    }
}

//! Probing many targets, blind, side by side.

use super::draw::{Axes, Drawn, Family, Target, draw};
use super::score::{Outcome, covers, score};
use super::truth::Truth;
use fathom_probe::run::{self, RunConfig, RunError};
use fathom_probe::{Cost, Estimate, Method, Observer, Parameter, Profile, Space, Stop, Verdict};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which drives are probed, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Where the drives are drawn from.
    pub family: Family,
    /// Of the drives and of everything random in them.
    pub seed: u64,
    /// The index of the first drive.
    pub skip: u64,
    /// How many drives.
    pub drives: u64,
    /// The methods, each on the same drives in the same state.
    pub methods: Vec<Method>,
    /// How much thinner than printed the papers' grids are; 1 is as printed.
    pub thin: u32,
    /// What is asked after.
    pub parameters: Vec<Parameter>,
}

/// One answer, beside the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The drive's index.
    pub drive: u64,
    /// How it was measured.
    pub method: Method,
    /// What was asked after.
    pub parameter: Parameter,
    /// What there is to find.
    pub truth: Truth,
    /// How the answer compares with it.
    pub outcome: Outcome,
    /// Whether the interval holds the truth, where there are both.
    pub covers: Option<bool>,
    /// The most bytes that the papers' procedure, as printed, writes on this drive.
    pub printed_bytes_max: u64,
    /// The answer.
    pub estimate: Estimate,
}

/// One drive of a campaign, whatever was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// The drive's index.
    pub drive: u64,
    /// Drives that the drive file's check refused before this one.
    pub refused: u32,
    /// What kind of drive it is.
    pub axes: Axes,
}

/// What came of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// The drives, in order.
    pub drives: Vec<About>,
    /// The answers, in the order of drives, methods and parameters.
    pub answers: Vec<Answer>,
}

/// Who watches a campaign, from several threads.
pub trait Watcher: Sync {
    /// Another drive is done, of so many.
    fn drive_done(&self, _done: u64, _of: u64) {}

    /// Asked before every transfer; `true` ends the campaign.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Probes every drive of the plan with every method. The result is the same on any number of threads. `None` when it
/// was interrupted.
pub fn run(plan: &Plan, watcher: &dyn Watcher) -> Option<Results> {
    let done = AtomicU64::new(0);
    let drives: Vec<u64> = (plan.skip..plan.skip.saturating_add(plan.drives)).collect();
    let probed: Vec<Option<(About, Vec<Answer>)>> = drives
        .into_par_iter()
        // One drive at a time: they differ too much in length for shares to be dealt out beforehand.
        .with_max_len(1)
        .map(|index| {
            let probed = probe_drive(plan, index, watcher)?;
            watcher.drive_done(done.fetch_add(1, Ordering::Relaxed) + 1, plan.drives);
            Some(probed)
        })
        .collect();
    let mut results = Results::default();
    for drive in probed {
        let (about, answers) = drive?;
        results.drives.push(about);
        results.answers.extend(answers);
    }
    Some(results)
}

fn probe_drive(plan: &Plan, index: u64, watcher: &dyn Watcher) -> Option<(About, Vec<Answer>)> {
    let drawn = draw(plan.family, plan.seed, index);
    let mut answers = Vec::new();
    for &method in &plan.methods {
        let answered = blind(&drawn, method, plan, watcher);
        if watcher.interrupted() {
            return None;
        }
        for &parameter in &plan.parameters {
            answers.push(judge(&drawn, index, method, parameter, answered.as_ref()));
        }
    }
    let about = About {
        drive: index,
        refused: drawn.refused,
        axes: drawn.target.axes(),
    };
    Some((about, answers))
}

/// Probes a fresh target, which the probe sees as a device and nothing else. An error is one of the drive
/// or the run and not of a single parameter.
fn blind(
    drawn: &Drawn,
    method: Method,
    plan: &Plan,
    watcher: &dyn Watcher,
) -> Result<Profile, String> {
    let mut drive = drawn.target.device(drawn.run_seed)?;
    let config = RunConfig {
        seed: drawn.run_seed,
        method,
        parameters: plan.parameters.clone(),
        thin: match method {
            Method::Robust => 1,
            Method::Paper => plan.thin,
        },
        ..RunConfig::default()
    };
    match run::run(&mut *drive, &config, None, &mut Watched(watcher)) {
        Ok(record) => Ok(run::solve(&record)),
        // What was answered before the drive failed counts.
        Err(RunError::Failed {
            record,
            parameter,
            stop,
        }) => Ok(with_failure(run::solve(&record), parameter, &stop)),
        Err(error) => Err(error.to_string()),
    }
}

/// Says of the parameter at which a run failed why it did.
fn with_failure(mut profile: Profile, parameter: Parameter, stop: &Stop) -> Profile {
    if let Some(estimate) = profile.parameters.get_mut(&parameter) {
        estimate.evidence.reason = format!("the run failed: {stop}");
    }
    profile
}

fn judge(
    drawn: &Drawn,
    drive: u64,
    method: Method,
    parameter: Parameter,
    answered: Result<&Profile, &String>,
) -> Answer {
    let truth = drawn
        .truth
        .get(&parameter)
        .cloned()
        .unwrap_or_else(Truth::missing);
    let unanswered = |reason: &str| Estimate {
        unit: parameter.about().unit,
        method,
        ..Estimate::without_value(Verdict::Inconclusive, reason)
    };
    let estimate = match answered {
        Ok(profile) => profile
            .parameters
            .get(&parameter)
            .cloned()
            .unwrap_or_else(|| unanswered("not answered")),
        Err(error) => unanswered(error),
    };
    Answer {
        drive,
        method,
        parameter,
        outcome: score(&truth, &estimate),
        covers: covers(&truth, &estimate),
        printed_bytes_max: printed_bytes_max(&drawn.target, parameter),
        truth,
        estimate,
    }
}

/// What the papers' procedure may write on such a target when it is not thinned.
fn printed_bytes_max(target: &Target, parameter: Parameter) -> u64 {
    let (capacity, block) = target.size();
    let space = Space {
        region: 0..capacity,
        block_bytes: block,
        thin: 1,
    };
    let paper = parameter.about().paper;
    paper.map_or(0, |probe| probe.bound(&space))
}

/// What all the answers of a drive by one method cost.
pub(super) fn cost_of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Cost {
    let mut cost = Cost::default();
    answers
        .into_iter()
        .for_each(|answer| cost += answer.estimate.cost);
    cost
}

struct Watched<'a>(&'a dyn Watcher);

impl Observer for Watched<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

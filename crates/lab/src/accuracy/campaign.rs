//! Probes many targets in parallel, without knowledge of their parameters.

use super::draw::{Axes, Drawn, Target, draw};
use super::score::{covers, score};
use super::truth::Truth;
use fathom_probe::run::{self, RunConfig, RunError};
use fathom_probe::{Cost, Estimate, Method, Observer, Parameter, Profile, Space, Stop, Verdict};
use fathom_report::accuracy::{Outcome, Plan};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// One answer with its ground truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Index of the target.
    pub drive: u64,
    /// Method of measurement.
    pub method: Method,
    /// Parameter in question.
    pub parameter: Parameter,
    /// Ground truth.
    pub truth: Truth,
    /// Comparison of the answer with the truth.
    pub outcome: Outcome,
    /// True if the interval contains the truth; `None` if either does not exist.
    pub covers: Option<bool>,
    /// Maximum number of bytes that the papers' procedure, as printed, writes on this target.
    pub printed_bytes_max: u64,
    /// The answer.
    pub estimate: Estimate,
}

/// One target of a campaign, independent of the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// Index of the target.
    pub drive: u64,
    /// Number of draws before this one that the drive file's check refused.
    pub refused: u32,
    /// Kind of the drive on each axis.
    pub axes: Axes,
}

/// Results of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// The targets, in order of their index.
    pub drives: Vec<About>,
    /// The answers, ordered by target, method and parameter.
    pub answers: Vec<Answer>,
}

/// Observer of a campaign. It is called from several threads.
pub trait Watcher: Sync {
    /// Called when a target is finished: `done` of `of` targets are complete.
    fn drive_done(&self, _done: u64, _of: u64) {}

    /// Called before every transfer; `true` ends the campaign.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Probes every target of the plan with every method. The result does not depend on the number of threads.
///
/// # Errors
/// The results of the finished targets, if it was interrupted.
pub fn run(plan: &Plan, watcher: &dyn Watcher) -> Result<Results, Results> {
    let done = AtomicU64::new(0);
    let drives: Vec<u64> = (plan.skip..plan.skip.saturating_add(plan.drives)).collect();
    let probed: Vec<Option<(About, Vec<Answer>)>> = drives
        .into_par_iter()
        // One target at a time: their run times differ too much for a static split.
        .with_max_len(1)
        .map(|index| {
            let probed = probe_drive(plan, index, watcher)?;
            watcher.drive_done(done.fetch_add(1, Ordering::Relaxed) + 1, plan.drives);
            Some(probed)
        })
        .collect();
    let mut results = Results::default();
    for (about, answers) in probed.into_iter().flatten() {
        results.drives.push(about);
        results.answers.extend(answers);
    }
    match results.drives.len() as u64 == plan.drives {
        true => Ok(results),
        false => Err(results),
    }
}

fn probe_drive(plan: &Plan, index: u64, watcher: &dyn Watcher) -> Option<(About, Vec<Answer>)> {
    let drawn = draw(plan.family, plan.seed, index);
    let mut answers = Vec::new();
    for &method in &plan.methods {
        let mut asked = plan.parameters.clone();
        asked.retain(|parameter| parameter.about().probe(method).is_some());
        if asked.is_empty() {
            continue;
        }
        let answered = blind(&drawn, method, &asked, plan, watcher);
        if watcher.interrupted() {
            return None;
        }
        for parameter in asked {
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

/// Probes a fresh target, which the probe sees through the device interface only. An error is one of the drive or of the
/// run, not of a single parameter.
fn blind(
    drawn: &Drawn,
    method: Method,
    asked: &[Parameter],
    plan: &Plan,
    watcher: &dyn Watcher,
) -> Result<Profile, String> {
    let mut drive = drawn.target.device(drawn.run_seed)?;
    let config = RunConfig {
        seed: drawn.run_seed,
        method,
        parameters: asked.to_vec(),
        thin: match method {
            Method::Robust => 1,
            _ => plan.thin,
        },
        ..RunConfig::default()
    };
    match run::run(&mut *drive, &config, None, &mut Watched(watcher)) {
        Ok(record) => Ok(run::solve(&record)),
        // Answers given before the drive failed count.
        Err(RunError::Failed {
            record,
            parameter,
            stop,
        }) => Ok(with_failure(run::solve(&record), parameter, &stop)),
        Err(error) => Err(error.to_string()),
    }
}

/// Puts the reason of a failed run into the answer of the parameter at which it failed.
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
    let truth = drawn.target.truth(parameter);
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

/// Returns the maximum number of bytes that the papers' procedure writes on such a target when its grid is not thinned.
fn printed_bytes_max(target: &Target, parameter: Parameter) -> u64 {
    let (capacity, block) = target.size();
    let space = Space {
        region: 0..capacity,
        block_bytes: block,
        thin: 1,
        level: fathom_probe::Level::Full,
    };
    let paper = parameter.about().probe(Method::Paper);
    paper.map_or(0, |probe| probe.bound(&space))
}

/// Returns the total cost of several answers.
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

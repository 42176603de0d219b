//! A campaign of twins: random drives are probed, twins are made of their records, and the twins are compared with the
//! drives by a second probe and by workloads that no probe uses.

use super::make::twin;
use super::watch::Watcher;
use super::work;
use crate::accuracy::{Target, draw};
use fathom_model::Model;
use fathom_probe::run::{self, RunConfig};
use fathom_probe::{Level, Observer, Parameter, Profile, Record};
use fathom_report::diff::{Outcome, diff};
use fathom_report::twin::{Campaign, Compared, error_percent};
use fathom_ssd::Spec;
use rayon::prelude::*;

/// Makes and compares twins of the drives of a plan. Drives that were not finished before an interruption are missing.
pub fn compare(plan: &Campaign, watcher: &dyn Watcher) -> Vec<Compared> {
    let drives: Vec<u64> = (plan.skip..plan.skip.saturating_add(plan.drives)).collect();
    let compared: Vec<Option<Compared>> = drives
        .into_par_iter()
        .with_max_len(1)
        .map(|drive| {
            if watcher.interrupted() {
                return None;
            }
            let compared = one(plan, drive, watcher);
            watcher.drive_done();
            (!watcher.interrupted()).then_some(compared)
        })
        .collect();
    compared.into_iter().flatten().collect()
}

fn one(plan: &Campaign, number: u64, watcher: &dyn Watcher) -> Compared {
    let drawn = draw(plan.family, plan.seed, number);
    let result = match &drawn.target {
        Target::Drive(spec) => judged(plan, spec, drawn.run_seed, watcher),
        Target::Noise(_) => Err("noise has no twin".to_owned()),
    };
    let mut compared = result.unwrap_or_else(|failed| Compared {
        failed: Some(failed),
        ..Compared::default()
    });
    compared.drive = number;
    compared
}

fn judged(
    plan: &Campaign,
    spec: &Spec,
    seed: u64,
    watcher: &dyn Watcher,
) -> Result<Compared, String> {
    let (record, profile) = probed(spec, seed, plan.level, watcher)?;
    let made = twin(&record, &profile, watcher).map_err(|error| error.to_string())?;
    let mut compared = Compared {
        figures_percent: error_percent(&made.figures),
        played: work::play(spec, &made.spec, seed)?,
        file: made.spec.to_toml(),
        ..Compared::default()
    };
    if plan.again {
        let (_, again) = probed(&made.spec, seed, plan.level, watcher)?;
        let diff = diff(&profile, &again);
        let of = |outcome| {
            let all = diff
                .parameters
                .iter()
                .filter(move |one| one.outcome == outcome);
            all.map(|one| one.parameter.name().to_owned())
        };
        compared.agree = diff.count(Outcome::Agrees) as u64;
        compared.open = diff.count(Outcome::CannotTell) as u64;
        compared.differ = of(Outcome::Differs).collect();
    }
    Ok(compared)
}

/// Probes a drive with every parameter that fits it. The record does not hold the drive file.
fn probed(
    spec: &Spec,
    seed: u64,
    level: Level,
    watcher: &dyn Watcher,
) -> Result<(Record, Profile), String> {
    let model = Model::Ssd(Box::new(spec.clone()));
    let mut drive = model.build(seed).map_err(|error| error.to_string())?;
    let config = RunConfig {
        seed,
        level,
        fitting: true,
        parameters: Parameter::ALL.to_vec(),
        ..RunConfig::default()
    };
    let record = run::run(&mut drive, &config, None, &mut Watched(watcher));
    let record = record.map_err(|error| error.to_string())?;
    let profile = run::solve(&record);
    Ok((record, profile))
}

struct Watched<'a>(&'a dyn Watcher);

impl Observer for Watched<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

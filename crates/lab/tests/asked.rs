//! Asks a modelled drive for one parameter, as `fathom probe` does.

use fathom_model::{Model, find};
use fathom_probe::run::{run, solve};
use fathom_probe::{Estimate, Level, Parameter, RunConfig, Unobserved};
use fathom_ssd::Spec;
use std::collections::BTreeMap;

/// Returns a preset.
pub(crate) fn preset(name: &str) -> Spec {
    let Model::Ssd(spec) = Model::from_toml(find(name).unwrap().text).unwrap() else {
        panic!("{name} is a drive of flash");
    };
    *spec
}

/// Returns the answer of a full run.
pub(crate) fn answer(spec: &Spec, parameter: Parameter, seed: u64) -> Estimate {
    of_level(Level::Full, spec, parameter, seed)
}

/// Returns the answer of a quick run.
pub(crate) fn quick_answer(spec: &Spec, parameter: Parameter, seed: u64) -> Estimate {
    of_level(Level::Quick, spec, parameter, seed)
}

fn of_level(level: Level, spec: &Spec, parameter: Parameter, seed: u64) -> Estimate {
    let mut all = of_all(level, spec, &[parameter], seed);
    all.remove(&parameter).unwrap()
}

/// Returns the answers of one run at a level to several parameters.
pub(crate) fn of_all(
    level: Level,
    spec: &Spec,
    parameters: &[Parameter],
    seed: u64,
) -> BTreeMap<Parameter, Estimate> {
    let config = RunConfig {
        seed,
        parameters: parameters.to_vec(),
        level,
        ..RunConfig::default()
    };
    // A limit is a layer in front of the drive, which the model builds.
    let mut drive = Model::Ssd(Box::new(spec.clone())).build(seed).unwrap();
    let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
    solve(&record).parameters
}

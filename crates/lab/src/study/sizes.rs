//! Sizes of the drives that a study's splitters and schedulers need, from a profile or from probing the drive.

use super::Sizes;
use crate::store::{self, Loaded};
use fathom_model::Model;
use fathom_probe::run::{self, RunConfig};
use fathom_probe::session::{Observer, Progress};
use fathom_probe::{Parameter, Profile};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The parameters of a profile that a block layer uses.
const ASKED: [Parameter; 4] = [
    Parameter::ClusteredPage,
    Parameter::LogicalBlock,
    Parameter::ReadBuffer,
    Parameter::WriteBuffer,
];

/// What runs of a study need to know about their drive.
pub(super) struct Wanted<'a> {
    pub(super) sizes: &'a Sizes,
    pub(super) model: Model,
    pub(super) parameters: BTreeSet<Parameter>,
}

/// Profiles of the drives of a study, or why there is none.
#[derive(Default)]
pub(super) struct Profiles {
    known: BTreeMap<String, Result<Loaded<Profile>, String>>,
}

struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _progress: &Progress<'_>) {}

    fn interrupted(&self) -> bool {
        false
    }
}

impl Profiles {
    /// Measures or reads the profile of each drive once.
    pub(super) fn new(wanted: Vec<Wanted<'_>>) -> Self {
        let mut drives: BTreeMap<String, Wanted<'_>> = BTreeMap::new();
        for wanted in wanted {
            let mut more = wanted.parameters.clone();
            let drive = drives.entry(key(wanted.sizes, &wanted.model));
            drive.or_insert(wanted).parameters.append(&mut more);
        }
        let known = drives.into_par_iter();
        let known = known.map(|(key, wanted)| (key, wanted.profile()));
        Self {
            known: known.collect(),
        }
    }

    /// Returns the profile of a drive, or a message if there is none.
    pub(super) fn of(&self, sizes: &Sizes, model: &Model) -> Result<&Loaded<Profile>, String> {
        match self.known.get(&key(sizes, model)) {
            Some(profile) => profile.as_ref().map_err(Clone::clone),
            None => Err("its drive was not probed".to_owned()),
        }
    }
}

fn key(sizes: &Sizes, model: &Model) -> String {
    match sizes {
        Sizes::Probe => model.to_toml(),
        Sizes::Profile(path) => path.display().to_string(),
    }
}

impl Wanted<'_> {
    fn profile(self) -> Result<Loaded<Profile>, String> {
        match self.sizes {
            Sizes::Probe => Ok(Loaded {
                value: probed(&self.model, &self.parameters)?,
                notes: Vec::new(),
            }),
            Sizes::Profile(path) => store::load_profile(path).map_err(|e| e.to_string()),
        }
    }
}

/// Probes a fresh drive, which the probes see through the device interface only, for `wanted` and the parameters before it,
/// whose answers it may use.
fn probed(model: &Model, wanted: &BTreeSet<Parameter>) -> Result<Profile, String> {
    let mut drive = model.build(0).map_err(|e| e.to_string())?;
    let last = wanted.last();
    let parameters = ASKED.into_iter().filter(|of| Some(of) <= last);
    let config = RunConfig {
        parameters: parameters.collect(),
        ..RunConfig::default()
    };
    let record = run::run(&mut drive, &config, None, &mut Quiet).map_err(|e| e.to_string())?;
    Ok(run::solve(&record))
}

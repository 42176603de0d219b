//! Sizes of the drives that a study's splitters and schedulers need, from a profile or from probing the drive.

use super::Sizes;
use crate::store::{self, Loaded};
use fathom_model::Model;
use fathom_probe::run::{self, RunConfig};
use fathom_probe::session::{Observer, Progress};
use fathom_probe::{Parameter, Profile};
use std::collections::BTreeMap;

/// The parameters of a profile that a block layer uses.
const ASKED: [Parameter; 4] = [
    Parameter::ClusteredPage,
    Parameter::LogicalBlock,
    Parameter::ReadBuffer,
    Parameter::WriteBuffer,
];

/// Profiles of the drives of a study, each measured or read once.
#[derive(Default)]
pub(super) struct Profiles {
    known: BTreeMap<String, Loaded<Profile>>,
}

struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _progress: &Progress<'_>) {}

    fn interrupted(&self) -> bool {
        false
    }
}

impl Profiles {
    /// Returns the profile of a drive, or a message if there is none.
    pub(super) fn of(&mut self, sizes: &Sizes, model: &Model) -> Result<&Loaded<Profile>, String> {
        let key = match sizes {
            Sizes::Probe => model.to_toml(),
            Sizes::Profile(path) => path.display().to_string(),
        };
        if !self.known.contains_key(&key) {
            let profile = match sizes {
                Sizes::Probe => Loaded {
                    value: probed(model)?,
                    notes: Vec::new(),
                },
                Sizes::Profile(path) => store::load_profile(path).map_err(|e| e.to_string())?,
            };
            self.known.insert(key.clone(), profile);
        }
        self.known
            .get(&key)
            .ok_or_else(|| "its profile is gone".to_owned())
    }
}

/// Probes a fresh drive, which the probes see through the device interface only.
fn probed(model: &Model) -> Result<Profile, String> {
    let mut drive = model.build(0).map_err(|e| e.to_string())?;
    let config = RunConfig {
        parameters: ASKED.to_vec(),
        ..RunConfig::default()
    };
    let record = run::run(&mut drive, &config, None, &mut Quiet).map_err(|e| e.to_string())?;
    Ok(run::solve(&record))
}

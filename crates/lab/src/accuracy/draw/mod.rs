//! Draws the target of a run from a family, a seed and an index.

mod axes;
mod modern;
mod narrow;
mod units;
mod wide;

use super::noise::NoiseTarget;
use super::truth::Truth;
use fathom_base::Rng;
use fathom_block::Device;
use fathom_model::Model;
use fathom_probe::Parameter;
use fathom_report::accuracy::Family;
use fathom_ssd::Spec;

pub use axes::Axes;

/// Maximum number of redraws. A few in a hundred drives take one.
const REDRAWS_MAX: u32 = 100;

/// The device under probe.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A modelled drive.
    Drive(Box<Spec>),
    /// Latencies without a drive behind them.
    Noise(NoiseTarget),
}

/// A target of a campaign, with its ground truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The device under probe.
    pub target: Target,
    /// Number of draws before this one that the drive file's check refused.
    pub refused: u32,
    /// Seed of the target's noise and of the probe's choices. It has 63 bits, which is what a profile can hold.
    pub run_seed: u64,
}

/// Draws target `index` of the campaign with this family and seed.
pub fn draw(family: Family, seed: u64, index: u64) -> Drawn {
    let mut rng = Rng::new(seed, index);
    let run_seed = rng.next_u64() >> 1;
    let name = format!("drive {index} of seed {seed}");
    let (target, refused) = match family {
        Family::Narrow => (Target::of(narrow::spec(&mut rng, name)), 0),
        Family::Wide => {
            let (spec, refused) = valid(&mut rng, &name, wide::any);
            (Target::of(spec), refused)
        }
        Family::Modern => {
            let (spec, refused) = valid(&mut rng, &name, modern::any);
            (Target::of(spec), refused)
        }
        Family::Noise => {
            let name = format!("noise {index} of seed {seed}");
            let noise = NoiseTarget::draw(&mut rng, name, index);
            (Target::Noise(noise), 0)
        }
    };
    Drawn {
        target,
        refused,
        run_seed,
    }
}

/// Draws until the drive file's check accepts a drive. Also returns the number of refused draws before it.
fn valid(rng: &mut Rng, name: &str, any: fn(&mut Rng, String) -> Spec) -> (Spec, u32) {
    let mut refused = 0;
    loop {
        let spec = any(rng, name.to_owned());
        if spec.check().is_ok() || refused == REDRAWS_MAX {
            return (spec, refused);
        }
        refused += 1;
    }
}

impl Target {
    fn of(spec: Spec) -> Target {
        Target::Drive(Box::new(spec))
    }

    /// Returns the drive, or `None` for a target of noise.
    pub fn spec(&self) -> Option<&Spec> {
        match self {
            Target::Drive(spec) => Some(spec),
            Target::Noise(_) => None,
        }
    }

    /// Returns the position of the target on each axis of its family.
    pub fn axes(&self) -> Axes {
        match self {
            Target::Drive(spec) => axes::of(spec),
            Target::Noise(noise) => Axes::from([("noise", noise.disturbance.name().to_owned())]),
        }
    }

    /// Returns the ground truth of a parameter. The queue's knee and the like simulate a queueing network.
    pub fn truth(&self, parameter: Parameter) -> Truth {
        match self {
            Target::Drive(spec) => Truth::of(spec, parameter),
            Target::Noise(_) => Truth::missing(),
        }
    }

    /// Returns the capacity and the logical block, both in bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        match self {
            Target::Drive(spec) => (spec.capacity.0, spec.host.logical_block.0),
            Target::Noise(noise) => (noise.capacity_bytes, noise.logical_block_bytes.into()),
        }
    }

    /// Builds the device in its initial state.
    ///
    /// # Errors
    /// A message that says why the device cannot be built.
    pub(super) fn device(&self, seed: u64) -> Result<Box<dyn Device>, String> {
        match self {
            Target::Drive(spec) => match Model::Ssd(spec.clone()).build(seed) {
                Ok(drive) => Ok(Box::new(drive)),
                Err(error) => Err(error.to_string()),
            },
            Target::Noise(noise) => noise.device(seed).map_err(|error| error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;

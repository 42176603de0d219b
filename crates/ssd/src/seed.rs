//! The random generators of a drive, one for each part that draws.
//!
//! A part draws if and only if it has a generator, and the seed goes nowhere else. A drive without any generator is therefore
//! the same drive for every seed.

use crate::spec::{Spec, Victim};
use fathom_base::{Dur, Rng};

/// The generators of a drive; `None` for a part that never draws with the settings of the drive.
#[derive(Debug)]
pub(crate) struct Rngs {
    /// Times of commands.
    pub(crate) commands: Option<Rng>,
    /// Times of flash operations, and repeated reads.
    pub(crate) flash: Option<Rng>,
    /// Background work.
    pub(crate) background: Option<Rng>,
    /// Blocks that are bad from the start.
    pub(crate) bad_blocks: Option<Rng>,
    /// Failures of programs and erases.
    pub(crate) failures: Option<Rng>,
    /// Victims of garbage collection.
    pub(crate) victims: Option<Rng>,
}

impl Rngs {
    pub(crate) fn new(spec: &Spec, seed: u64) -> Self {
        let (noise, faults) = (&spec.noise, &spec.faults);
        let drawn = spec.mapping.kind.is_paged() && spec.gc.victim == Victim::DChoices;
        let stream = |draws: bool, stream| draws.then(|| Rng::new(seed, stream));
        Self {
            commands: stream(noise.command_percent > 0.0, 1),
            flash: stream(noise.flash_percent > 0.0 || faults.repeat_reads(), 2),
            background: stream(noise.background_interval > Dur::ZERO, 3),
            bad_blocks: stream(faults.factory_bad_percent > 0.0, 5),
            failures: stream(faults.fail(), 6),
            victims: stream(drawn, 7),
        }
    }

    /// Returns true if no part draws.
    fn are_none(&self) -> bool {
        // Every field is named, so that a new generator cannot be left out.
        let Self {
            commands,
            flash,
            background,
            bad_blocks,
            failures,
            victims,
        } = self;
        let all = [commands, flash, background, bad_blocks, failures, victims];
        all.into_iter().all(Option::is_none)
    }
}

impl Spec {
    /// Returns true if drives of different seeds may differ. Otherwise they are equal in everything, and so are forks of them
    /// that have had the same requests.
    pub fn depends_on_seed(&self) -> bool {
        !Rngs::new(self, 0).are_none()
    }
}

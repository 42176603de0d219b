//! The kind `disksim`: the simulated drive of the `epo` paper.

use super::{Kind, Modelled};
use fathom_base::Named;
use fathom_base::{BadValue, Bytes, SpecError};
use fathom_disksim::presets::PRESETS;
use fathom_disksim::{MsSsd, Spec};

impl Kind for Spec {
    const NAME: &'static str = "disksim";
    const SUMMARY: &'static str = "DiskSim's solid state drive";
    const PRESETS: &'static [&'static [Named]] = &[PRESETS];
    type Drive = MsSsd;

    fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
        let capacity = self.capacity();
        let allowed = format!("{capacity}, which follows from its elements; change those");
        Err(BadValue::new("capacity", size, allowed).into())
    }

    /// The drive has a seed of its own in its file, and never gets another one.
    fn depends_on_seed(&self) -> bool {
        false
    }

    fn build(&self, _seed: u64) -> Result<MsSsd, SpecError> {
        MsSsd::new(self)
    }
}

impl Modelled for MsSsd {}

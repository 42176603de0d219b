//! The kind `hdd`: a hard disk.

use super::{Kind, Modelled};
use fathom_base::Named;
use fathom_base::{Bytes, SpecError};
use fathom_hdd::presets::PRESETS;
use fathom_hdd::{Hdd, Spec};

impl Kind for Spec {
    const NAME: &'static str = "hdd";
    const SUMMARY: &'static str = "a disk";
    const PRESETS: &'static [&'static [Named]] = &[PRESETS];
    type Drive = Hdd;

    fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
        self.capacity = size;
        Ok(self.check()?)
    }

    /// The angle of the disk at the start is always drawn.
    fn depends_on_seed(&self) -> bool {
        true
    }

    fn build(&self, seed: u64) -> Result<Hdd, SpecError> {
        Hdd::new(self, seed)
    }
}

impl Modelled for Hdd {
    fn keep_data(self) -> Self {
        Hdd::keep_data(self)
    }
}

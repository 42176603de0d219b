//! The kind `ssd`: a solid state drive in the general engine, below the limits of its drive file.

use super::{Kind, Modelled};
use fathom_base::Named;
use fathom_base::{Bytes, SpecError};
use fathom_block::{Limited, Wear};
use fathom_ssd::presets::{CLASSES, PRESETS, STUDIED};
use fathom_ssd::{Spec, Ssd};

impl Kind for Spec {
    const NAME: &'static str = "ssd";
    const SUMMARY: &'static str = "a solid state drive";
    const PRESETS: &'static [&'static [Named]] = &[PRESETS, CLASSES, STUDIED];
    const STARTS_EMPTY: bool = true;
    type Drive = Limited<Ssd>;

    fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
        self.capacity = size;
        Ok(self.check()?)
    }

    fn write_buffer(&self) -> Option<Bytes> {
        self.write_buffer.as_ref().map(|buffer| buffer.capacity)
    }

    fn depends_on_seed(&self) -> bool {
        Spec::depends_on_seed(self)
    }

    fn build(&self, seed: u64) -> Result<Self::Drive, SpecError> {
        Ok(Limited::new(Ssd::new(self, seed)?, self.limit.as_ref()))
    }
}

impl Modelled for Limited<Ssd> {
    fn keep_data(self) -> Self {
        self.map(Ssd::keep_data)
    }

    fn wear(&self) -> Option<Wear> {
        let drive = self.inner();
        let counts = drive.erase_counts();
        // The counts of a drive that has erased nothing are all 0, in memory that was never touched.
        match drive.counters().erases {
            0 => Wear::of(&counts[..counts.len().min(1)]),
            _ => Wear::of(counts),
        }
    }
}

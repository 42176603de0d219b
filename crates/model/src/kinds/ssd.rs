//! The kind `ssd`: a solid state drive in the general engine.

use super::{Kind, Modelled};
use fathom_base::Named;
use fathom_base::{Bytes, SpecError};
use fathom_block::Wear;
use fathom_ssd::presets::{PRESETS, STUDIED};
use fathom_ssd::{Spec, Ssd};

impl Kind for Spec {
    const NAME: &'static str = "ssd";
    const SUMMARY: &'static str = "a solid state drive";
    const PRESETS: &'static [&'static [Named]] = &[PRESETS, STUDIED];
    const STARTS_EMPTY: bool = true;
    type Drive = Ssd;

    fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
        self.capacity = size;
        Ok(self.check()?)
    }

    fn write_buffer(&self) -> Option<Bytes> {
        self.write_buffer.as_ref().map(|buffer| buffer.capacity)
    }

    fn build(&self, seed: u64) -> Result<Ssd, SpecError> {
        Ssd::new(self, seed)
    }
}

impl Modelled for Ssd {
    fn keep_data(self) -> Self {
        Ssd::keep_data(self)
    }

    fn wear(&self) -> Option<Wear> {
        Wear::of(self.erase_counts())
    }
}

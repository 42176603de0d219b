//! Reads and writes of a full drive in closed loops.

use super::Bench;
use super::loops::Load;
use super::rig::{Ask, Rig};
use crate::twin::figures::{Loaded, Samples, loaded_figures};
use fathom_base::{Bytes, SpecError};
use fathom_block::Op;
use fathom_model::Model;
use fathom_run::{Precondition, prepare};
use fathom_ssd::Spec;

/// One request of so many is a write, and the part of the drive that is used, in bytes (parameter `fast_cache`).
const WRITE_EVERY: u64 = 4;
const AREA: u64 = 1 << 30;
/// A larger candidate is measured as one of this size, in bytes: the loops write a hundredth of it, and so meet no collection on
/// either.
const LARGE: u64 = 16 << 30;

impl Bench {
    /// Measures reads and writes together on a full candidate.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(in crate::twin) fn load(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let mut samples = Samples::new();
        if self.loads.is_empty() {
            return Ok(samples);
        }
        let spec = Spec {
            limit: None,
            ..smaller(spec)
        };
        let mut drive = Model::Ssd(Box::new(spec)).build(self.seed)?;
        if prepare(&mut drive, Precondition::Filled, self.seed).is_err() {
            return Ok(samples);
        }
        let mut rig = self.rig(drive, AREA);
        for one in &self.loads {
            let asks = asks(&mut rig, one);
            let served = rig.serve(&asks, one.depth as usize).into_iter();
            let loaded = served.map(|served| Loaded {
                reads: served.ask.is_read(),
                bytes: served.ask.bytes(),
                from: served.began(),
                took: served.took(),
            });
            loaded_figures(one.depth, loaded.collect(), &mut samples);
        }
        Ok(samples)
    }
}

/// Returns a drive of the same parts that is not larger than [`LARGE`], if there is one.
fn smaller(spec: &Spec) -> Spec {
    let mut small = spec.clone();
    let block = spec.flash.clustered_block.0.max(1);
    small.capacity = Bytes((LARGE / block * block).min(spec.capacity.0));
    match small.check() {
        Ok(()) => small,
        Err(_) => spec.clone(),
    }
}

fn asks(rig: &mut Rig, one: &Load) -> Vec<Ask> {
    let ask = |_| {
        let writes = rig.below(WRITE_EVERY) == 0;
        let (op, len) = if writes {
            (Op::Write, one.write)
        } else {
            (Op::Read, one.read)
        };
        let at = rig.any(len);
        Ask::new(op, at, len)
    };
    (0..one.count).map(ask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_candidate_is_not_filled_whole() {
        let mut spec = Spec::from_toml(fathom_model::find("nvme").unwrap().text).unwrap();
        spec.capacity = Bytes::gib(960);
        spec.check().unwrap();
        let small = smaller(&spec);
        assert_eq!(small.capacity, Bytes::gib(16));
        spec.capacity = Bytes::gib(8);
        assert_eq!(smaller(&spec).capacity, Bytes::gib(8));
    }
}

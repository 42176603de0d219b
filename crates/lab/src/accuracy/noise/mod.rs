//! Targets without a drive behind them: whatever is identified there is made up.
//!
//! A null device that takes as long as a smooth model of length and kind says, disturbed. The model and the first kind of
//! disturbance come from a recording of a real disk under load (`crates/lab/data/busy-disk.parquet`, made by
//! `crates/lab/examples/record_noise.rs`): its latencies over the model's are played as they were, in stretches from a
//! random place on, so that bursts and what follows from them stay. The other kinds are synthetic.
//!
//! Requests in flight do not wait for one another, and no request leaves anything behind: there is no unit, no block,
//! no buffer and no reading ahead.

mod disturbance;
mod model;
mod recording;

pub use disturbance::Disturbance;
pub use recording::{Recorded, Recording, RecordingError};

use disturbance::{Disturbed, shape};
use fathom_base::{Dur, Rng};
use fathom_block::{Device, DeviceInfo, Noisy, NullDevice};
use model::Parts;
use serde::Serialize;
use std::sync::{Arc, OnceLock};

static BUSY_DISK: &[u8] = include_bytes!("../../../data/busy-disk.parquet");

/// The longest read or write of a noise target, in bytes.
const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// A target of noise alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoiseTarget {
    /// A name for people.
    pub name: String,
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// The unit of address, in bytes.
    pub logical_block_bytes: u32,
    /// Requests that may be in flight.
    pub queue_depth: u32,
    /// What disturbs it.
    pub disturbance: Disturbance,
}

impl NoiseTarget {
    /// Target `index`; every other one plays the recording.
    pub(super) fn draw(rng: &mut Rng, name: String, index: u64) -> NoiseTarget {
        let (capacity_bytes, logical_block_bytes, queue_depth) = shape(rng);
        NoiseTarget {
            name,
            capacity_bytes,
            logical_block_bytes,
            queue_depth,
            disturbance: Disturbance::draw(rng, index),
        }
    }

    /// The device.
    ///
    /// # Errors
    /// [`RecordingError`] where the recording cannot be read.
    pub(super) fn device(&self, seed: u64) -> Result<Box<dyn Device>, RecordingError> {
        let null = NullDevice::new(self.info(), Dur::ZERO);
        let source = Disturbed::new(&parts()?, self.disturbance, seed);
        Ok(Box::new(Noisy::new(null, source)))
    }

    /// What it tells about itself: what the recorded disk does, which has a cache as far as it says.
    pub(super) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: self.name.clone(),
            capacity_bytes: self.capacity_bytes,
            logical_block_bytes: self.logical_block_bytes,
            max_request_bytes: MAX_REQUEST_BYTES,
            queue_depth: self.queue_depth,
            volatile_cache: true,
            trim: true,
            ..DeviceInfo::default()
        }
    }
}

/// The recording, taken apart once.
fn parts() -> Result<Arc<Parts>, RecordingError> {
    static PARTS: OnceLock<Result<Arc<Parts>, RecordingError>> = OnceLock::new();
    let parts = PARTS.get_or_init(|| {
        let recording = Recording::from_parquet(BUSY_DISK)?;
        Ok(Arc::new(Parts::of(&recording)?))
    });
    parts.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_block::Op;

    #[test]
    fn the_recording_is_of_a_busy_disk() {
        let recording = Recording::from_parquet(BUSY_DISK).unwrap();
        assert!(recording.recorded.contains("virtual disk"));
        assert!(recording.requests.len() >= 50_000);
        let parts = parts().unwrap();
        let of = |op| -> Vec<f64> {
            let rest = parts.rest.iter().filter(|(kind, _)| *kind == op);
            rest.map(|(_, value)| *value).collect()
        };
        for op in [Op::Read, Op::Write, Op::Flush] {
            let mut rest = of(op);
            // The next latency of this kind goes with this one: bursts.
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            let product = |lag: usize| -> f64 {
                let pairs = rest.iter().zip(&rest[lag..]);
                pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
            };
            assert!(product(1) > 0.2 * product(0), "{op}");
            // Those of reads and writes last long; a flush waits for little.
            let long = op == Op::Flush || product(100) > 0.1 * product(0);
            assert!(long, "{op}");
            // One in a hundred takes at least five times as long as the model says.
            rest.sort_unstable_by(f64::total_cmp);
            assert!(rest[rest.len() * 99 / 100] > 5f64.ln(), "{op}");
            assert!(rest[rest.len() / 2].abs() < 0.5, "{op}");
        }
    }

    #[test]
    fn a_target_is_fixed_by_its_seed() {
        let draw = |index| NoiseTarget::draw(&mut Rng::new(1, index), "noise".into(), index);
        assert_eq!(draw(4), draw(4));
        assert_ne!(draw(4), draw(6));
    }
}

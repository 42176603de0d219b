//! Targets without a drive behind them: every parameter that is identified there is a false positive.
//!
//! The target is a null device. The latency of a request is a smooth function of its length and operation, multiplied by
//! noise. The function and the first kind of noise come from a recording of a real disk under load
//! (`crates/lab/data/busy-disk.parquet`, made by `crates/lab/examples/record_noise.rs`). The ratios of its latencies to the
//! function are played back unchanged, in stretches that start at random places, so that bursts and their after-effects are
//! kept. The other kinds of noise are synthetic.
//!
//! Requests in flight do not delay one another, and a request has no effect on later ones: there is no mapping unit, no
//! block, no buffer and no read-ahead.

mod disturbance;
mod model;
mod recording;

pub use disturbance::Disturbance;
pub use recording::{Recorded, Recording, RecordingError};

use disturbance::{Disturbed, shape};
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::{Device, DeviceInfo, Noisy, NullDevice};
use model::Parts;
use serde::Serialize;
use std::fmt;
use std::sync::{Arc, OnceLock};

static BUSY_DISK: &[u8] = include_bytes!("../../../data/busy-disk.parquet");

/// Maximum length of a read or write of a noise target, in bytes.
const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// A target that consists of noise alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoiseTarget {
    /// Name shown to people.
    pub name: String,
    /// Capacity in bytes.
    pub capacity_bytes: u64,
    /// Logical block in bytes.
    pub logical_block_bytes: u32,
    /// Maximum number of requests in flight.
    pub queue_depth: u32,
    /// The noise on its latencies.
    pub disturbance: Disturbance,
}

/// Says what it is in one sentence without its full stop.
impl fmt::Display for NoiseTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a null device of {} with logical blocks of {} and {} in flight at most, whose latencies are {}",
            Bytes(self.capacity_bytes),
            Bytes(u64::from(self.logical_block_bytes)),
            self.queue_depth,
            self.disturbance
        )
    }
}

impl NoiseTarget {
    /// Draws target `index`. Every other target plays the recording.
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

    /// Builds the device.
    ///
    /// # Errors
    /// [`RecordingError`] if the recording cannot be read.
    pub(super) fn device(&self, seed: u64) -> Result<Box<dyn Device>, RecordingError> {
        let null = NullDevice::new(self.info(), Dur::ZERO);
        let source = Disturbed::new(&parts()?, self.disturbance, seed);
        Ok(Box::new(Noisy::new(null, source)))
    }

    /// Returns the device information. Like the recorded disk, the target reports a volatile write cache.
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

/// Returns the decomposed recording. It is decomposed once per process.
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
    fn a_target_is_described_in_words() {
        let noise = NoiseTarget {
            name: "noise".into(),
            capacity_bytes: 8 << 30,
            logical_block_bytes: 512,
            queue_depth: 32,
            disturbance: Disturbance::Stalls {
                every_ns: 2_000_000_000,
                for_ns: 30_000_000,
            },
        };
        let words = noise.to_string();
        for part in ["8GiB", "512B", "32 in flight", "every 2s", "for 30ms"] {
            assert!(words.contains(part), "{words}");
        }
        let jitter = Disturbance::Jitter { sigma: 0.25 }.to_string();
        assert!(jitter.contains("0.25") && !jitter.contains('{'), "{jitter}");
    }

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
            // Successive latencies of the same operation are correlated: there are bursts.
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            let product = |lag: usize| -> f64 {
                let pairs = rest.iter().zip(&rest[lag..]);
                pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
            };
            assert!(product(1) > 0.2 * product(0), "{op}");
            // Bursts of reads and writes last long; a flush waits for little.
            let long = op == Op::Flush || product(100) > 0.1 * product(0);
            assert!(long, "{op}");
            // One request in a hundred takes at least five times as long as the model says.
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

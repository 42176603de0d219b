//! Devices without a drive model: one that forgets everything, one that keeps bytes in memory, and one that keeps them in
//! zones.
//!
//! All have a modelled clock, one fixed latency and a bounded queue. They serve to test layers, and to measure the cost
//! of everything above a drive. Neither models parallelism, a cache or wear; `fathom-ssd` does.

mod fixed;
pub mod null;
mod pages;
pub mod ram;
pub mod zoned_ram;
mod zones;

pub use fixed::{Fixed, Serve, Served};
pub use null::NullDevice;
pub use pages::Pages;
pub use ram::RamDevice;
pub use zoned_ram::ZonedRam;
pub use zones::Zones;

use crate::DeviceInfo;

/// Returns the default properties of a modelled device of `capacity_bytes`: logical blocks of 512 bytes, requests of up
/// to 1 MiB, queue depth 32, TRIM, no volatile cache.
pub fn modelled_info(name: &str, capacity_bytes: u64) -> DeviceInfo {
    DeviceInfo {
        name: name.to_owned(),
        capacity_bytes,
        queue_depth: 32,
        trim: true,
        rotational: Some(false),
        ..DeviceInfo::default()
    }
}

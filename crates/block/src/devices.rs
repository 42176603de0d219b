//! Devices without a drive model: one that forgets everything and one that keeps bytes in memory.
//!
//! Both have a modelled clock, one fixed latency and a bounded queue. They serve to test layers, and to measure the cost
//! of everything above a drive. Neither models parallelism, a cache or wear; `fathom-ssd` does.

mod clock;
pub mod null;
pub mod ram;

pub use null::NullDevice;
pub use ram::RamDevice;

use crate::DeviceInfo;

/// Returns the default properties of a modelled device of `capacity_bytes`: logical blocks of 512 bytes, requests of up
/// to 1 MiB, queue depth 32, TRIM, no volatile cache.
pub fn modelled_info(name: &str, capacity_bytes: u64) -> DeviceInfo {
    DeviceInfo {
        name: name.to_owned(),
        capacity_bytes,
        logical_block_bytes: 512,
        max_request_bytes: 1 << 20,
        queue_depth: 32,
        volatile_cache: false,
        trim: true,
        read_only: false,
        modelled: true,
        rotational: Some(false),
    }
}

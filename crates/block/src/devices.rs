//! Devices without a drive model: one that forgets everything and one that keeps bytes in memory.
//!
//! Both have a modelled clock, one fixed latency and a bounded queue. They are what a layer is tested over and what
//! shows the cost of everything above a drive. Neither has parallelism, a cache or wear: that is `fathom-ssd`.

mod clock;
pub mod null;
pub mod ram;

pub use null::NullDevice;
pub use ram::RamDevice;

use crate::DeviceInfo;

/// What a modelled device of `capacity_bytes` tells about itself unless somebody wants it otherwise: logical blocks of
/// 512 bytes, requests of up to 1 MiB, 32 of them in flight, TRIM, no volatile cache.
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

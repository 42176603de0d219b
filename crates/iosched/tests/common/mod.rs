//! Schedulers with the sizes of a drive, for tests.

#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests")]

pub(crate) mod queue;

use fathom_base::registry;
use fathom_block::DeviceInfo;
use fathom_iosched::{Config, SCHEDULERS, SPLITS, Split};

/// Returns a scheduler by name, with the sizes of its example if it needs any: a drive with clustered pages of 16 KiB,
/// logical blocks of 1 MiB and buffers of 256 KiB.
pub(crate) fn config(name: &str) -> Config {
    let named = registry::find(SCHEDULERS, name).unwrap();
    named.example().parse().unwrap()
}

/// The splitters for the same drive.
pub(crate) fn splits() -> [Split; 3] {
    std::array::from_fn(|at| SPLITS[at].example().parse().unwrap())
}

/// A drive without a volatile cache.
pub(crate) fn info() -> DeviceInfo {
    DeviceInfo {
        name: "null".into(),
        capacity_bytes: 64 << 20,
        logical_block_bytes: 512,
        max_request_bytes: 1 << 20,
        queue_depth: 32,
        volatile_cache: false,
        trim: true,
        read_only: false,
        modelled: true,
        rotational: Some(false),
        ..DeviceInfo::default()
    }
}

//! Schedulers with what they need to know of a drive, for tests.

#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests")]

pub(crate) mod queue;

use fathom_base::Dur;
use fathom_block::DeviceInfo;
use fathom_iosched::{Config, Split};

/// A scheduler by name, with the sizes of a drive of clustered pages of 16 KiB, logical blocks of 1 MiB and buffers of
/// 256 KiB where it needs any.
pub(crate) fn config(name: &str) -> Config {
    let sizes = match name {
        "pai" => {
            "read = \"256KiB\"\nwrite = \"256KiB\"\nread_boundary = \"16KiB\"\nwrite_boundary = \"16KiB\""
        }
        "irbw-fifo" | "irbw-fifo-rp" => "bundle = \"1MiB\"",
        _ => "",
    };
    toml::from_str(&format!("name = \"{name}\"\n{sizes}")).unwrap()
}

/// The splitters of the same drive.
pub(crate) fn splits() -> [Split; 3] {
    [
        "name = \"nopas\"",
        "name = \"pas\"\nread = \"256KiB\"\nwrite = \"256KiB\"",
        "name = \"pasa\"\nread = \"256KiB\"\nwrite = \"256KiB\"\nread_boundary = \"16KiB\"\nwrite_boundary = \"16KiB\"",
    ]
    .map(|text| toml::from_str(text).unwrap())
}

/// The longest that a request may wait behind a stream of others: what the scheduler promises, and some to spare.
pub(crate) fn starvation(name: &str) -> Dur {
    match name {
        // The queue ahead of it, or a batch of each kind.
        "noop" | "mq-none" | "irbw-fifo" | "irbw-fifo-rp" | "pai" | "kyber" => Dur::ms(50),
        // Turns of one other process, of an eighth of a second and a tenth.
        "bfq" | "cfq" => Dur::ms(500),
        // Half a second of reads before writes.
        "anticipatory" => Dur::ms(1_000),
        // Its expiry is five seconds, and a batch may be under way.
        _ => Dur::ms(6_000),
    }
}

/// A drive with a medium that keeps nothing back.
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
    }
}

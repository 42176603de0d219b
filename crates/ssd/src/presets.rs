//! Named drives: those of the papers, current ones, and null models that each lack one feature.

use fathom_base::Named;

/// Returns the preset of that name, from either list.
pub fn find(name: &str) -> Option<&'static Named> {
    let all = PRESETS.iter().chain(STUDIED);
    all.into_iter().find(|preset| preset.name == name)
}

fathom_base::presets! {
/// Drives to probe, in listing order.
PRESETS {
    "ssd-a": "parameter-aware-io SSD-A: 16-KiB clustered pages, 4-MiB blocks, both buffers",
    "ssd-b": "parameter-aware-io SSD-B: 128-KiB clustered pages, 16-MiB blocks, no read buffer",
    "ssd-c": "parameter-aware-io SSD-C: single-sector updates, 5120-KiB blocks, asynchronous write buffer",
    "ssd-d": "parameter-aware-io SSD-D: 128-KiB clustered pages, 16-MiB blocks, no write buffer",
    "sandisk-sdu5b": "greedy-space Table I: logical block of 4 MiB",
    "samsung-mccoe64g": "irbw Table 2 and greedy-space Table I: logical block of 8 MiB",
    "mtron-sata7035": "greedy-space Table I: logical block of 2 MiB",
    "mtron-sata3025": "irbw Table 2: logical block of 4 MiB",
    "intel-x25e": "ssd-ready-platforms Table 2: page-mapped SLC drive of 44,000 random reads a second",
    "nvme": "page-mapped NVMe drive of today with a volatile write cache",
    "sata-cache": "block-mapped SATA drive with an LRU write cache and read-ahead",
    "null-rmw": "ssd-a without read-modify-write",
    "null-block": "ssd-a with page mapping",
    "null-read-buffer": "ssd-a without a read buffer",
    "null-write-buffer": "ssd-a without a write buffer",
}

/// Drives to run workloads on; far larger than a probe needs.
STUDIED {
    "epo": "epo Table I in the general engine: 48 elements of 4 GB, page-mapped",
}
}

//! Named drives: those of the papers, classes of today, and null models that each lack one feature.

use fathom_base::Named;

/// Returns the preset of that name, from any list.
pub fn find(name: &str) -> Option<&'static Named> {
    let all = [PRESETS, CLASSES, STUDIED].into_iter().flatten();
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

/// Classes of drives of today, to probe and to run workloads on. docs/fidelity.md compares them with published measurements.
CLASSES {
    "tlc-dram": "consumer TLC drive with DRAM and an SLC cache, as Samsung's 980 PRO 1TB",
    "tlc-dramless": "consumer TLC drive with a host memory buffer and an SLC cache, as Samsung's 980 1TB",
    "tlc-enterprise": "enterprise TLC drive with capacitors and parity over dies, as Micron's 7450 PRO 1.92TB",
    "qlc-16k": "enterprise QLC drive with indirection units of 16 KiB, as Solidigm's D5-P5336",
    "qlc-64k": "enterprise QLC drive with indirection units of 64 KiB, as Intel's D5-P5316",
    "sd-card": "microSD card of application class A1 with log blocks",
    "emmc": "eMMC 5.1 with a map in flash",
    "zns": "zoned TLC drive, as Western Digital's Ultrastar DC ZN540",
    "fdp": "enterprise TLC drive with eight placement handles",
    "cloud-volume": "volume of a cloud with 3,000 operations and 125 MiB a second, as Amazon's EBS gp3",
}

/// Drives to run workloads on; far larger than a probe needs.
STUDIED {
    "epo": "epo Table I in the general engine: 48 elements of 4 GB, page-mapped",
}
}

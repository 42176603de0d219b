//! Reads a drive's sizes, limits and features from sysfs (Documentation/ABI/stable/sysfs-block).

use crate::sysfs::{chosen, number, text};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Sizes of blocks and requests, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// Unit of addresses (`logical_block_size`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Unit that the drive writes without reading first (`physical_block_size`). For NVMe the kernel takes the smaller one of
    /// NPWG and AWUPF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Smallest preferred request (`minimum_io_size`); NPWG for NVMe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_min_bytes: Option<u64>,
    /// Preferred request for sustained throughput (`optimal_io_size`), 0 if not reported; NOWS for NVMe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_opt_bytes: Option<u64>,
    /// Offset of the first block in its physical block (`alignment_offset`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment_offset_bytes: Option<u64>,
    /// Requests do not cross multiples of it (`chunk_sectors`), 0 if they may; NOIOB for NVMe, the zone for a zoned drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// Longest request of a file system (`max_sectors_kb`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_request_bytes: Option<u64>,
    /// Longest request of the drive and its adapter (`max_hw_sectors_kb`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hw_request_bytes: Option<u64>,
}

impl Sizes {
    /// Reads the directory of a drive.
    pub(crate) fn read(drive: &Path) -> Self {
        let queue = |name: &str| number(&drive.join("queue").join(name));
        let kib = |name: &str| queue(name).map(|kib| kib.saturating_mul(1024));
        Self {
            logical_block_bytes: queue("logical_block_size"),
            physical_block_bytes: queue("physical_block_size"),
            io_min_bytes: queue("minimum_io_size"),
            io_opt_bytes: queue("optimal_io_size"),
            alignment_offset_bytes: number(&drive.join("alignment_offset")),
            chunk_bytes: queue("chunk_sectors").map(|sectors| sectors.saturating_mul(512)),
            max_request_bytes: kib("max_sectors_kb"),
            max_hw_request_bytes: kib("max_hw_sectors_kb"),
        }
    }
}

/// Discards, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Discards {
    /// Unit that the drive discards (`discard_granularity`), 0 if not supported. For an NVMe drive the kernel sets the logical
    /// block (`nvme_config_discard`, drivers/nvme/host/core.c, 6.1), not NPDG.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity_bytes: Option<u64>,
    /// Longest discard (`discard_max_bytes`), 0 if not supported or switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Longest discard of the drive (`discard_max_hw_bytes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hw_bytes: Option<u64>,
    /// Offset of the first block in its unit of discards (`discard_alignment`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment_bytes: Option<u64>,
}

impl Discards {
    /// Reads the directory of a drive.
    pub(crate) fn read(drive: &Path) -> Self {
        let queue = |name: &str| number(&drive.join("queue").join(name));
        Self {
            granularity_bytes: queue("discard_granularity"),
            max_bytes: queue("discard_max_bytes"),
            max_hw_bytes: queue("discard_max_hw_bytes"),
            alignment_bytes: number(&drive.join("discard_alignment")),
        }
    }
}

/// Limits and settings of the kernel's queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Number of requests that the kernel queues (`nr_requests`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Bytes read ahead at most (`read_ahead_kb`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// Where completions run: 0 anywhere, 1 in the group of the submitting processor, 2 on that processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rq_affinity: Option<u64>,
    /// Latency target of write-back throttling in microseconds (`wbt_lat_usec`); 0 if switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wbt_lat_usec: Option<u64>,
    /// The active scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The schedulers that the kernel offers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedulers: Vec<String>,
}

impl Limits {
    /// Reads the `queue` directory of a drive.
    pub(crate) fn read(queue: &Path) -> Self {
        let value = |name: &str| number(&queue.join(name));
        let schedulers = text(&queue.join("scheduler"));
        let offered = schedulers.as_deref().unwrap_or_default().split_whitespace();
        let offered = offered.map(|name| name.trim_matches(['[', ']']).to_owned());
        Self {
            requests: value("nr_requests"),
            read_ahead_bytes: value("read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
            rq_affinity: value("rq_affinity"),
            wbt_lat_usec: value("wbt_lat_usec"),
            schedulers: offered.collect(),
            scheduler: schedulers.map(|text| chosen(&text)),
        }
    }
}

/// Features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    /// True for a rotating disk, according to the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// `none`, `host-aware` or `host-managed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<String>,
    /// `write back` if the kernel sends flushes, `write through` if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// The drive supports writes that pass its cache (FUA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// The device supports direct access by the processor (DAX).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dax: Option<bool>,
    /// Metadata of each logical block in bytes (`metadata_bytes`, NVMe, kernel 6.7 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_bytes: Option<u64>,
    /// Format of the metadata that the kernel sends and checks (`integrity/format`), such as `T10-DIF-TYPE1-CRC`; absent if
    /// it is `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
}

impl Features {
    /// Reads the directory of a drive.
    pub(crate) fn read(drive: &Path) -> Self {
        let queue = |name: &str| drive.join("queue").join(name);
        let flag = |name: &str| number(&queue(name)).map(|n| n == 1);
        Self {
            rotational: flag("rotational"),
            zoned: text(&queue("zoned")),
            write_cache: text(&queue("write_cache")),
            fua: flag("fua"),
            dax: flag("dax"),
            metadata_bytes: number(&drive.join("metadata_bytes")),
            integrity: text(&drive.join("integrity/format")).filter(|format| format != "none"),
        }
    }
}

//! NoPAS: the block layer as it is, which merges up to a limit that knows nothing of the drive.
//!
//! `parameter-aware-io` 6.1 has it as the baseline, in Linux 2.6.24. The limit there is `max_sectors_kb`, 512 KiB by
//! default (`BLK_DEF_MAX_SECTORS`, 1024 sectors, `include/linux/blkdev.h`).

use fathom_base::Bytes;
use serde::{Deserialize, Serialize};

/// One limit for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoPas {
    /// The longest request.
    pub limit: Bytes,
}

impl Default for NoPas {
    fn default() -> Self {
        Self {
            limit: Bytes(512 << 10),
        }
    }
}

impl NoPas {
    /// The longest request, in bytes.
    #[inline]
    pub fn room(&self) -> u64 {
        self.limit.0
    }
}

//! NoPAS: the block layer as it is, which merges up to a limit that knows nothing of the drive.
//!
//! `parameter-aware-io` 6.1 has it as the baseline, in Linux 2.6.24. The limit there is `max_sectors_kb`, 512 KiB by
//! default (`BLK_DEF_MAX_SECTORS`, 1024 sectors, `include/linux/blkdev.h`).

use fathom_base::{About, Bytes, keys};
use fathom_block::Op;

/// What the list says of it.
pub(super) const ABOUT: About = About::new("up to the generic limit, 512 KiB");

keys! {
    /// One limit for all.
    pub struct NoPas {
        /// The longest request.
        pub limit: Bytes = Bytes::kib(512),
    }
}

impl NoPas {
    /// The longest request, in bytes.
    #[inline]
    pub fn room(&self, _op: Op, _offset: u64) -> u64 {
        self.limit.0
    }
}

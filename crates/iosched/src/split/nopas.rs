//! NoPAS: the plain block layer, which merges up to a limit that does not depend on the drive.
//!
//! It is the baseline of `parameter-aware-io` 6.1, in Linux 2.6.24. The limit there is `max_sectors_kb`, 512 KiB by
//! default (`BLK_DEF_MAX_SECTORS`, 1024 sectors, `include/linux/blkdev.h`).

use fathom_base::{About, Bytes, keys};
use fathom_block::Op;

/// Entry in the list of splitters.
pub(super) const ABOUT: About = About::new("up to the generic limit, 512 KiB");

keys! {
    /// The limit, which applies to reads and writes.
    pub struct NoPas {
        /// Maximum length of a request.
        pub limit: Bytes = Bytes::kib(512),
    }
}

impl NoPas {
    /// The longest request that may begin at an offset, in bytes.
    #[inline]
    pub fn room(&self, _op: Op, _offset: u64) -> u64 {
        self.limit.0
    }
}

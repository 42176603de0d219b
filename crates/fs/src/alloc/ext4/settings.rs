//! The settings of the multi-block allocator.

use fathom_base::defaults;
use serde::{Deserialize, Serialize};

defaults! {
    /// Settings of the multi-block allocator, under the names they have in `/sys/fs/ext4`.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct Ext4Settings {
        /// Longest file, in blocks, that takes its blocks from a pool (`mb_stream_req`).
        pub mb_stream_req: u64 = 16,
        /// Blocks of a pool (`mb_group_prealloc`); 0 for no pools.
        pub mb_group_prealloc: u64 = 512,
        /// Number of runs of a group that are looked at before the best is taken (`mb_min_to_scan`).
        pub mb_min_to_scan: u32 = 10,
        /// Number of runs that are looked at altogether (`mb_max_to_scan`).
        pub mb_max_to_scan: u32 = 200,
        /// Number of processors, each with a pool.
        pub processors: u32 = 2,
    }
}

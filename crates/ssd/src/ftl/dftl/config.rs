//! The keys of `[mapping]` of a drive with its map in flash.

use crate::spec::Striping;
use fathom_base::{Bytes, keys};

keys! {
    /// `[mapping]` of `dftl`.
    pub struct Config {
        /// Memory for the map that lies in flash, at least 64B; an entry takes 8.
        pub(super) map_cache: Bytes = Bytes::mib(1),
        /// Host memory that holds translation pages besides (NVMe host memory buffer); 0B for none.
        pub(super) host_memory_buffer: Bytes = Bytes(0),
        /// Where the next page goes: `dynamic`, or a static order such as `cwdp`.
        pub(super) striping: Striping = Striping::Dynamic,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
    }
}

//! PASA, parameter-aware splitting and aligning: like PAS, but an unaligned request is cut at the next boundary first.
//!
//! `parameter-aware-io` 5.2 and Figure 8a: "PASA first checks whether a request is aligned to the clustered page or
//! block boundary. If the request is aligned [...], PASA splits the requests by the size of the read or write buffer.
//! Otherwise, PASA first aligns the requests to the clustered page/block boundary and splits the requests by the read
//! or write buffer size".
//!
//! A buffer that is not a multiple of the boundary (255 KiB on the paper's ssd-a) is rounded down to a multiple: pieces
//! of its full size would not stay aligned after the first cut.

use fathom_base::{About, Bytes, keys};
use fathom_block::Op;

/// The keys that are sizes of the drive, each with its name in a profile.
const NEEDS: &[(&str, &str)] = &[
    ("read", "read_buffer"),
    ("write", "write_buffer"),
    ("read_boundary", "clustered_page"),
    ("write_boundary", "clustered_page"),
];

/// Entry in the list of splitters.
pub(super) const ABOUT: About =
    About::new("as pas; unaligned requests are cut at the next boundary first")
        .example("pasa,read=256KiB,write=256KiB,read_boundary=16KiB,write_boundary=16KiB")
        .needs(NEEDS);

keys! {
    /// The limits of PAS and the boundaries. A profile supplies all of them.
    #[serde(deny_unknown_fields)]
    pub struct Pasa {
        /// Size of the drive's read buffer.
        pub read: Bytes,
        /// Size of the drive's write buffer.
        pub write: Bytes,
        /// Alignment of reads: a multiple of the clustered page.
        pub read_boundary: Bytes,
        /// Alignment of writes: a multiple of the clustered page or block.
        pub write_boundary: Bytes,
    }
}

impl Pasa {
    /// The longest request of a kind that may begin at an offset, in bytes.
    #[inline]
    pub fn room(&self, op: Op, offset: u64) -> u64 {
        let (boundary, limit) = match op {
            Op::Read => (self.read_boundary.0, self.read.0),
            _ => (self.write_boundary.0, self.write.0),
        };
        match offset % boundary {
            0 if limit > boundary => limit - limit % boundary,
            0 => limit,
            over => (boundary - over).min(limit),
        }
    }
}

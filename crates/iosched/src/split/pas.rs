//! PAS, parameter-aware splitting: no request is longer than the drive's read or write buffer.
//!
//! `parameter-aware-io` 5.2: "PAS merges the requests and splits them into pieces whose size is the read or write
//! buffer size of the SSD", so that each request fits into the drive's buffer.

use fathom_base::{About, Bytes, keys};
use fathom_block::Op;

/// The keys that are sizes of the drive, each with its name in a profile.
const NEEDS: &[(&str, &str)] = &[("read", "read_buffer"), ("write", "write_buffer")];

/// Entry in the list of splitters.
pub(super) const ABOUT: About = About::new("at the drive's read or write buffer size")
    .example("pas,read=256KiB,write=256KiB")
    .needs(NEEDS);

keys! {
    /// A limit for reads and one for writes. A profile supplies both.
    #[serde(deny_unknown_fields)]
    pub struct Pas {
        /// Size of the drive's read buffer.
        pub read: Bytes,
        /// Size of the drive's write buffer.
        pub write: Bytes,
    }
}

impl Pas {
    /// The longest request of a kind, in bytes.
    #[inline]
    pub fn room(&self, op: Op, _offset: u64) -> u64 {
        match op {
            Op::Read => self.read.0,
            _ => self.write.0,
        }
    }
}

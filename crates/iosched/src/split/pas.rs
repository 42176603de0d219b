//! PAS, parameter-aware splitting: no request is longer than the drive's read or write buffer.
//!
//! `parameter-aware-io` 5.2: "PAS merges the requests and splits them into pieces whose size is the read or write
//! buffer size of the SSD", so that all of a request fits into the drive's buffer.

use fathom_base::Bytes;
use fathom_block::Op;
use serde::{Deserialize, Serialize};

/// A limit for reads and one for writes. A profile has both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pas {
    /// The drive's read buffer.
    pub read: Bytes,
    /// The drive's write buffer.
    pub write: Bytes,
}

impl Pas {
    /// The longest request of a kind, in bytes.
    #[inline]
    pub fn room(&self, op: Op) -> u64 {
        match op {
            Op::Read => self.read.0,
            _ => self.write.0,
        }
    }
}

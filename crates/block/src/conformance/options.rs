//! Options and report of the suite.

use fathom_base::{Dur, defaults};
use std::collections::BTreeMap;
use std::ops::Range;

defaults! {
    /// What to check, and what the device may be asked to do.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Options {
        /// Seed of all random choices.
        pub seed: u64 = 1,
        /// Number of random requests to send, in addition to a few hundred fixed ones; also the largest queue depth that is
        /// filled completely.
        pub operations: u64 = 1000,
        /// The bytes of the device that may be read and written: at least sixteen logical blocks.
        pub region: Range<u64> = 0..1 << 20,
        /// True if reads must return the bytes that were written.
        pub keeps_bytes: bool = true,
        /// True if trimmed blocks must read as zero; otherwise they may read as anything.
        pub trim_zeroes: bool = false,
        /// True if valid requests may fail, as below a layer that injects errors. The content after a failed write is
        /// unknown.
        pub may_fail: bool = false,
        /// Longest time without a completion while requests are in flight, on the device's clock.
        pub patience: Dur = Dur::ms(10_000),
    }
}

/// Summary of a run on a conforming device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of completed requests.
    pub requests: u64,
    /// Number of bytes read and compared with their expected content.
    pub bytes_compared: u64,
    /// Rules that were not checked, with the reason.
    pub skipped: BTreeMap<&'static str, &'static str>,
}

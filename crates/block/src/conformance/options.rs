//! Options and report of the suite.

use fathom_base::Dur;
use std::collections::BTreeMap;
use std::ops::Range;

/// What to check, and what the device may be asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of random requests to send, in addition to a few hundred fixed ones; also the largest queue depth that is
    /// filled completely.
    pub operations: u64,
    /// The bytes of the device that may be read and written: at least sixteen logical blocks.
    pub region: Range<u64>,
    /// True if reads must return the bytes that were written.
    pub keeps_bytes: bool,
    /// True if trimmed blocks must read as zero; otherwise they may read as anything.
    pub trim_zeroes: bool,
    /// True if valid requests may fail, as below a layer that injects errors. The content after a failed write is
    /// unknown.
    pub may_fail: bool,
    /// Longest time without a completion while requests are in flight, on the device's clock.
    pub patience: Dur,
}

impl Default for Options {
    /// A thousand operations in the first mebibyte of a device that keeps bytes and does not fail; ten seconds of
    /// patience.
    fn default() -> Self {
        Self {
            seed: 1,
            operations: 1000,
            region: 0..1 << 20,
            keeps_bytes: true,
            trim_zeroes: false,
            may_fail: false,
            patience: Dur::ms(10_000),
        }
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

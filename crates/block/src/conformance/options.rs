//! What the suite is told and what it tells.

use fathom_base::Dur;
use std::collections::BTreeMap;
use std::ops::Range;

/// What to ask of a device, and what it may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Fixes every random choice.
    pub seed: u64,
    /// Random requests to send, beside a few hundred fixed ones; also the deepest queue that is filled to the brim.
    pub operations: u64,
    /// The bytes of the device that may be read and written: at least sixteen logical blocks.
    pub region: Range<u64>,
    /// Whether a read must bring what was written.
    pub keeps_bytes: bool,
    /// Whether what was trimmed must read as zero; otherwise it may read as anything.
    pub trim_zeroes: bool,
    /// Whether right requests may fail, as under a layer that injects errors. What a failed write leaves is unknown.
    pub may_fail: bool,
    /// The longest, on the device's clock, that may pass without a completion while requests are in flight.
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

/// What was asked of a device that conforms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Requests that completed.
    pub requests: u64,
    /// Bytes that were read and compared with what they must be.
    pub bytes_compared: u64,
    /// Rules that were not looked at, and why.
    pub skipped: BTreeMap<&'static str, &'static str>,
}

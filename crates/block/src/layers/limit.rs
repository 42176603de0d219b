//! The settings of a limit, and the bucket of tokens that keeps it.

use fathom_base::{BadValue, Bytes, Rate, Time, want};
use serde::{Deserialize, Serialize};

/// Limits of a device. Reads and writes share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// Operations per second. Not limited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations_per_second: Option<u64>,
    /// Operations that may start at once after idle time, at least 1. By default those of a tenth of a second, as in QEMU
    /// (`throttle_compute_wait` in util/throttle.c).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations_burst: Option<u64>,
    /// Bytes of a request that count as one operation; a longer request counts as several. Amazon EBS counts 256 KiB for
    /// its SSD volumes and 1 MiB for its HDD volumes ("I/O characteristics" in its user guide). By default every request
    /// is one operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_size: Option<Bytes>,
    /// Bytes per second. Not limited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// Bytes that may start at once after idle time. By default those of a tenth of a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_burst: Option<Bytes>,
}

/// Maximum of a rate and of a burst, in tokens.
const TOKENS_MAX: u64 = 1 << 60;

/// Checks a number of tokens.
fn check_tokens(key: &'static str, found: Option<u64>) -> Result<(), BadValue> {
    let fits = found.is_none_or(|found| (1..=TOKENS_MAX).contains(&found));
    want(fits, key, found.unwrap_or_default(), || {
        format!("1 to {TOKENS_MAX}")
    })
}

impl Limit {
    /// Checks the ranges of all values.
    ///
    /// # Errors
    /// [`BadValue`] for the first value that is out of range or needs another one.
    pub fn check(&self) -> Result<(), BadValue> {
        let (operations, bandwidth) = (self.operations_per_second, self.bandwidth);
        let limits = operations.is_some() || bandwidth.is_some();
        want(limits, "limit", "empty", || {
            "give operations_per_second, bandwidth or both, or leave [limit] out".into()
        })?;
        let size = self.operation_size.map(|size| size.0);
        let burst = self.bandwidth_burst.map(|burst| burst.0);
        let rate = bandwidth.map(Rate::bytes_per_second);
        check_tokens("limit.operations_per_second", operations)?;
        check_tokens("limit.operations_burst", self.operations_burst)?;
        check_tokens("limit.operation_size", size)?;
        check_tokens("limit.bandwidth", rate)?;
        check_tokens("limit.bandwidth_burst", burst)?;
        let alone = |key, found: Option<u64>, needs: &str, given: bool| {
            let fits = given || found.is_none();
            want(fits, key, found.unwrap_or_default(), || {
                format!("left out without limit.{needs}")
            })
        };
        let (of, given) = ("operations_per_second", operations.is_some());
        alone("limit.operations_burst", self.operations_burst, of, given)?;
        alone("limit.operation_size", size, of, given)?;
        alone(
            "limit.bandwidth_burst",
            burst,
            "bandwidth",
            bandwidth.is_some(),
        )
    }

    /// Returns the operations that a read or write of `len` bytes counts as.
    pub(super) fn operations(&self, len: u64) -> u64 {
        self.operation_size
            .map_or(1, |size| len.div_ceil(size.0.max(1)).max(1))
    }
}

/// Parts of a token in which a bucket counts: a rate of one token a second adds one part in a nanosecond.
const PARTS: i128 = 1_000_000_000;

/// A bucket of tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    per_second: i128,
    /// In parts of a token.
    burst: i128,
    /// The parts that it held at `since`; negative for a debt.
    level: i128,
    since: Time,
}

impl Bucket {
    /// Creates a full bucket; its burst is by default the tokens of a tenth of a second.
    pub(super) fn full(per_second: u64, burst: Option<u64>, now: Time) -> Self {
        let burst = i128::from(burst.unwrap_or(per_second / 10).max(1)) * PARTS;
        Self {
            per_second: i128::from(per_second.max(1)),
            burst,
            level: burst,
            since: now,
        }
    }

    pub(super) fn refill(&mut self, now: Time) {
        self.level += i128::from(now.since(self.since).0) * self.per_second;
        // A request starts at a whole nanosecond. The tokens of less than one are kept, or the rate would be too low.
        if self.level >= self.burst + self.per_second {
            self.level = self.burst;
        }
        self.since = self.since.max(now);
    }

    /// Returns the time at which a request of `tokens` may start.
    pub(super) fn ready(&self, tokens: u64) -> Time {
        let wanted = (i128::from(tokens) * PARTS).min(self.burst);
        let missing = (wanted - self.level).max(0);
        // Rounded up: at that time the tokens are there.
        let wait = (missing + self.per_second - 1) / self.per_second;
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        Time(self.since.0.saturating_add(wait))
    }

    pub(super) fn take(&mut self, tokens: u64) {
        self.level -= i128::from(tokens) * PARTS;
    }
}

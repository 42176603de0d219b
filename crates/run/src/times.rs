//! Response times by kind of access: histograms, means with intervals, and sums.

use crate::figures::{Quantile, Side};
use crate::observer::Played;
use fathom_block::Op;
use fathom_block::zoned::ZoneAction;
use fathom_stats::batches::Batches;
use hdrhistogram::Histogram;

/// Significant decimal digits of a quantile.
const DIGITS: u8 = 3;

/// Extent of the tail of a distribution: up to 1 access in 10 to the power of this.
const TAIL_DECADES: i32 = 6;

/// Response times of one kind of access.
pub(super) struct Times {
    histogram: Histogram<u64>,
    batches: Batches,
    bytes: u64,
    service_ns: u128,
    max_ns: u64,
}

impl Times {
    pub(super) fn new() -> Self {
        Self {
            histogram: histogram(),
            batches: Batches::default(),
            bytes: 0,
            service_ns: 0,
            max_ns: 0,
        }
    }

    /// Adds an access with its response time in nanoseconds.
    fn add(&mut self, played: &Played, response: u64) {
        // The histogram resizes itself and accepts every value of 63 bits.
        let _ = self.histogram.record(response);
        self.batches.push(response as f64);
        self.bytes += played.access.len;
        self.service_ns += u128::from(played.completed.since(played.submitted).0);
        self.max_ns = self.max_ns.max(response);
    }

    pub(super) fn count(&self) -> u64 {
        self.batches.count()
    }

    pub(super) fn side(&self) -> Option<Side> {
        let count = self.batches.count();
        let at = |quantile| self.quantile(quantile);
        Some(Side {
            count,
            bytes: self.bytes,
            response_ns: self.batches.interval()?,
            service_mean_ns: self.service_ns as f64 / count as f64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.max_ns,
        })
    }
}

impl Times {
    /// The quantile in nanoseconds. The histogram returns the upper end of a step, which may exceed the maximum.
    fn quantile(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.max_ns)
    }

    /// The distribution: every 5 % of the accesses, then the tail in three steps per decade as long as a step holds an
    /// access.
    pub(super) fn distribution(&self) -> Vec<Quantile> {
        let count = self.batches.count();
        let body = (0..19).map(|i| f64::from(i) / 20.0);
        let tail = (1..=TAIL_DECADES).flat_map(|decade| {
            let share = 10_f64.powi(-decade);
            [0.5, 0.2, 0.1].map(|part| 1.0 - part * share)
        });
        let held = |share: &f64| count as f64 * (1.0 - share) >= 1.0;
        let last = (count > 0).then_some(1.0);
        let shares = body.chain(tail).filter(held).chain(last);
        shares
            .map(|share| Quantile {
                share,
                ns: self.quantile(share),
            })
            .collect()
    }
}

/// Creates a histogram that grows as needed.
#[allow(
    clippy::expect_used,
    reason = "it fails for more than five digits only"
)]
fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("three digits are allowed")
}

/// Response times by kind of access.
pub(super) struct Kinds {
    pub(super) reads: Times,
    pub(super) writes: Times,
    /// The response times of reads and writes together, in the order of completion. Their other figures are sums of both.
    both: Batches,
    pub(super) flushes: Times,
    pub(super) trims: Times,
    pub(super) zone_resets: Times,
    /// All other changes of a zone's state.
    pub(super) zone_finishes: Times,
}

impl Kinds {
    pub(super) fn new() -> Self {
        Self {
            reads: Times::new(),
            writes: Times::new(),
            both: Batches::default(),
            flushes: Times::new(),
            trims: Times::new(),
            zone_resets: Times::new(),
            zone_finishes: Times::new(),
        }
    }

    /// Adds an access with its response time in nanoseconds.
    #[inline]
    pub(super) fn add(&mut self, played: &Played, response: u64) {
        let times = match played.access.op {
            Op::Read => &mut self.reads,
            Op::Write | Op::Append => &mut self.writes,
            _ => return self.add_other(played, response),
        };
        times.add(played, response);
        self.both.push(response as f64);
    }

    /// Adds an access that is neither a read nor a write.
    fn add_other(&mut self, played: &Played, response: u64) {
        let times = match played.access.op {
            Op::Trim => &mut self.trims,
            Op::Zone(ZoneAction::Reset) => &mut self.zone_resets,
            Op::Zone(_) => &mut self.zone_finishes,
            _ => &mut self.flushes,
        };
        times.add(played, response);
    }

    /// Returns the figures of reads and writes together.
    pub(super) fn all(&self) -> Times {
        let (reads, writes) = (&self.reads, &self.writes);
        let mut histogram = reads.histogram.clone();
        // Both resize themselves, so that every value fits.
        let _ = histogram.add(&writes.histogram);
        Times {
            histogram,
            batches: self.both.clone(),
            bytes: reads.bytes + writes.bytes,
            service_ns: reads.service_ns + writes.service_ns,
            max_ns: reads.max_ns.max(writes.max_ns),
        }
    }

    /// Returns the number of accesses that are neither reads nor writes.
    pub(super) fn others(&self) -> u64 {
        let others = [&self.flushes, &self.trims];
        let zones = [&self.zone_resets, &self.zone_finishes];
        others.into_iter().chain(zones).map(Times::count).sum()
    }
}

//! Response times by kind of access: histograms, means with intervals, and sums.

use crate::figures::{Quantile, Side};
use crate::observer::Played;
use crate::tally::Tally;
use fathom_block::Op;
use fathom_block::zoned::ZoneAction;
use fathom_stats::batches::Batches;
use hdrhistogram::Histogram;

/// Extent of the tail of a distribution: up to 1 access in 10 to the power of this.
const TAIL_DECADES: i32 = 6;

/// What counts of an access: its bytes, and its times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    pub(super) bytes: u64,
    pub(super) response: u64,
    pub(super) service: u64,
}

impl Took {
    #[inline]
    pub(super) fn of(played: &Played) -> Self {
        Self {
            bytes: played.access.len,
            response: played.completed.since(played.asked).0,
            service: played.completed.since(played.submitted).0,
        }
    }
}

/// Response times of one kind of access.
#[derive(Default)]
pub(super) struct Times {
    tally: Tally,
    batches: Batches,
    bytes: u64,
    service_ns: u128,
    max_ns: u64,
}

impl Times {
    /// Adds accesses in their order.
    #[inline]
    fn extend(&mut self, all: impl Iterator<Item = Took> + Clone) {
        all.clone().for_each(|took| self.tally.add(took.response));
        self.batches
            .extend(all.clone().map(|took| took.response as f64));
        let (mut bytes, mut service, mut most) = (0, 0, 0);
        for took in all {
            bytes += took.bytes;
            service += u128::from(took.service);
            most = most.max(took.response);
        }
        self.bytes += bytes;
        self.service_ns += service;
        self.max_ns = self.max_ns.max(most);
    }

    pub(super) fn count(&self) -> u64 {
        self.batches.count()
    }

    pub(super) fn side(&self) -> Option<Side> {
        let (count, histogram) = (self.batches.count(), self.tally.histogram());
        let at = |quantile| self.quantile(&histogram, quantile);
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

    /// The quantile in nanoseconds. The histogram returns the upper end of a step, which may exceed the maximum.
    fn quantile(&self, histogram: &Histogram<u64>, share: f64) -> u64 {
        histogram.value_at_quantile(share).min(self.max_ns)
    }

    /// The distribution: every 5 % of the accesses, then the tail in three steps per decade as long as a step holds an
    /// access.
    pub(super) fn distribution(&self) -> Vec<Quantile> {
        let (count, histogram) = (self.batches.count(), self.tally.histogram());
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
                ns: self.quantile(&histogram, share),
            })
            .collect()
    }
}

/// Response times by kind of access.
#[derive(Default)]
pub(super) struct Kinds {
    pub(super) reads: Times,
    pub(super) writes: Times,
    /// The response times of reads and writes together, in the order of completion; `None` as long as one of the two has none.
    /// Their other figures are sums of both.
    both: Option<Batches>,
    pub(super) flushes: Times,
    pub(super) trims: Times,
    pub(super) zone_resets: Times,
    /// All other changes of a zone's state.
    pub(super) zone_finishes: Times,
}

impl Kinds {
    /// Adds accesses of one kind, in their order.
    #[inline]
    pub(super) fn add(&mut self, op: Op, all: impl Iterator<Item = Took> + Clone) {
        let (times, others) = match op {
            Op::Read => (&mut self.reads, &self.writes),
            Op::Write | Op::Append => (&mut self.writes, &self.reads),
            _ => return self.of_other(op).extend(all),
        };
        times.extend(all.clone());
        if others.count() > 0 {
            let both = self.both.get_or_insert_with(|| others.batches.clone());
            both.extend(all.map(|took| took.response as f64));
        }
    }

    /// The times of an operation that is neither a read nor a write.
    fn of_other(&mut self, op: Op) -> &mut Times {
        match op {
            Op::Trim => &mut self.trims,
            Op::Zone(ZoneAction::Reset) => &mut self.zone_resets,
            Op::Zone(_) => &mut self.zone_finishes,
            _ => &mut self.flushes,
        }
    }

    /// Returns the figures of reads and writes together.
    pub(super) fn all(&self) -> Times {
        let (reads, writes) = (&self.reads, &self.writes);
        Times {
            tally: reads.tally.joined(&writes.tally),
            batches: match &self.both {
                Some(both) => both.clone(),
                None if reads.count() > 0 => reads.batches.clone(),
                None => writes.batches.clone(),
            },
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

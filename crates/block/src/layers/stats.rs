//! Statistics: counts, bytes and the distribution of latency, for each kind of request.
//!
//! Changes nothing that passes. Latency is from submission to completion, as this layer's submitter sees it, and of
//! requests that succeeded; histograms keep three significant digits.

use super::PerOp;
use crate::{Busy, Completion, Contents, Device, DeviceInfo, IoError, Request, RequestId};
use fathom_base::Time;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// What became of the requests of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct OpStats {
    /// Completed, with or without success.
    pub completed: u64,
    /// Of these, the ones that failed.
    pub failed: u64,
    /// Bytes of those that succeeded.
    pub bytes: u64,
    /// Latency of those that succeeded, in nanoseconds.
    pub latency_ns: Histogram<u64>,
}

impl Default for OpStats {
    fn default() -> Self {
        Self {
            completed: 0,
            failed: 0,
            bytes: 0,
            latency_ns: Histogram::new(3).expect("three digits are within the limit of five"),
        }
    }
}

/// A device whose requests are counted.
#[derive(Clone, Debug)]
pub struct Stats<D> {
    inner: D,
    ops: PerOp<OpStats>,
    lengths: BTreeMap<RequestId, u64>,
}

impl<D: Device> Stats<D> {
    /// Counts the requests to `inner`.
    pub fn new(inner: D) -> Self {
        Self {
            inner,
            ops: PerOp::default(),
            lengths: BTreeMap::new(),
        }
    }

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// What was counted since the start or the last [`Stats::reset`]; clone it to keep it.
    pub fn snapshot(&self) -> &PerOp<OpStats> {
        &self.ops
    }

    /// Starts again from zero. What is in flight counts when it completes.
    pub fn reset(&mut self) {
        self.ops = PerOp::default();
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.lengths.len()
    }

    fn count(&mut self, completion: &Completion) {
        let len = self.lengths.remove(&completion.id).unwrap_or(0);
        let op = self.ops.of_mut(completion.op);
        op.completed += 1;
        match completion.result {
            Ok(()) => {
                op.bytes += len;
                let ns = completion.latency().0;
                // It grows as needed; only a latency of centuries might not fit.
                if op.latency_ns.record(ns).is_err() {
                    op.latency_ns.saturating_record(ns);
                }
            }
            Err(_) => op.failed += 1,
        }
    }
}

impl<D: Device> Device for Stats<D> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.inner.contents(offset, len)
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let (id, len) = (request.id, request.len);
        self.inner.submit(request)?;
        self.lengths.insert(id, len);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let start = done.len();
        self.inner.wait(until, done);
        for completion in done.get(start..).unwrap_or_default() {
            self.count(completion);
        }
    }
}

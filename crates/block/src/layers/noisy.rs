//! Noise: delays every request by a time from a source of latencies.
//!
//! The source is queried once for each accepted request, in order of submission. The delay is added after the device has
//! completed the request, so that requests in flight are delayed independently. Over a device with zero latency, the
//! source determines the whole latency: a drive without a mechanism.

use super::held::Held;
use crate::{
    Busy, Completion, Contents, Device, DeviceInfo, DriveLog, IoError, Op, Request, RequestId, Zone,
};
use fathom_base::{Dur, Time};
use std::collections::BTreeMap;

/// A source of latencies.
pub trait Latencies {
    /// Returns the delay of a request submitted at `now`; `len` is zero for a flush.
    fn next(&mut self, op: Op, len: u64, now: Time) -> Dur;
}

/// A device whose requests are delayed.
#[derive(Clone, Debug)]
pub struct Noisy<D, L> {
    held: Held<D>,
    latencies: L,
    extra: BTreeMap<RequestId, Dur>,
}

impl<D: Device, L: Latencies> Noisy<D, L> {
    /// Adds the delays of `latencies` to the requests of `inner`.
    pub fn new(inner: D, latencies: L) -> Self {
        Self {
            held: Held::new(inner),
            latencies,
            extra: BTreeMap::new(),
        }
    }

    /// Returns the inner device.
    pub fn inner(&self) -> &D {
        &self.held.inner
    }

    /// Returns the source of latencies.
    pub fn latencies(&self) -> &L {
        &self.latencies
    }
}

impl<D: Device, L: Latencies> Device for Noisy<D, L> {
    fn info(&self) -> &DeviceInfo {
        self.held.inner.info()
    }

    fn now(&self) -> Time {
        self.held.inner.now()
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.held.inner.contents(offset, len)
    }

    fn log(&mut self) -> Option<DriveLog> {
        self.held.inner.log()
    }

    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        self.held.inner.zones(from, count)
    }

    fn host_time(&self) -> Option<Dur> {
        self.held.inner.host_time()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let (id, op, len) = (request.id, request.op, request.len);
        self.held.submit(request)?;
        let extra = self.latencies.next(op, len, self.held.inner.now());
        self.extra.insert(id, extra);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let extra = &mut self.extra;
        self.held.wait(until, done, |completion| {
            completion.completed += extra.remove(&completion.id).unwrap_or_default();
        });
    }
}

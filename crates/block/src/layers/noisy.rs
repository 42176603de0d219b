//! Noise: every request takes longer by a time that a source of latencies says.
//!
//! The source is asked once for each request that is taken, in order of submission; what it says is added after the device is
//! done, so that requests in flight are delayed side by side. Over a device that takes no time, the source's latencies are
//! all there is: a drive without a mechanism.

use super::held::Held;
use crate::{Busy, Completion, Contents, Device, DeviceInfo, IoError, Op, Request, RequestId};
use fathom_base::{Dur, Time};
use std::collections::BTreeMap;

/// A source of latencies.
pub trait Latencies {
    /// How much longer a request takes that is submitted at `now`; `len` is zero for a flush.
    fn next(&mut self, op: Op, len: u64, now: Time) -> Dur;
}

/// A device whose requests take longer.
#[derive(Clone, Debug)]
pub struct Noisy<D, L> {
    held: Held<D>,
    latencies: L,
    extra: BTreeMap<RequestId, Dur>,
}

impl<D: Device, L: Latencies> Noisy<D, L> {
    /// Adds what `latencies` says to the requests of `inner`.
    pub fn new(inner: D, latencies: L) -> Self {
        Self {
            held: Held::new(inner),
            latencies,
            extra: BTreeMap::new(),
        }
    }

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.held.inner
    }

    /// The source of latencies.
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

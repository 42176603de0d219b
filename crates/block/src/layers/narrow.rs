//! A smaller queue depth: limits the number of requests in flight to a device.
//!
//! It queues nothing: excess requests are returned ([`Busy`]), as by a device with a shorter queue.

use crate::{Busy, Completion, Contents, Device, DeviceInfo, DriveLog, IoError, Request, Zone};
use fathom_base::{Dur, Time};
use std::num::NonZeroU32;

/// A device with a limited number of requests in flight.
#[derive(Clone, Debug)]
pub struct Narrow<D> {
    inner: D,
    info: DeviceInfo,
    in_flight: u32,
}

impl<D: Device> Narrow<D> {
    /// Limits the requests in flight to `depth`, and to the queue depth of `inner`.
    pub fn new(inner: D, depth: NonZeroU32) -> Self {
        let info = DeviceInfo {
            queue_depth: inner.info().queue_depth.min(depth.get()),
            ..inner.info().clone()
        };
        Self {
            inner,
            info,
            in_flight: 0,
        }
    }

    /// Returns the inner device.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    pub(crate) fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }
}

impl<D: Device> Device for Narrow<D> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.in_flight >= self.info.queue_depth {
            return Err(Busy(request));
        }
        self.inner.submit(request)?;
        self.in_flight += 1;
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let before = done.len();
        self.inner.wait(until, done);
        let completed = u32::try_from(done.len() - before).unwrap_or(u32::MAX);
        self.in_flight = self.in_flight.saturating_sub(completed);
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.inner.contents(offset, len)
    }

    fn log(&mut self) -> Option<DriveLog> {
        self.inner.log()
    }

    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        self.inner.zones(from, count)
    }

    fn host_time(&self) -> Option<Dur> {
        self.inner.host_time()
    }
}

//! A smaller depth: the device has fewer requests at a time than it takes.
//!
//! It holds nothing back: what is too much is handed back ([`Busy`]), as a device does whose queue is shorter.

use crate::{Busy, Completion, Contents, Device, DeviceInfo, IoError, Request};
use fathom_base::Time;
use std::num::NonZeroU32;

/// A device that takes at most so many requests at a time.
#[derive(Clone, Debug)]
pub struct Narrow<D> {
    inner: D,
    info: DeviceInfo,
    in_flight: u32,
}

impl<D: Device> Narrow<D> {
    /// At most `depth` requests at a time, and at most what `inner` takes.
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

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.inner
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
}

//! The null device: completes everything after a fixed time and stores nothing.
//!
//! With a latency of zero, any time that a stack above it takes is the stack's own. A read returns no data. It checks
//! requests like every device, and completes an invalid one with the error after the same time.

use super::clock::Clock;
use crate::{Busy, Completion, Device, DeviceInfo, Request};
use fathom_base::{Dur, Time};

/// Completes everything after a fixed time; stores no bytes.
#[derive(Clone, Debug)]
pub struct NullDevice {
    info: DeviceInfo,
    latency: Dur,
    clock: Clock,
}

impl NullDevice {
    /// Creates a device with the properties `info` (its time is always modelled) that completes everything after
    /// `latency`.
    pub fn new(info: DeviceInfo, latency: Dur) -> Self {
        Self {
            info: DeviceInfo {
                modelled: true,
                rotational: Some(false),
                ..info
            },
            latency,
            clock: Clock::default(),
        }
    }
}

impl Device for NullDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let request = self.clock.admit(&self.info, request)?;
        let result = self.info.check(&request).map(|()| None);
        self.clock.complete(&request, self.latency, result);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.clock.wait(until, done);
    }
}

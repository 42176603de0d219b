//! Delay: completions come later than the device's own, by a fixed time and a random one.
//!
//! The delay is added after the device is done; the device itself is no slower, so that requests in flight are delayed
//! side by side. Over a real device the delay is real: the layer sleeps in the device's `wait`. A completion carries
//! the time at which it was due, also where a real device's `wait` woke later.

use super::PerOp;
use super::held::Held;
use crate::{Busy, Completion, Contents, Device, DeviceInfo, IoError, Request};
use fathom_base::{Dur, Rng, Time};

/// How much later the completions of one kind of request come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpDelay {
    /// Always.
    pub fixed: Dur,
    /// At most this much more: a uniform draw from zero to this, both included.
    pub jitter: Dur,
}

/// A device whose completions come later.
#[derive(Clone, Debug)]
pub struct Delayed<D> {
    held: Held<D>,
    delays: PerOp<OpDelay>,
    rng: Rng,
}

impl<D: Device> Delayed<D> {
    /// Delays the completions of `inner`; `seed` fixes the jitter of a modelled device.
    pub fn new(inner: D, delays: PerOp<OpDelay>, seed: u64) -> Self {
        Self {
            held: Held::new(inner),
            delays,
            rng: Rng::new(seed, 0),
        }
    }

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.held.inner
    }
}

impl<D: Device> Device for Delayed<D> {
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
        self.held.submit(request)
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let (delays, rng) = (&self.delays, &mut self.rng);
        self.held.wait(until, done, |completion| {
            let OpDelay { fixed, jitter } = *delays.of(completion.op);
            let jitter = Dur(rng.below(jitter.0.saturating_add(1)));
            completion.completed += fixed + jitter;
        });
    }
}

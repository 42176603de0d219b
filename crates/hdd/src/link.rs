//! The link to the host: the controller processes one command at a time, the bus carries one transfer at a time.
//!
//! Both directions share the bus.

use crate::spec::Host;
use fathom_base::{Bus, Dur, Rate, Rng, Time};

/// State of the controller and the bus.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    rate: Rate,
    overhead: Dur,
    jitter: f64,
    rng: Rng,
    controller_free: Time,
    bus: Bus,
}

impl Link {
    pub(crate) fn new(host: &Host, jitter_percent: f64, rng: Rng) -> Self {
        Self {
            rate: host.bandwidth,
            overhead: host.command_overhead,
            jitter: jitter_percent / 100.0,
            rng,
            controller_free: Time::ZERO,
            bus: Bus::default(),
        }
    }

    /// Books a command that arrives now. Returns the time at which the controller has processed it.
    pub(crate) fn command(&mut self, now: Time) -> Time {
        let mut overhead = self.overhead;
        if self.jitter > 0.0 {
            let factor = (1.0 + self.jitter * self.rng.normal()).max(0.2);
            overhead = Dur((overhead.0 as f64 * factor) as u64);
        }
        self.controller_free = self.controller_free.max(now) + overhead;
        self.controller_free
    }

    /// Books a transfer of data that is ready now. Returns the times at which it starts and ends.
    pub(crate) fn transfer(&mut self, bytes: u64, now: Time) -> (Time, Time) {
        let length = self.rate.transfer_exact(bytes);
        let (begin, end) = self.bus.book(now, length);
        (begin.ceil(), end.ceil())
    }

    /// Returns the duration of a transfer on an idle bus.
    pub(crate) fn duration(&self, bytes: u64) -> Dur {
        self.rate.transfer(bytes)
    }
}

//! The host link: a controller that processes commands one after another, and a bus for the data.

use crate::spec::{Host, Protocol};
use fathom_base::{Bus, Dur, Exact, Rate, Rng, Time};

/// Direction of a data transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Host to drive.
    In,
    /// Drive to host.
    Out,
}

/// The link's state.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    overhead: Dur,
    latency: Dur,
    rate: Rate,
    full_duplex: bool,
    jitter: f64,
    controller_free: Time,
    buses: [Bus; 2],
    /// Bytes and duration of the last transfer. Most transfers have the same size, so this saves a division.
    last: (u64, Exact),
    /// Present if the times of commands vary.
    rng: Option<Rng>,
}

impl Link {
    pub(crate) fn new(host: &Host, command_percent: f64, rng: Option<Rng>) -> Self {
        Self {
            overhead: host.command_overhead,
            latency: host.latency,
            rate: host.bandwidth,
            full_duplex: host.protocol == Protocol::Nvme,
            jitter: command_percent / 100.0,
            controller_free: Time::ZERO,
            buses: [Bus::default(); 2],
            last: (0, Exact::default()),
            rng,
        }
    }

    /// Books a command that arrives now. Returns the time at which the controller has processed it.
    #[inline]
    pub(crate) fn command(&mut self, now: Time) -> Time {
        let mut overhead = self.overhead;
        if let Some(rng) = &mut self.rng {
            let factor = (1.0 + self.jitter * rng.normal()).max(0.2);
            overhead = Dur((overhead.0 as f64 * factor) as u64);
        }
        self.controller_free = self.controller_free.max(now) + overhead;
        self.controller_free + self.latency
    }

    /// Returns the time from which the controller is free for another command.
    pub(crate) fn controller_free(&self) -> Time {
        self.controller_free
    }

    /// Books a transfer of data that is ready now. Returns the time at which it has arrived.
    #[inline]
    pub(crate) fn transfer(&mut self, way: Way, bytes: u64, now: Time) -> Time {
        let lane = usize::from(self.full_duplex && way == Way::Out);
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.transfer_exact(bytes));
        }
        let (_, end) = self.buses[lane].book(now, self.last.1);
        end.ceil()
    }

    /// Forgets everything in progress.
    pub(crate) fn clear(&mut self) {
        self.controller_free = Time::ZERO;
        self.buses = [Bus::default(); 2];
    }
}

//! Shared helpers: small devices, one that behaves like a real drive, and a source of latencies.

use fathom_base::{Dur, Rng, Time};
use fathom_block::devices::modelled_info;
use fathom_block::layers::Latencies;
use fathom_block::{Busy, Completion, Device, DeviceInfo, Op, RamDevice, Request, Zone};
use std::cell::RefCell;
use std::rc::Rc;

/// A mebibyte of RAM with queue depth 8.
pub(crate) fn ram(latency: Dur) -> RamDevice {
    let info = DeviceInfo {
        queue_depth: 8,
        ..modelled_info("ram", 1 << 20)
    };
    RamDevice::new(info, latency)
}

/// A device like a real drive: time also passes in `submit`, and `wait` returns late, with completions of several
/// instants at once.
pub(crate) struct RealLike<D> {
    inner: D,
    info: DeviceInfo,
    rng: Rng,
    came: Vec<Completion>,
    in_flight: u32,
}

impl<D: Device> RealLike<D> {
    pub(crate) fn new(inner: D) -> Self {
        let info = DeviceInfo {
            modelled: false,
            rotational: None,
            ..inner.info().clone()
        };
        Self {
            inner,
            info,
            rng: Rng::new(3, 0),
            came: Vec::new(),
            in_flight: 0,
        }
    }

    fn pass(&mut self, at_most: u64) {
        let until = self.inner.now() + Dur(self.rng.below(at_most));
        while self.inner.now() < until {
            self.inner.wait(until, &mut self.came);
        }
    }
}

impl<D: Device> Device for RealLike<D> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        self.pass(500);
        if self.in_flight >= self.info.queue_depth {
            return Err(Busy(request));
        }
        self.inner.submit(request)?;
        self.in_flight += 1;
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.inner.wait(self.inner.now(), &mut self.came);
        if self.came.is_empty() {
            self.inner.wait(until, &mut self.came);
        }
        self.pass(2000);
        self.in_flight -= self.came.len() as u32;
        done.append(&mut self.came);
    }

    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        self.inner.zones(from, count)
    }
}

/// A device that records the requests it receives: operation, offset and length.
pub(crate) struct Watched<D>(pub(crate) D, pub(crate) Rc<RefCell<Vec<(Op, u64, u64)>>>);

impl<D: Device> Device for Watched<D> {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn now(&self) -> Time {
        self.0.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let sent = (request.op, request.offset, request.len);
        self.1.borrow_mut().push(sent);
        self.0.submit(request)
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.0.wait(until, done);
    }
}

/// Latencies that identify their request: 1 us for the first, 2 us for the second, and so on up to 40 us. Also records
/// the queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbered {
    pub(crate) asked: Vec<(Op, u64, Time)>,
}

impl Latencies for Numbered {
    fn next(&mut self, op: Op, len: u64, now: Time) -> Dur {
        self.asked.push((op, len, now));
        Dur::us((self.asked.len() as u64 - 1) % 40 + 1)
    }
}

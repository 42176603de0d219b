//! A device that completes everything after a fixed time, over a store of bytes.

use crate::zoned::Zone;
use crate::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Request};
use fathom_base::{Dur, EventQueue, Time};

/// What a valid request brings back.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The bytes of a read.
    data: Option<Box<[u8]>>,
    /// Where an append went.
    placed: u64,
}

impl Served {
    /// A read of these bytes.
    pub fn read(data: Box<[u8]>) -> Self {
        Self {
            data: Some(data),
            placed: 0,
        }
    }

    /// An append that went to this offset.
    pub fn placed(placed: u64) -> Self {
        Self { data: None, placed }
    }
}

/// What a request does to the bytes of a device.
pub trait Serve {
    /// Executes a valid request.
    ///
    /// # Errors
    /// The reason why the request fails.
    fn serve(&mut self, request: &Request) -> Result<Served, IoErrorKind>;

    /// Returns up to `count` zones from the one that holds byte `from` on.
    fn zones(&self, _from: u64, _count: usize) -> Vec<Zone> {
        Vec::new()
    }
}

/// A device with a modelled clock and a bounded queue, whose requests take effect when they are submitted.
#[derive(Clone, Debug)]
pub struct Fixed<S> {
    info: DeviceInfo,
    latency: Dur,
    now: Time,
    /// The requests in flight in order of (time, submission).
    pending: EventQueue<Completion>,
    pub(super) served: S,
}

impl<S: Default> Fixed<S> {
    /// Creates a device with the properties `info` (its time is always modelled) that completes everything after
    /// `latency`.
    pub fn new(info: DeviceInfo, latency: Dur) -> Self {
        Self::over(S::default(), info, latency)
    }
}

impl<S> Fixed<S> {
    /// Creates a device over a store.
    pub(super) fn over(served: S, info: DeviceInfo, latency: Dur) -> Self {
        Self {
            info: DeviceInfo {
                modelled: true,
                rotational: Some(false),
                ..info
            },
            latency,
            now: Time::ZERO,
            pending: EventQueue::default(),
            served,
        }
    }

    /// The time of the next completion.
    pub(crate) fn next_completion(&self) -> Time {
        let next = self.pending.next_at();
        next.map_or(Time::MAX, |at| at.max(self.now))
    }
}

impl<S: Serve> Device for Fixed<S> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.pending.len() >= self.info.queue_depth as usize {
            return Err(Busy(request));
        }
        let served = self.info.check(&request).and_then(|()| {
            let served = self.served.serve(&request);
            served.map_err(|kind| request.error(kind))
        });
        let (result, Served { data, placed }) = match served {
            Ok(served) => (Ok(()), served),
            Err(error) => (Err(error), Served::default()),
        };
        let completed = self.now + self.latency;
        let completion = Completion {
            placed,
            ..Completion::of(&request, self.now..completed, result, data)
        };
        self.pending.push(completed, completion);
        Ok(())
    }

    /// Jumps to the next completion or to `until`.
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let until = until.max(self.now);
        match self.pending.next_at() {
            Some(at) => self.now = at.max(self.now).min(until),
            None if until == Time::MAX => {}
            None => self.now = until,
        }
        while self.pending.next_at().is_some_and(|at| at <= self.now) {
            done.extend(self.pending.pop().map(|(_, completion)| completion));
        }
    }
    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        self.served.zones(from, count)
    }
}

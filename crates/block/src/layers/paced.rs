//! Pacing: a limit on requests and on bytes per second, in the device's own time.
//!
//! Two token buckets in the form of the generic cell rate algorithm (ITU-T I.371): each keeps the time at which the work
//! already let through would end at the limit, and lets the next request through when that time is no further away
//! than the burst. Costs are in picoseconds and rounded up, so that the limit is never exceeded in the long run: what
//! passes in any span of time is at most the limit over that span, the burst and one nanosecond, and one request.
//!
//! Requests wait in order; none overtakes another. Every request counts as one; only reads and writes move bytes, and
//! a wrong request moves none. Latency includes the time spent waiting here.

use crate::{Busy, Completion, Contents, Device, DeviceInfo, IoError, Op, Request, RequestId};
use fathom_base::{Dur, Rate, Time};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

const PS_PER_S: u128 = 1_000_000_000_000;
const PS_PER_NS: u128 = 1_000;

/// How much may pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Requests per second; unlimited where absent.
    pub iops: Option<NonZeroU32>,
    /// Bytes per second; unlimited where absent.
    pub bandwidth: Option<Rate>,
    /// How much unused time may be saved up and spent at once; with zero, requests are evenly spaced.
    pub burst: Dur,
}

/// When the work let through so far ends at the limit, in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    ends_ps: u128,
}

impl Bucket {
    /// When the next request may pass.
    fn opens(self, burst: Dur) -> Time {
        let ps = self.ends_ps.saturating_sub(u128::from(burst.0) * PS_PER_NS);
        Time(u64::try_from(ps.div_ceil(PS_PER_NS)).unwrap_or(u64::MAX))
    }

    fn take(&mut self, now: Time, cost_ps: u128) {
        // A request passes on a whole nanosecond. The rest of the one before it was not idle: counted as such, it
        // would add up to a wrong rate.
        let idle_until_ps = u128::from(now.0.saturating_sub(1)) * PS_PER_NS;
        let starts_ps = match self.ends_ps > idle_until_ps {
            true => self.ends_ps,
            false => u128::from(now.0) * PS_PER_NS,
        };
        self.ends_ps = starts_ps + cost_ps;
    }
}

/// A device whose requests pass at a limited rate.
#[derive(Clone, Debug)]
pub struct Paced<D> {
    inner: D,
    limits: Limits,
    requests: Bucket,
    bytes: Bucket,
    waiting: VecDeque<Request>,
    /// When the requests that had to wait were submitted.
    submitted: BTreeMap<RequestId, Time>,
    in_flight: usize,
}

impl<D: Device> Paced<D> {
    /// Limits the rate of requests to `inner`.
    pub fn new(inner: D, limits: Limits) -> Self {
        Self {
            inner,
            limits,
            requests: Bucket::default(),
            bytes: Bucket::default(),
            waiting: VecDeque::new(),
            submitted: BTreeMap::new(),
            in_flight: 0,
        }
    }

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// When the next request may pass.
    fn opens(&self) -> Time {
        let burst = self.limits.burst;
        self.requests.opens(burst).max(self.bytes.opens(burst))
    }

    /// Pays for a request that passes now.
    fn pay(&mut self, bytes: u64) {
        let now = self.inner.now();
        if let Some(iops) = self.limits.iops {
            let cost_ps = PS_PER_S.div_ceil(u128::from(iops.get()));
            self.requests.take(now, cost_ps);
        }
        if let (Some(rate), 1..) = (self.limits.bandwidth, bytes) {
            let cost_ps =
                (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(rate.bytes_per_second()));
            self.bytes.take(now, cost_ps);
        }
    }

    /// Passes a request on and pays for it.
    fn pass(&mut self, request: Request) -> Result<(), Busy> {
        let moves =
            matches!(request.op, Op::Read | Op::Write) && self.inner.info().check(&request).is_ok();
        let bytes = if moves { request.len } else { 0 };
        self.inner.submit(request)?;
        self.pay(bytes);
        Ok(())
    }

    /// Passes on whatever may pass now; the number of requests.
    fn pass_waiting(&mut self) -> usize {
        let before = self.waiting.len();
        while self.opens() <= self.inner.now() {
            let Some(request) = self.waiting.pop_front() else {
                break;
            };
            if let Err(Busy(request)) = self.pass(request) {
                self.waiting.push_front(request);
                break;
            }
        }
        before - self.waiting.len()
    }

    /// How far the inner device may go before a request must be passed on. One that could pass and did not waits for
    /// the inner device's next completion.
    fn target(&self, until: Time) -> Time {
        let opens = self.opens();
        if self.waiting.is_empty() || opens <= self.inner.now() {
            return until;
        }
        opens.min(until)
    }

    /// Counts what completed and gives it the time at which it was submitted here.
    fn finish(&mut self, done: &mut [Completion]) {
        for completion in done {
            self.in_flight = self.in_flight.saturating_sub(1);
            if let Some(at) = self.submitted.remove(&completion.id) {
                completion.submitted = at;
            }
        }
    }
}

impl<D: Device> Device for Paced<D> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.inner.contents(offset, len)
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.in_flight >= self.inner.info().queue_depth as usize {
            return Err(Busy(request));
        }
        let now = self.inner.now();
        if self.waiting.is_empty() && self.opens() <= now {
            self.pass(request)?;
        } else {
            self.submitted.insert(request.id, now);
            self.waiting.push_back(request);
        }
        self.in_flight += 1;
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        if self.in_flight == 0 {
            return self.inner.wait(until, done);
        }
        let start = done.len();
        loop {
            let before = self.inner.now();
            self.pass_waiting();
            let target = self.target(until);
            self.inner.wait(target, done);
            // What passes at this instant may complete at this instant, and then belongs to the same batch.
            if self.pass_waiting() > 0 {
                self.inner.wait(self.inner.now(), done);
            }
            if done.len() > start {
                return self.finish(&mut done[start..]);
            }
            let now = self.inner.now();
            // An inner device that has lost a request must not turn this into an endless loop.
            if now >= until || target == Time::MAX || now == before {
                return;
            }
        }
    }
}

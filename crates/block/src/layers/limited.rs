//! Token buckets: limits the operations and the bytes per second of a device, as the volumes of clouds and the throttling
//! of hypervisors do.
//!
//! Each limit is a bucket of tokens that is filled at the limit's rate up to its burst. A read or write takes its tokens
//! from both buckets when it starts; without them it waits. Requests start in order of submission, so those behind a
//! waiting one wait, too. Flush, TRIM and invalid requests take no tokens. A request of more tokens than a bucket holds
//! starts when the bucket is full, and leaves a debt that is paid before the next one starts. The sustained rate is
//! therefore the limit for requests of every length.
//!
//! Zones change when a request is submitted, also where it waits ([`crate::zoned`]): the layer follows them on its own, and
//! reports those of the device while nothing waits. A zone that the device itself makes read-only meanwhile is seen then.
//!
//! Differences from volumes of clouds: adjacent requests are not counted as one operation, and a volume's bucket of
//! credits that raises its rate for minutes is one bucket here, whose burst starts at the speed of the device.

use super::limit::{Bucket, Limit};
use crate::devices::Zones;
use crate::{
    Busy, Completion, Contents, Device, DeviceInfo, DriveLog, IoError, Op, Request, RequestId, Zone,
};
use fathom_base::{Dur, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// The buckets of a device, and the requests that wait for them.
#[derive(Clone, Debug)]
struct Throttle {
    limit: Limit,
    operations: Option<Bucket>,
    bytes: Option<Bucket>,
    waiting: VecDeque<Request>,
    /// Times of submission of the requests that had to wait.
    submitted: BTreeMap<RequestId, Time>,
    /// Requests that are not complete, those that wait included.
    in_flight: usize,
    /// True if the device has refused the first waiting request: it cannot start before a completion.
    blocked: bool,
    /// The zones of a zoned device with the effect of everything submitted, those that wait included.
    zones: Option<Zones>,
}

impl Throttle {
    fn new(limit: &Limit, now: Time) -> Self {
        let operations = limit.operations_per_second;
        let bytes = limit.bandwidth.map(Rate::bytes_per_second);
        let burst = limit.bandwidth_burst.map(|burst| burst.0);
        Self {
            operations: operations.map(|rate| Bucket::full(rate, limit.operations_burst, now)),
            bytes: bytes.map(|rate| Bucket::full(rate, burst, now)),
            limit: limit.clone(),
            waiting: VecDeque::new(),
            submitted: BTreeMap::new(),
            in_flight: 0,
            blocked: false,
            zones: None,
        }
    }

    /// Changes the zones as a submitted request does.
    fn enter(&mut self, info: &DeviceInfo, request: &Request) {
        if let Some(zones) = &mut self.zones
            && info.check(request).is_ok()
        {
            // The device itself tells of an error.
            let _ = zones.execute(request);
        }
    }

    /// Returns true if a request takes tokens.
    fn counts(info: &DeviceInfo, request: &Request) -> bool {
        matches!(request.op, Op::Read | Op::Write | Op::Append) && info.check(request).is_ok()
    }

    /// Returns the time at which a request may start. A model's time ends at [`Time::END`]; the device then fails it.
    fn ready(&mut self, info: &DeviceInfo, request: &Request, now: Time) -> Time {
        if !Self::counts(info, request) {
            return now;
        }
        let operations = self.limit.operations(request.len);
        let mut ready = now;
        for (bucket, tokens) in [
            (&mut self.operations, operations),
            (&mut self.bytes, request.len),
        ] {
            if let Some(bucket) = bucket {
                bucket.refill(now);
                ready = ready.max(bucket.ready(tokens));
            }
        }
        ready.min(Time::END.max(now))
    }

    /// Takes the tokens of a request.
    fn take(&mut self, len: u64) {
        let operations = self.limit.operations(len);
        if let Some(bucket) = &mut self.operations {
            bucket.take(operations);
        }
        if let Some(bucket) = &mut self.bytes {
            bucket.take(len);
        }
    }

    /// Returns the time at which the first waiting request may start; [`Time::MAX`] if none waits for tokens.
    fn next(&mut self, info: &DeviceInfo, now: Time) -> Time {
        match self.waiting.pop_front() {
            Some(request) => {
                let ready = self.ready(info, &request, now);
                self.waiting.push_front(request);
                if self.blocked { Time::MAX } else { ready }
            }
            None => Time::MAX,
        }
    }

    /// Records completions, and restores their times of submission.
    fn note(&mut self, done: &mut [Completion]) {
        self.in_flight = self.in_flight.saturating_sub(done.len());
        self.blocked &= done.is_empty();
        if self.submitted.is_empty() {
            return;
        }
        for completion in done {
            if let Some(submitted) = self.submitted.remove(&completion.id) {
                completion.submitted = submitted;
            }
        }
    }
}

/// A device with limits; without any it costs nothing.
#[derive(Clone, Debug)]
pub struct Limited<D> {
    inner: D,
    throttle: Option<Box<Throttle>>,
}

impl<D: Device> Limited<D> {
    /// Adds limits to `inner`, whose buckets are full at first. The limits must have passed [`Limit::check`].
    pub fn new(inner: D, limit: Option<&Limit>) -> Self {
        let throttle = limit.map(|limit| Box::new(Throttle::new(limit, inner.now())));
        let mut limited = Self { inner, throttle };
        limited.look_at_zones();
        limited
    }

    /// Returns the inner device.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    pub(crate) fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }

    /// Replaces the inner device by one that is made of it.
    #[must_use]
    pub fn map<E>(self, change: impl FnOnce(D) -> E) -> Limited<E> {
        Limited {
            inner: change(self.inner),
            throttle: self.throttle,
        }
    }

    /// Returns the time at which a waiting request starts; [`Time::MAX`] if none waits for tokens.
    pub(crate) fn next_start(&mut self) -> Time {
        let now = self.inner.now();
        match &mut self.throttle {
            Some(throttle) => throttle.next(self.inner.info(), now),
            None => Time::MAX,
        }
    }

    /// Takes over the zones of a zoned device, whose requests all have reached it.
    fn look_at_zones(&mut self) {
        if let Some(throttle) = &mut self.throttle
            && self.inner.info().zoned.is_some()
        {
            let mut zones = Zones::new(self.inner.info());
            zones.adopt(&self.inner.zones(0, usize::MAX));
            throttle.zones = Some(zones);
        }
    }

    /// Starts the waiting requests that have their tokens.
    fn start(&mut self) {
        let Some(throttle) = &mut self.throttle else {
            return;
        };
        while !throttle.blocked
            && let Some(request) = throttle.waiting.pop_front()
        {
            let now = self.inner.now();
            if throttle.ready(self.inner.info(), &request, now) > now {
                throttle.waiting.push_front(request);
                return;
            }
            let tokens = Throttle::counts(self.inner.info(), &request).then_some(request.len);
            match self.inner.submit(request) {
                Ok(()) => {
                    if let Some(len) = tokens {
                        throttle.take(len);
                    }
                }
                Err(Busy(request)) => {
                    throttle.waiting.push_front(request);
                    throttle.blocked = true;
                }
            }
        }
    }
}

impl<D: Device> Device for Limited<D> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    #[inline]
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        match self.throttle {
            None => self.inner.submit(request),
            Some(_) => self.submit_limited(request),
        }
    }

    #[inline]
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        match self.throttle {
            None => self.inner.wait(until, done),
            Some(_) => self.wait_limited(until, done),
        }
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.inner.contents(offset, len)
    }

    fn log(&mut self) -> Option<DriveLog> {
        self.inner.log()
    }

    /// Requests that wait have changed no zone of the device yet, and are to be seen all the same.
    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        match &self.throttle {
            Some(throttle) if !throttle.waiting.is_empty() => {
                let zones = throttle.zones.as_ref();
                zones.map_or(Vec::new(), |zones| zones.report(from, count))
            }
            _ => self.inner.zones(from, count),
        }
    }

    fn host_time(&self) -> Option<Dur> {
        self.inner.host_time()
    }
}

impl<D: Device> Limited<D> {
    fn submit_limited(&mut self, request: Request) -> Result<(), Busy> {
        let now = self.inner.now();
        let Some(throttle) = &mut self.throttle else {
            return self.inner.submit(request);
        };
        if throttle.in_flight >= self.inner.info().queue_depth as usize {
            return Err(Busy(request));
        }
        let id = request.id;
        throttle.enter(self.inner.info(), &request);
        throttle.in_flight += 1;
        throttle.waiting.push_back(request);
        self.start();
        if let Some(throttle) = &mut self.throttle
            && !throttle.waiting.is_empty()
        {
            throttle.submitted.insert(id, now);
        }
        Ok(())
    }

    fn wait_limited(&mut self, until: Time, done: &mut Vec<Completion>) {
        loop {
            self.start();
            let info = self.inner.info();
            let before = self.inner.now();
            let Some(throttle) = &mut self.throttle else {
                return self.inner.wait(until, done);
            };
            let target = throttle.next(info, before).min(until);
            let first = done.len();
            self.inner.wait(target, done);
            throttle.note(&mut done[first..]);
            let now = self.inner.now();
            // Without progress the inner device has lost a request, or waits for one.
            let stuck = target == Time::MAX || now == before;
            if done.len() > first || now >= until || stuck {
                // A real device works on while its completions are handled.
                return self.start();
            }
        }
    }
}

//! Kyber: limits requests in flight to meet a latency target, separately for reads and writes.
//!
//! Linux 6.x, `block/kyber-iosched.c`, and Documentation/block/kyber-iosched.rst. Reads and writes are each a *domain*,
//! which has a number of tokens; a request in flight holds one. Domains take turns in batches and are first come, first
//! served within. Latencies are counted in quarters of the target, up to twice the target, separately for the time
//! since dispatch and since arrival. The tokens are adjusted 100 ms after the first completion that found no timer
//! running. If the 90th percentile since dispatch is above the target in any domain, the drive is congested: the tokens
//! of every domain are multiplied by its 99th percentile since arrival over its target, which gives fewer tokens to a
//! domain that meets its target. Otherwise only domains that miss their target get more.
//!
//! As in Linux, a percentile needs 500 samples or a second, and the two percentiles of a domain share that second: with
//! fewer than 500 samples the 90th uses it up, and the 99th waits for the next second or for 500 samples.
//!
//! Left out: the domains "discard" and "other", since trims and flushes never reach a scheduler; queues for each
//! processor, so there is one queue and one batch. The depths and batch sizes are constants, as in Linux.

use super::Fifo;
use crate::scheduler::Policy;
use crate::{Era, Io, IoKey, Merging, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys, want};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About = About::new(
    "first come, first served for reads and for writes; limits requests in flight to meet a latency target",
);

keys! {
    /// The tunables of Linux, there called `read_lat_nsec` and `write_lat_nsec`, with their defaults.
    pub struct Tunables {
        /// Target latency of reads. Not 0.
        pub read_lat: Dur = Dur::ms(2),
        /// Target latency of writes. Not 0.
        pub write_lat: Dur = Dur::ms(10),
    }
}

impl Policy for Tunables {
    /// Covers the queue ahead of a request, or a batch of each kind.
    const STARVATION: Dur = Dur::ms(50);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Kyber::new(self)?))
    }
}

const DOMAINS: usize = 2;
/// Maximum number of tokens of a domain: `kyber_depth`.
const DEPTH: [u32; DOMAINS] = [256, 128];
/// Maximum number of requests of a domain in a row: `kyber_batch_size`.
const BATCH: [u32; DOMAINS] = [16, 8];
/// Number of buckets up to the target, and the same number above it: `KYBER_GOOD_BUCKETS`.
const GOOD: u32 = 4;
const BUCKETS: usize = 2 * GOOD as usize;
/// Number of samples that suffices for a percentile.
const SAMPLES: u32 = 500;
/// Maximum time that a percentile waits for that number of samples.
const PATIENCE: Dur = Dur::ms(1_000);
/// Time from a completion to the adjustment.
const PERIOD: Dur = Dur::ms(100);

/// A histogram of latencies in quarters of the target; the last bucket holds everything above seven quarters.
#[derive(Clone, Debug, Default)]
struct Histogram([u32; BUCKETS]);

impl Histogram {
    fn add(&mut self, latency: Dur, target: Dur) {
        let width = (target.0 / u64::from(GOOD)).max(1);
        let bucket = latency.0.saturating_sub(1) / width;
        self.0[(bucket as usize).min(BUCKETS - 1)] += 1;
    }

    /// Returns the bucket of a percentile and empties the histogram.
    fn take(&mut self, percentile: u32) -> u32 {
        let samples: u32 = self.0.iter().sum();
        let mut rank = (samples * percentile).div_ceil(100);
        let buckets = std::mem::take(&mut self.0);
        for (bucket, count) in (0..).zip(&buckets[..BUCKETS - 1]) {
            if *count >= rank {
                return bucket;
            }
            rank -= count;
        }
        BUCKETS as u32 - 1
    }
}

#[derive(Clone, Debug)]
struct Domain {
    queue: Fifo,
    target: Dur,
    /// Maximum and present number of requests in flight.
    tokens: u32,
    in_flight: u32,
    from_dispatch: Histogram,
    from_arrival: Histogram,
    /// When a percentile is taken even of fewer samples.
    timeout: Option<Time>,
    /// The last 99th percentile, if it was not used yet.
    p99: Option<u32>,
}

/// Selects one of the two histograms of a domain.
#[derive(Clone, Copy)]
enum From {
    Dispatch,
    Arrival,
}

impl Domain {
    fn new(target: Dur, tokens: u32) -> Self {
        Self {
            queue: Fifo::default(),
            target,
            tokens,
            in_flight: 0,
            from_dispatch: Histogram::default(),
            from_arrival: Histogram::default(),
            timeout: None,
            p99: None,
        }
    }

    /// Returns a percentile if there are enough samples or the wait for them is over.
    fn percentile(&mut self, from: From, percentile: u32, now: Time) -> Option<u32> {
        let histogram = match from {
            From::Dispatch => &mut self.from_dispatch,
            From::Arrival => &mut self.from_arrival,
        };
        let samples: u32 = histogram.0.iter().sum();
        if samples == 0 {
            return None;
        }
        let timeout = *self.timeout.get_or_insert(now + PATIENCE);
        if samples < SAMPLES && now < timeout {
            return None;
        }
        self.timeout = None;
        Some(histogram.take(percentile))
    }

    fn adjust(&mut self, congested: bool, most: u32, now: Time) {
        let mut p99 = self.percentile(From::Arrival, 99, now);
        if congested {
            p99 = p99.or(self.p99);
            self.p99 = None;
        } else if p99.is_some() {
            self.p99 = p99;
        }
        if let Some(p99) = p99
            && (congested || p99 >= GOOD)
        {
            self.tokens = (self.tokens * (p99 + 1) / GOOD).clamp(1, most);
        }
    }
}

/// The scheduler Kyber; see the module.
#[derive(Clone, Debug)]
pub struct Kyber {
    domains: [Domain; DOMAINS],
    current: usize,
    batching: u32,
    /// When the tokens are adjusted next.
    timer: Option<Time>,
    /// The dispatch time of each request, by key.
    dispatched: Vec<Time>,
}

impl Kyber {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// [`BadValue`] if a target is 0.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        let targets = [
            ("read_lat", tunables.read_lat),
            ("write_lat", tunables.write_lat),
        ];
        for (key, target) in targets {
            let why = || "it must be above 0, for no request takes no time".into();
            want(target > Dur::ZERO, key, 0, why)?;
        }
        Ok(Self {
            domains: [0, 1].map(|domain| Domain::new(targets[domain].1, DEPTH[domain])),
            current: 0,
            batching: 0,
            timer: None,
            dispatched: Vec::new(),
        })
    }

    /// Adjusts the tokens if the timer has expired, as of the time of the timer.
    fn adjust_if_due(&mut self, now: Time) {
        let Some(at) = self.timer.filter(|&at| at <= now) else {
            return;
        };
        self.timer = None;
        let mut congested = false;
        for domain in &mut self.domains {
            let p90 = domain.percentile(From::Dispatch, 90, at);
            congested |= p90.is_some_and(|p90| p90 >= GOOD);
        }
        for (domain, most) in self.domains.iter_mut().zip(DEPTH) {
            domain.adjust(congested, most, at);
        }
    }

    /// Takes the next request of the current domain, if a token is free.
    fn next_of_current(&mut self, now: Time) -> Option<Io> {
        let domain = &mut self.domains[self.current];
        if domain.in_flight >= domain.tokens {
            return None;
        }
        let io = domain.queue.pop()?;
        domain.in_flight += 1;
        self.batching += 1;
        let index = io.key.0 as usize;
        if self.dispatched.len() <= index {
            self.dispatched.resize(index + 1, Time::ZERO);
        }
        self.dispatched[index] = now;
        Some(io)
    }

    fn dispatched_at(&self, key: IoKey, otherwise: Time) -> Time {
        let at = self.dispatched.get(key.0 as usize);
        at.copied().unwrap_or(otherwise)
    }
}

fn domain_of(io: &Io) -> usize {
    usize::from(io.is_write())
}

impl Scheduler for Kyber {
    fn insert(&mut self, _now: Time, io: Io) {
        self.domains[domain_of(&io)].queue.push(io);
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        if let Some(held) = self.domains[domain_of(before)].queue.get_mut(before.key) {
            *held = io;
        }
    }

    fn remove(&mut self, io: &Io) {
        self.domains[domain_of(io)].queue.take(io.key);
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        self.adjust_if_due(now);
        if self.batching < BATCH[self.current]
            && let Some(io) = self.next_of_current(now)
        {
            return Some(io);
        }
        self.batching = 0;
        for _ in 0..DOMAINS {
            self.current = (self.current + 1) % DOMAINS;
            if let Some(io) = self.next_of_current(now) {
                return Some(io);
            }
        }
        None
    }

    fn completed(&mut self, now: Time, io: &Io) {
        // A request that completes at the time of the timer counts for the next adjustment.
        self.adjust_if_due(now);
        let dispatched = self.dispatched_at(io.key, now);
        let domain = &mut self.domains[domain_of(io)];
        domain.in_flight = domain.in_flight.saturating_sub(1);
        let target = domain.target;
        domain.from_dispatch.add(now.since(dispatched), target);
        domain.from_arrival.add(now.since(io.queued), target);
        self.timer.get_or_insert(now + PERIOD);
    }

    /// The adjustment may allow more requests, but only while others are in flight.
    fn next_timer(&self) -> Option<Time> {
        self.timer.filter(|_| !self.is_empty())
    }

    fn era(&self) -> Era {
        Era::Multi
    }

    /// `kyber_limit_depth`, `KYBER_ASYNC_PERCENT` (6.18): a quarter of the requests is reserved for sync ones.
    fn limit(&self, requests: u32, sync: bool) -> u32 {
        match sync {
            true => requests,
            false => (u64::from(requests) * 75 / 100).max(1) as u32,
        }
    }

    fn merging(&self) -> Merging {
        Merging::Latest { of_kind: true }
    }

    fn len(&self) -> usize {
        self.domains.iter().map(|domain| domain.queue.len()).sum()
    }
}

#[cfg(test)]
mod tests;

//! What is measured while a workload plays: response times, throughput, a timeline; in constant memory.

use crate::figures::{Bucket, Distribution, Process, Quantile, Side, Totals, Waiting};
use crate::observer::{Moment, Observer, Played};
use fathom_base::{Dur, Time};
use fathom_block::{DriveStats, Op};
use fathom_stats::batches::Batches;
use hdrhistogram::Histogram;

/// When neighbouring buckets of the timeline are joined.
const BUCKETS_MAX: usize = 512;
/// The width of a bucket at first, in nanoseconds.
const BUCKET_NS: u64 = 1_000;
/// So many processes have a timeline of their own: more lines than that tell nothing.
const TIMELINES_MAX: usize = 16;
/// Significant decimal digits of a quantile.
const DIGITS: u8 = 3;

/// How far the tail of a distribution goes: 1 access in 10 to the power of this.
const TAIL_DECADES: i32 = 6;

/// Takes every access of a run that counts, besides the figures: a file, say.
pub trait Sink {
    /// Takes an access of a run that began at `start`; false where it takes no more, which ends the run.
    fn push(&mut self, start: Time, played: &Played) -> bool;
}

/// Response times of one kind of access.
struct Times {
    histogram: Histogram<u64>,
    batches: Batches,
    bytes: u64,
    service_ns: u128,
    max_ns: u64,
}

impl Times {
    fn new() -> Self {
        Self {
            histogram: histogram(),
            batches: Batches::default(),
            bytes: 0,
            service_ns: 0,
            max_ns: 0,
        }
    }

    fn add(&mut self, played: &Played) {
        let response = played.completed.since(played.asked).0;
        // The histogram resizes itself; it refuses no value of 63 bits.
        let _ = self.histogram.record(response);
        self.batches.push(response as f64);
        self.bytes += played.access.len;
        self.service_ns += u128::from(played.completed.since(played.submitted).0);
        self.max_ns = self.max_ns.max(response);
    }

    fn count(&self) -> u64 {
        self.batches.count()
    }

    fn side(&self) -> Option<Side> {
        let count = self.batches.count();
        let at = |quantile| self.quantile(quantile);
        Some(Side {
            count,
            bytes: self.bytes,
            response_ns: self.batches.interval()?,
            service_mean_ns: self.service_ns as f64 / count as f64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.max_ns,
        })
    }
}

impl Times {
    /// The histogram gives the upper end of a step, which the longest may not reach.
    fn quantile(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.max_ns)
    }

    /// Every twentieth of the accesses, then the tail: a decade in three steps, while it holds an access.
    fn distribution(&self) -> Vec<Quantile> {
        let count = self.batches.count();
        let body = (0..19).map(|i| f64::from(i) / 20.0);
        let tail = (1..=TAIL_DECADES).flat_map(|decade| {
            let share = 10_f64.powi(-decade);
            [0.5, 0.2, 0.1].map(|part| 1.0 - part * share)
        });
        let held = |share: &f64| count as f64 * (1.0 - share) >= 1.0;
        let last = (count > 0).then_some(1.0);
        let shares = body.chain(tail).filter(held).chain(last);
        shares
            .map(|share| Quantile {
                share,
                ns: self.quantile(share),
            })
            .collect()
    }
}

/// A histogram that grows as far as it must.
#[allow(
    clippy::expect_used,
    reason = "it fails for more than five digits only"
)]
fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("three digits are allowed")
}

/// Measures a run.
pub struct Recorder<'a> {
    start: Time,
    last: Time,
    reads: Times,
    writes: Times,
    all: Times,
    flushes: Times,
    trims: Times,
    /// By process.
    processes: Vec<Process>,
    /// What was done before the first access that counts.
    before: Moment,
    /// How long the device was busy before that, and until now.
    busy: (Dur, Dur),
    /// The first time from which on anything counts, as long as nothing did.
    first: Option<Time>,
    any: bool,
    buckets: Vec<Bucket>,
    bucket_ns: u64,
    sink: Option<&'a mut dyn Sink>,
    full: bool,
    stop: fn() -> bool,
    seen: Option<&'a dyn Fn(u64)>,
    done: u64,
    told: Time,
}

/// How many accesses are done between two that are told, at most, and how much of the drive's time goes by.
const TOLD_EVERY: (u64, Dur) = (1 << 10, Dur::ms(100));

impl<'a> Recorder<'a> {
    /// Tells how many accesses are done, now and then.
    pub fn telling(mut self, seen: Option<&'a dyn Fn(u64)>) -> Self {
        self.seen = seen;
        self
    }

    /// Tells how many accesses are done, where it is time.
    fn tell(&mut self, now: Time) {
        let Some(seen) = self.seen else {
            return;
        };
        let (accesses, time) = TOLD_EVERY;
        if self.done.is_multiple_of(accesses) || now.since(self.told) >= time {
            self.told = now;
            seen(self.done);
        }
    }

    /// A recorder that has seen nothing. `stop` is asked now and then whether to give up.
    pub fn new(stop: fn() -> bool) -> Self {
        Self {
            start: Time::ZERO,
            last: Time::ZERO,
            reads: Times::new(),
            writes: Times::new(),
            all: Times::new(),
            flushes: Times::new(),
            trims: Times::new(),
            processes: Vec::new(),
            before: Moment::default(),
            busy: (Dur::ZERO, Dur::ZERO),
            first: None,
            any: false,
            buckets: Vec::with_capacity(BUCKETS_MAX),
            bucket_ns: BUCKET_NS,
            sink: None,
            full: false,
            stop,
            seen: None,
            done: 0,
            told: Time::ZERO,
        }
    }

    /// Hands every access that counts on, too.
    pub fn keep(mut self, sink: &'a mut dyn Sink) -> Self {
        self.sink = Some(sink);
        self
    }

    fn process(&mut self, played: &Played, stretch: usize) {
        let index = played.process as usize;
        if self.processes.len() <= index {
            self.processes.resize(index + 1, Process::default());
        }
        let process = &mut self.processes[index];
        let response = played.completed.since(played.asked).0;
        process.count += 1;
        process.bytes += played.access.len;
        if index < TIMELINES_MAX {
            if process.timeline.len() <= stretch {
                process.timeline.resize(stretch + 1, 0);
            }
            process.timeline[stretch] += played.access.len;
        }
        process.response_ns += response;
        process.max_ns = process.max_ns.max(response);
        process.finished = process.finished.max(played.completed.since(self.start));
    }

    /// Which stretch of the timeline a time is in. Stretches are joined until it is one of them.
    fn stretch(&mut self, at: Time) -> usize {
        let since = at.since(self.start).0;
        while since / self.bucket_ns >= BUCKETS_MAX as u64 {
            let buckets = self.buckets.chunks(2);
            self.buckets = buckets.map(|pair| pair[0].join(pair.get(1))).collect();
            for process in &mut self.processes {
                let pairs = process.timeline.chunks(2);
                process.timeline = pairs.map(|pair| pair.iter().sum()).collect();
            }
            self.bucket_ns *= 2;
        }
        (since / self.bucket_ns) as usize
    }

    fn bucket(&mut self, index: usize) -> &mut Bucket {
        while self.buckets.len() <= index {
            let before = self.buckets.last().map(|b| (b.drive, b.queue));
            let (drive, queue) = before.unwrap_or_else(|| {
                let queue = self.before.queue.as_ref().map(Waiting::of);
                (self.before.drive.unwrap_or_default(), queue)
            });
            self.buckets.push(Bucket {
                drive,
                queue,
                ..Bucket::default()
            });
        }
        &mut self.buckets[index]
    }

    /// Whether an access counts. What is done while its process warms up (`ramp_time` of fio) does not; the run begins where
    /// the first of its processes is warm.
    fn counts(&mut self, played: &Played, moment: &dyn Fn() -> Moment) -> bool {
        let counts = played.completed >= played.counts;
        if !self.any {
            let first = self
                .first
                .map_or(played.counts, |first| first.min(played.counts));
            self.first = Some(first);
            match counts {
                true => {
                    self.any = true;
                    (self.start, self.last) = (self.start.max(first), self.last.max(first));
                }
                false => {
                    self.before = moment();
                    self.busy.0 = played.busy;
                }
            }
        }
        counts
    }

    /// What the drive had done before the first access that counts.
    pub fn before(&self) -> Option<DriveStats> {
        self.before.drive
    }

    /// The figures of the run.
    pub fn finish(self) -> Totals {
        Totals {
            all: self.all.side(),
            reads: self.reads.side(),
            writes: self.writes.side(),
            distribution: Distribution {
                all: self.all.distribution(),
                reads: self.reads.distribution(),
                writes: self.writes.distribution(),
            },
            others: self.flushes.count() + self.trims.count(),
            flushes: self.flushes.side(),
            trims: self.trims.side(),
            processes: if self.processes.len() > 1 {
                self.processes
            } else {
                Vec::new()
            },
            duration: self.last.since(self.start),
            busy: Dur(self.busy.1.0.saturating_sub(self.busy.0.0)),
            bucket: Dur(self.bucket_ns),
            timeline: self.buckets,
        }
    }
}

impl Observer for Recorder<'_> {
    fn begin(&mut self, start: Time, moment: Moment) {
        (self.start, self.last) = (start, start);
        self.before = moment;
    }

    fn played(&mut self, played: &Played, moment: &dyn Fn() -> Moment) {
        self.done += 1;
        self.tell(played.completed);
        if !self.counts(played, moment) {
            return;
        }
        self.last = self.last.max(played.completed);
        self.busy.1 = played.busy;
        match played.access.op {
            Op::Read => self.reads.add(played),
            Op::Write => self.writes.add(played),
            Op::Flush => self.flushes.add(played),
            Op::Trim => self.trims.add(played),
        }
        if matches!(played.access.op, Op::Read | Op::Write) {
            self.all.add(played);
        }
        let response = played.completed.since(played.asked).0;
        let bytes = played.access.len;
        let stretch = self.stretch(played.completed);
        let before = self.buckets.len();
        self.process(played, stretch);
        let bucket = self.bucket(stretch);
        bucket.count += 1;
        bucket.bytes += bytes;
        bucket.response_ns += response;
        bucket.max_ns = bucket.max_ns.max(response);
        if self.buckets.len() > before.max(1) {
            // What the drive has done until a new bucket begins.
            let moment = moment();
            if let Some(last) = self.buckets.last_mut() {
                last.drive = moment.drive.unwrap_or_default();
                last.queue = moment.queue.as_ref().map(Waiting::of);
            }
        }
        if let Some(sink) = &mut self.sink {
            self.full |= !sink.push(self.start, played);
        }
    }

    fn interrupted(&self) -> bool {
        self.full || (self.stop)()
    }
}

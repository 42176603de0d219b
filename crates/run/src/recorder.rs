//! Measurements during a run: response times, throughput and a timeline, in constant memory.

use crate::figures::{Bucket, Distribution, Process, Totals, Waiting};
use crate::observer::{Moment, Observer, Played};
use crate::times::{Kinds, Took};
use fathom_base::{Dur, Time};
use fathom_block::{Access, DriveStats, Op};
use std::iter;

/// Maximum number of buckets in the timeline; above it, neighbouring buckets are joined.
const BUCKETS_MAX: usize = 512;
/// Initial width of a bucket, in nanoseconds.
const BUCKET_NS: u64 = 1_000;
/// Number of processes that get a timeline of their own: more lines cannot be told apart.
const TIMELINES_MAX: usize = 16;
/// Receives every access that counts in the figures, for example to write a file.
pub trait Sink {
    /// Takes an access of a run that began at `start`. Returning false ends the run.
    fn push(&mut self, start: Time, played: &Played) -> bool;
}

/// Measures a run.
pub struct Recorder<'a> {
    start: Time,
    last: Time,
    kinds: Kinds,
    /// Figures by process.
    processes: Vec<Process>,
    /// The work done before the first access that counts.
    before: Moment,
    /// Busy time of the device before that access, and until now.
    busy: (Dur, Dur),
    /// The earliest time from which an access may count, until one does.
    first: Option<Time>,
    any: bool,
    buckets: Vec<Bucket>,
    bucket_ns: u64,
    /// Begin and index of the bucket that was looked up last.
    latest: (u64, usize),
    sink: Option<&'a mut dyn Sink>,
    full: bool,
    stop: fn() -> bool,
    seen: Option<&'a dyn Fn(u64)>,
    done: u64,
    told: Time,
    /// Ordinary accesses that are not in the figures yet; all belong to the latest bucket.
    noted: Vec<Noted>,
}

/// A read or write of the first process that completed in the latest bucket.
#[derive(Clone, Copy)]
struct Noted {
    asked: Time,
    completed: Time,
    took: Took,
    op: Op,
}

/// Ordinary accesses enter the figures in groups of this size, so that the sums stay in registers. Together with the counts by
/// step ([`crate::tally`]) it took the recorder's part of an access from 292 to 232 instructions.
const GROUP: usize = 64;

/// The progress callback is called after this number of accesses, or after this time on the drive's clock.
const TOLD_EVERY: (u64, Dur) = (1 << 10, Dur::ms(100));

impl<'a> Recorder<'a> {
    /// Sets a callback that gets the number of completed accesses from time to time.
    pub fn telling(mut self, seen: Option<&'a dyn Fn(u64)>) -> Self {
        self.seen = seen;
        self
    }

    /// Calls the progress callback if it is due.
    #[inline]
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

    /// Creates an empty recorder. `stop` is called from time to time and returns true to end the run.
    pub fn new(stop: fn() -> bool) -> Self {
        Self {
            start: Time::ZERO,
            last: Time::ZERO,
            kinds: Kinds::default(),
            processes: Vec::new(),
            before: Moment::default(),
            busy: (Dur::ZERO, Dur::ZERO),
            first: None,
            any: false,
            buckets: Vec::with_capacity(BUCKETS_MAX),
            bucket_ns: BUCKET_NS,
            latest: (0, 0),
            sink: None,
            full: false,
            stop,
            seen: None,
            done: 0,
            told: Time::ZERO,
            noted: Vec::with_capacity(GROUP),
        }
    }

    /// Passes every access that counts to `sink` as well.
    pub fn keep(mut self, sink: &'a mut dyn Sink) -> Self {
        self.sink = Some(sink);
        self
    }

    fn process(&mut self, played: &Played, response: u64, stretch: usize) {
        let index = played.process as usize;
        if self.processes.len() <= index {
            self.processes.resize(index + 1, Process::default());
        }
        let process = &mut self.processes[index];
        let asked = played.asked.since(self.start);
        process.began = match process.count {
            0 => asked,
            _ => process.began.min(asked),
        };
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

    /// Returns the index of the bucket for a time. Joins buckets until the time fits into the timeline.
    fn stretch(&mut self, at: Time) -> usize {
        let since = at.since(self.start).0;
        // The division takes longer than all else here, and most accesses are in the same bucket as the one before.
        let (from, index) = self.latest;
        if since.wrapping_sub(from) < self.bucket_ns {
            return index;
        }
        while since / self.bucket_ns >= BUCKETS_MAX as u64 {
            let buckets = self.buckets.chunks(2);
            self.buckets = buckets.map(|pair| pair[0].join(pair.get(1))).collect();
            for process in &mut self.processes {
                let pairs = process.timeline.chunks(2);
                process.timeline = pairs.map(|pair| pair.iter().sum()).collect();
            }
            self.bucket_ns *= 2;
        }
        let index = since / self.bucket_ns;
        self.latest = (index * self.bucket_ns, index as usize);
        self.latest.1
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

    /// Returns whether an access counts. Accesses in the warm-up of their process (`ramp_time` of fio) do not. The run
    /// begins when the first of its processes is warm.
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
                    // Only the part of a busy period that lies behind the start.
                    let since = played.completed.since(self.start);
                    let until = Dur(played.busy.0.saturating_sub(since.0));
                    self.busy.0 = self.busy.0.max(until);
                }
                false => {
                    self.before = moment();
                    self.busy.0 = played.busy;
                }
            }
        }
        counts
    }

    /// The work of the drive before the first access that counts.
    pub fn before(&self) -> Option<DriveStats> {
        self.before.drive
    }

    /// Takes any access.
    fn played_closely(&mut self, played: &Played, moment: &dyn Fn() -> Moment) {
        self.enter();
        let nothing;
        let played = match played.access.op {
            Op::Zone(_) => {
                nothing = transfers_nothing(played);
                &nothing
            }
            _ => played,
        };
        self.done += 1;
        self.tell(played.completed);
        if !self.counts(played, moment) {
            return;
        }
        self.last = self.last.max(played.completed);
        self.busy.1 = played.busy;
        let took = Took::of(played);
        self.kinds.add(played.access.op, iter::once(took));
        let stretch = self.stretch(played.completed);
        let before = self.buckets.len();
        self.process(played, took.response, stretch);
        let bucket = self.bucket(stretch);
        bucket.count += 1;
        bucket.bytes += took.bytes;
        bucket.response_ns += took.response;
        bucket.max_ns = bucket.max_ns.max(took.response);
        if self.buckets.len() > before.max(1) {
            // The work of the drive until a new bucket begins.
            let moment = moment();
            if let Some(last) = self.buckets.last_mut() {
                last.drive = moment.drive.unwrap_or_default();
                last.queue = moment.queue.as_ref().map(Waiting::of);
            }
        }
        self.sink(played);
    }

    /// Passes an access that counts to the sink, if there is one.
    #[inline]
    fn sink(&mut self, played: &Played) {
        if let Some(sink) = &mut self.sink {
            self.full |= !sink.push(self.start, played);
        }
    }

    /// Returns true if an access is a read or write of the first process that completed in the latest bucket, after the
    /// warm-up, and is not its first one there.
    #[inline]
    fn is_ordinary(&self, played: &Played) -> bool {
        let (from, index) = self.latest;
        let since = played.completed.since(self.start).0.wrapping_sub(from);
        let transfers = matches!(played.access.op, Op::Read | Op::Write);
        let has_bucket = |process: &Process| index < process.timeline.len();
        transfers
            && since < self.bucket_ns
            && played.process == 0
            && self.any
            && played.completed >= played.counts
            && self.processes.first().is_some_and(has_bucket)
    }

    /// Adds the ordinary accesses to the figures.
    fn enter(&mut self) {
        if self.noted.is_empty() {
            return;
        }
        let (Some(process), Some(bucket)) = (
            self.processes.first_mut(),
            self.buckets.get_mut(self.latest.1),
        ) else {
            return;
        };
        let (mut sum, mut most, mut bytes) = (0, 0, 0);
        for same in self.noted.chunk_by(|a, b| a.op == b.op) {
            self.kinds
                .add(same[0].op, same.iter().map(|noted| noted.took));
        }
        for noted in &self.noted {
            let took = noted.took;
            process.began = process.began.min(noted.asked.since(self.start));
            process.finished = process.finished.max(noted.completed.since(self.start));
            sum += took.response;
            most = most.max(took.response);
            bytes += took.bytes;
        }
        let count = self.noted.len() as u64;
        self.noted.clear();
        process.count += count;
        process.bytes += bytes;
        process.timeline[self.latest.1] += bytes;
        process.response_ns += sum;
        process.max_ns = process.max_ns.max(most);
        bucket.count += count;
        bucket.bytes += bytes;
        bucket.response_ns += sum;
        bucket.max_ns = bucket.max_ns.max(most);
    }

    /// Returns the figures of the run.
    pub fn finish(mut self) -> Totals {
        self.enter();
        let kinds = &self.kinds;
        let all = kinds.all();
        Totals {
            all: all.side(),
            reads: kinds.reads.side(),
            writes: kinds.writes.side(),
            distribution: Distribution {
                all: all.distribution(),
                reads: kinds.reads.distribution(),
                writes: kinds.writes.distribution(),
            },
            others: kinds.others(),
            flushes: kinds.flushes.side(),
            trims: kinds.trims.side(),
            zone_resets: kinds.zone_resets.side(),
            zone_finishes: kinds.zone_finishes.side(),
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

/// Returns the same access without bytes: a change of a zone's state transfers none.
fn transfers_nothing(played: &Played) -> Played {
    let access = Access {
        len: 0,
        ..played.access
    };
    Played { access, ..*played }
}

impl Observer for Recorder<'_> {
    fn begin(&mut self, start: Time, moment: Moment) {
        (self.start, self.last) = (start, start);
        self.before = moment;
    }

    #[inline]
    fn played(&mut self, played: &Played, moment: &dyn Fn() -> Moment) {
        if !self.is_ordinary(played) {
            return self.played_closely(played, moment);
        }
        self.done += 1;
        self.tell(played.completed);
        self.last = self.last.max(played.completed);
        self.busy.1 = played.busy;
        self.noted.push(Noted {
            asked: played.asked,
            completed: played.completed,
            took: Took::of(played),
            op: played.access.op,
        });
        if self.noted.len() >= GROUP {
            self.enter();
        }
        self.sink(played);
    }

    fn interrupted(&self) -> bool {
        self.full || (self.stop)()
    }
}

#[cfg(test)]
mod tests;

//! A process of a job, which decides on its next access.

mod asked;
mod in_zones;
mod part;
mod stages;
mod zoned;

use super::choices::Engine;
use super::error::JobError;
use super::job::Job;
use super::pace::{Rates, Think};
use super::placement::Handles;
use super::places::{Places, Stream};
use super::region::Region;
use super::written::Written;
use super::zones::Zones;
use crate::program::slots::Slots;
use asked::Asked;
use fathom_base::{Rng, Time};
use fathom_block::Access;
use fathom_block::program::{Done, Next, Request};
use fathom_block::{Op, Payload, Tag};
pub(super) use in_zones::Trouble;
use in_zones::{InZones, Place};

/// Wait for the next completion.
const WAIT: Next = Next::Wait(Time::MAX);

/// The phase of a process.
#[derive(Clone, Debug)]
enum Phase {
    /// Not started.
    Waiting,
    /// Issues the accesses of the job.
    Running { since: Time },
    /// Waits for the accesses in flight, and then for a flush.
    Syncing { since: Time },
    /// Waits for the accesses in flight before it reads back what it wrote.
    Draining { since: Time },
    /// Reads back what it wrote, in the order of the writes.
    Checking {
        since: Time,
        order: Vec<u64>,
        next: usize,
    },
    /// Issues nothing more.
    Over,
}

/// A process at work.
#[derive(Clone, Debug)]
pub(super) struct Process {
    job: Job,
    number: usize,
    region: Region,
    phase: Phase,
    places: Places,
    mix: Rng,
    rates: Rates,
    think: Think,
    /// The free slots among its `iodepth`.
    slots: Slots,
    in_flight: u32,
    /// True if it was waiting when last asked, for a rate, a think time, a flush or the end of a pass.
    paused: bool,
    /// The time since which it is not waiting; response times do not count from before it.
    open: Time,
    asked: Asked,
    /// An operation that was chosen and waits for its rate.
    held: Option<Op>,
    /// True if nothing was written since the last flush.
    flushed: bool,
    flushing: bool,
    /// The blocks to verify, if the job verifies.
    written: Written,
    handles: Handles,
    zones: InZones,
    /// True if the pass that is ending is the last one.
    last_pass: bool,
}

impl Process {
    /// Makes process `number` of the run, for a region that [`Job::resolve`] returned for its job.
    pub(super) fn new(job: Job, region: Region, seed: u64, number: usize) -> Result<Self, String> {
        let seed = job.randseed.unwrap_or(seed);
        Ok(Self {
            number,
            region,
            phase: Phase::Waiting,
            places: Places::new(&job, region, seed, number)?,
            mix: Stream::Mix.rng(seed, number),
            rates: Rates::new(&job, Stream::Pace.rng(seed, number)),
            think: Think::new(&job),
            slots: Slots::new(job.depth(), Time::ZERO),
            in_flight: 0,
            paused: false,
            open: Time::ZERO,
            asked: Asked::default(),
            held: None,
            flushed: true,
            flushing: false,
            written: Written::new(Stream::Content.rng(seed, number).next_u64()),
            handles: Handles::new(&job.placement),
            zones: InZones::new(&job),
            last_pass: false,
            job,
        })
    }

    pub(super) fn job(&self) -> &Job {
        &self.job
    }

    /// Returns the memory of its random map, in bytes.
    pub(super) fn map_bytes(&self) -> u64 {
        self.places.map_bytes()
    }

    pub(super) fn region(&self) -> Region {
        self.region
    }

    pub(super) fn is_started(&self) -> bool {
        !matches!(self.phase, Phase::Waiting)
    }

    pub(super) fn start(&mut self, now: Time) {
        self.phase = Phase::Running { since: now };
        self.open = now;
    }

    /// Returns the time at which the runtime ends it; [`Time::MAX`] if only a completion can end it.
    pub(super) fn ends_by(&self, now: Time) -> Time {
        match self.phase {
            Phase::Running { since } => Some(self.end(since)).filter(|end| *end > now),
            _ => None,
        }
        .unwrap_or(Time::MAX)
    }

    fn end(&self, since: Time) -> Time {
        self.job.ends.runtime.map_or(Time::MAX, |runtime| {
            since + self.job.ends.ramp_time + runtime
        })
    }

    /// Returns the maximum number of accesses; 0 if there is no such limit. In fio 3.33 (backend.c), the loop of
    /// `do_io` and `keep_running` check `time_based` before `exceeds_number_ios`.
    fn most_accesses(&self) -> u64 {
        match self.job.ends.time_based {
            true => 0,
            false => self.job.ends.number_ios.saturating_mul(self.job.ends.loops),
        }
    }

    /// Returns true if the limit on time, bytes or accesses is reached.
    fn is_enough(&self, since: Time, now: Time) -> bool {
        let most = self.region.io_bytes;
        let number = self.most_accesses();
        now >= self.end(since)
            || most.is_some_and(|most| self.asked.bytes >= most)
            || (number > 0 && self.asked.accesses >= number)
    }

    /// Returns the number of bytes in a pass, after which data is verified and the offsets start again.
    fn pass(&self) -> u64 {
        let size = self.region.size;
        match self.job.area.io_size {
            Some(io_size) if self.places.is_drawn() => io_size.max(size),
            _ => size,
        }
    }

    /// Returns the next action of a process that has started.
    pub(super) fn next(&mut self, now: Time, zones: &mut Option<Zones>) -> Next {
        loop {
            let next = match self.phase {
                Phase::Waiting | Phase::Over => Some(WAIT),
                Phase::Running { since } => self.run(since, now, zones),
                Phase::Syncing { since } => self.sync(since, now),
                Phase::Draining { since } => self.drain(since),
                Phase::Checking { since, .. } => self.read_back(since, now),
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    /// Returns the next action in the running phase, or `None` if the phase changed.
    fn run(&mut self, since: Time, now: Time, zones: &mut Option<Zones>) -> Option<Next> {
        if self.is_enough(since, now) {
            self.end_pass(since, true);
            return None;
        }
        if self.asked.pass_bytes >= self.pass() {
            self.end_pass(since, false);
            return None;
        }
        if self.slots.is_empty() {
            return Some(WAIT);
        }
        if self.flushing {
            return Some(self.pause(WAIT));
        }
        if let Some(until) = self.think.until(now) {
            return Some(self.pause(Next::Wait(until.min(self.end(since)))));
        }
        if self.is_flush_due() {
            return Some(self.flush(now));
        }
        let op = match self.choose(since, now) {
            Ok(op) => op,
            // While accesses are in flight, the rate is checked again at every event of the program.
            Err(Time::MAX) => return Some(self.pause(Next::Watch(self.end(since)))),
            Err(due) => return Some(self.pause(Next::Wait(due.min(self.end(since))))),
        };
        let (op, offset, len) = match self.place(op, zones) {
            Place::At(op, offset, len) => (op, offset, len),
            Place::First(action, zone, len) => {
                return Some(self.ask(Op::Zone(action), zone, len, now));
            }
            Place::Later => return Some(self.pause(Next::Watch(self.end(since)))),
            Place::None => {
                self.asked.passes += 1;
                // A pass without any access would be followed by another such pass.
                let last = self.asked.pass_bytes == 0 || self.is_cut_short();
                self.end_pass(since, last);
                return None;
            }
        };
        self.held = None;
        self.open = self.open.max(since + self.rates.due(op));
        self.rates.count(op, len);
        self.think.asked();
        self.asked.count(op, len);
        self.flushed &= op != Op::Write;
        Some(self.ask(op, offset, len, now))
    }

    /// Returns true if the number of writes calls for a flush and there was none since. As in fio 3.33 (io_u.c,
    /// `get_rw_ddir`), one flush serves both options.
    fn is_flush_due(&self) -> bool {
        let due = |every: u64| every > 0 && self.asked.writes.is_multiple_of(every);
        !self.flushed && (due(self.job.flushes.fsync) || due(self.job.flushes.fdatasync))
    }

    fn flush(&mut self, now: Time) -> Next {
        self.flushing = true;
        self.flushed = true;
        self.ask(Op::Flush, 0, 0, now)
    }

    /// Records that the process waits by itself, so the wait does not count as response time.
    fn pause(&mut self, next: Next) -> Next {
        self.paused = true;
        next
    }

    /// Chooses the next operation by the mix. If a rate delays it, the other operation is chosen if it is due now or
    /// earlier. Otherwise returns the time to wait for: [`Time::MAX`] while accesses are in flight, which are waited
    /// for first, as in fio.
    fn choose(&mut self, since: Time, now: Time) -> Result<Op, Time> {
        let op = match self.held {
            Some(op) => op,
            None => {
                let first = self.mixed();
                let due = |op| since + self.rates.due(op);
                let other = self.other(first).filter(|_| due(first) > now);
                match other {
                    Some(other) if due(other) <= now || due(other) < due(first) => other,
                    _ => first,
                }
            }
        };
        self.held = Some(op);
        let due = since + self.rates.due(op);
        if due <= now {
            return Ok(op);
        }
        Err(if self.in_flight > 0 { Time::MAX } else { due })
    }

    fn mixed(&mut self) -> Op {
        match self.job.rw.ops() {
            [read, write] => {
                if self.mix.below(100) < u64::from(self.job.rwmixread) {
                    *read
                } else {
                    *write
                }
            }
            ops => ops[0],
        }
    }

    /// Returns the other operation of a mix, if its share is above zero.
    fn other(&self, op: Op) -> Option<Op> {
        let share = match op {
            Op::Read => 100 - self.job.rwmixread,
            _ => self.job.rwmixread,
        };
        let mut ops = self.job.rw.ops().iter().copied();
        ops.find(|other| *other != op && share > 0)
    }

    /// Returns the time from which completed accesses count in the statistics.
    fn counts(&self) -> Time {
        match self.phase {
            Phase::Running { since }
            | Phase::Syncing { since }
            | Phase::Draining { since }
            | Phase::Checking { since, .. } => since + self.job.ends.ramp_time,
            Phase::Waiting | Phase::Over => Time::ZERO,
        }
    }

    /// Requests an access. An append, and a reset for a trim, are told by the operation and the place of what they stand
    /// for.
    fn ask(&mut self, op: Op, offset: u64, len: u64, now: Time) -> Next {
        self.in_flight += 1;
        if std::mem::take(&mut self.paused) {
            self.open = now;
        }
        // If the drive could not accept the access earlier, that delay counts as response time.
        let free = self.slots.take().unwrap_or(now);
        let asked = free.max(self.open).min(now);
        let data =
            (op == Op::Write && self.job.verify).then(|| self.written.next(offset, len).bytes());
        let placement = match op {
            Op::Write => self.handles.next(),
            _ => 0,
        };
        Next::Request(Request {
            access: self.zones.access(Access::new(now, op, offset, len)),
            tag: Tag {
                process: self.number as u32,
                // A read, a flush, and every access of a synchronous engine has a waiter.
                sync: matches!(op, Op::Read | Op::Flush) || self.job.ioengine == Engine::Sync,
                fua: op == Op::Write && self.job.flushes.sync,
                direct: matches!(op, Op::Read | Op::Write),
                payload: Payload::Unique,
                placement,
            },
            asked,
            counts: self.counts(),
            data,
        })
    }

    /// Handles a completed access of the process.
    pub(super) fn done(&mut self, done: Done<'_>) -> Result<(), JobError> {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.slots.give(done.completed);
        if matches!(self.phase, Phase::Checking { .. }) {
            return self.check(done);
        }
        match done.access.op {
            Op::Flush => self.flushing = false,
            Op::Zone(_) if self.job.rw.writes() => {}
            _ => self.think.done(done.completed),
        }
        Ok(())
    }

    fn check(&self, done: Done<'_>) -> Result<(), JobError> {
        let Some(block) = self.written.at(done.access.offset) else {
            return Ok(());
        };
        let job = || self.job.name.clone();
        let data = done.data.ok_or_else(|| JobError::NoData { job: job() })?;
        block.check(data).map_err(|found| JobError::Differs {
            job: job(),
            process: self.number,
            offset: block.offset,
            len: block.len,
            generation: block.generation,
            seed: block.seed,
            found,
        })
    }
}

//! The operations of a step: timed transfers, idling and samples.

mod single;

use super::limits::Limits;
use super::observer::{Observer, Progress};
use super::stop::Stop;
use super::transfer::{Queue, Span, longest, split};
use crate::record::Timed;
use crate::{Cost, Parameter, Sample, Series};
use fathom_base::{Dur, Rng, Time};
use fathom_block::{Contents, Device, DeviceInfo, DriveLog, Op, Tag};
use std::ops::Range;

/// The most that one transfer of [`Io::fill_sequential`] writes, in bytes: long enough to fill every queue, short enough to
/// interrupt. No two transfers in a row have the same length: a drive may place what follows a pause differently, and that
/// must not happen at the multiples of one size.
const FILL_BYTES: u64 = 4 << 20;
/// Half of [`FILL_BYTES`] is divided into `.1` parts. Each transfer is shorter than the one before it by `.0` of them,
/// modulo `.1`.
const FILL_PARTS: (u64, u64) = (19, 61);

/// The identity of the step, and the totals before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) parameter: Parameter,
    pub(super) name: &'a str,
    pub(super) step: u32,
    pub(super) written: u64,
    pub(super) samples: u64,
    pub(super) bound: u64,
}

/// The operation that was timed last.
#[derive(Clone, Copy, Debug)]
struct Timing {
    timed: Timed,
    offset: u64,
    bytes: u64,
    took: Dur,
    at: Time,
}

/// A point in time from which `Io::sample_since` measures.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: Time,
    moved: u64,
    offset: u64,
}

/// Access to the drive for one step. Every transfer first checks that it is allowed: interruption, budgets, region.
pub struct Io<'a> {
    /// The random numbers of this step: a function of the run's seed, the parameter and the step's name.
    pub rng: Rng,
    device: &'a mut dyn Device,
    observer: &'a mut dyn Observer,
    ids: &'a mut Range<u64>,
    limits: Limits,
    origin: Origin<'a>,
    began: Time,
    cost: Cost,
    samples: Vec<Sample>,
    logs: Vec<DriveLog>,
    tag: Tag,
    last: Option<Timing>,
}

/// A step that was executed, or cut short.
pub(super) struct Executed {
    pub(super) samples: Vec<Sample>,
    pub(super) logs: Vec<DriveLog>,
    pub(super) cost: Cost,
    pub(super) result: Result<(), Stop>,
}

impl<'a> Io<'a> {
    pub(super) fn new(
        device: &'a mut dyn Device,
        observer: &'a mut dyn Observer,
        ids: &'a mut Range<u64>,
        limits: Limits,
        origin: Origin<'a>,
        rng: Rng,
    ) -> Self {
        let began = device.now();
        Self {
            rng,
            device,
            observer,
            ids,
            limits,
            origin,
            began,
            cost: Cost::default(),
            samples: Vec::new(),
            logs: Vec::new(),
            tag: Tag::default(),
            last: None,
        }
    }

    /// Ends the step.
    pub(super) fn finish(self, result: Result<(), Stop>) -> Executed {
        let device_ns = self.now().since(self.began).0;
        Executed {
            samples: self.samples,
            logs: self.logs,
            cost: Cost {
                device_ns,
                ..self.cost
            },
            result,
        }
    }

    /// Returns what the drive reports about itself.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Returns the part of the drive that the run may use.
    pub fn region(&self) -> Range<u64> {
        self.limits.region.clone()
    }

    /// Returns the time on the drive's clock.
    pub fn now(&self) -> Time {
        self.device.now()
    }

    /// Reads `len` bytes at `offset`. Returns the time from the first submission to the last completion. A transfer longer
    /// than the drive's longest request is split into pieces, which are kept in flight up to the drive's queue depth. The
    /// other transfers do the same.
    ///
    /// # Errors
    /// [`Stop::Interrupted`], [`Stop::BudgetTime`] and [`Stop::Io`]; the other transfers also [`Stop::ReadOnly`],
    /// [`Stop::BudgetBytes`] and [`Stop::Allowance`] where they write.
    pub fn read(&mut self, offset: u64, len: u64) -> Result<Dur, Stop> {
        self.timed(Timed::Read, Op::Read, &[(offset, len)], u32::MAX)
    }

    /// Asks the drive about the contents of `len` bytes at `offset`. If it has to read them to answer, that counts as a
    /// read.
    pub fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, Stop> {
        self.may_go_on(Dur::ZERO)?;
        let place = [(offset, len)];
        self.limits
            .check(Op::Read, &place, self.cost.bytes_written)?;
        let at = self.now();
        let told = self.device.contents(offset, len)?;
        if matches!(told, Contents::Blank | Contents::Data) {
            self.cost.requests += 1;
            self.cost.bytes_read += len;
        }
        self.keep(Timed::Read, (offset, len), at, self.now())?;
        Ok(told)
    }

    /// Writes `len` bytes at `offset`.
    pub fn write(&mut self, offset: u64, len: u64) -> Result<Dur, Stop> {
        self.timed(Timed::Write, Op::Write, &[(offset, len)], u32::MAX)
    }

    /// Flushes the drive's write buffer.
    pub fn flush(&mut self) -> Result<Dur, Stop> {
        self.timed(Timed::Flush, Op::Flush, &[(0, 0)], u32::MAX)
    }

    /// Writes `len` bytes at `offset` and flushes. Returns the time of both together.
    pub(crate) fn write_flush(&mut self, offset: u64, len: u64) -> Result<Dur, Stop> {
        let at = self.transfer(Op::Write, &[(offset, len)], u32::MAX)?.from;
        let to = self.transfer(Op::Flush, &[(0, 0)], u32::MAX)?.to;
        self.keep(Timed::WriteFlush, (offset, len), at, to)
    }

    /// Tells the drive that `len` bytes at `offset` are no longer needed.
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<Dur, Stop> {
        self.timed(Timed::Trim, Op::Trim, &[(offset, len)], u32::MAX)
    }

    /// Reads each `(offset, len)` in order with `depth` requests in flight (at most the drive's queue depth). Returns the
    /// total time.
    pub fn read_queued(&mut self, list: &[(u64, u64)], depth: u32) -> Result<Dur, Stop> {
        self.timed(Timed::Read, Op::Read, list, depth)
    }

    /// Writes each `(offset, len)` in order with `depth` requests in flight (at most the drive's queue depth). Returns the
    /// total time.
    pub(crate) fn write_queued(&mut self, list: &[(u64, u64)], depth: u32) -> Result<Dur, Stop> {
        self.timed(Timed::Write, Op::Write, list, depth)
    }

    /// Leaves the drive idle for `pause`, on its clock.
    pub fn idle(&mut self, pause: Dur) -> Result<(), Stop> {
        self.may_go_on(pause)?;
        let until = self.now() + pause;
        let mut none = Vec::new();
        self.device.wait(until, &mut none);
        Ok(())
    }

    /// Writes all of `range` in ascending order with long requests, then flushes: the papers' `write_init`. Writes nothing
    /// if the budget does not cover all of it.
    pub(crate) fn fill_sequential(&mut self, range: Range<u64>) -> Result<(), Stop> {
        let wanted = range.end.saturating_sub(range.start);
        self.limits.check_bytes(wanted, self.cost.bytes_written)?;
        let block = u64::from(self.device.info().logical_block_bytes).max(1);
        let (mut at, mut part) = (range.start, 0);
        while at < range.end {
            let shorter = FILL_BYTES / 2 / FILL_PARTS.1 * part / block * block;
            let len = (FILL_BYTES - shorter).min(range.end - at);
            self.transfer(Op::Write, &[(at, len)], u32::MAX)?;
            at += len;
            part = (part + FILL_PARTS.0) % FILL_PARTS.1;
        }
        self.transfer(Op::Flush, &[(0, 0)], u32::MAX).map(|_| ())
    }

    /// Records the last timed operation as a sample. Does nothing if nothing has been timed.
    pub fn sample(&mut self, series: Series, x: u64, rep: u32) {
        if let Some(timing) = self.last {
            self.record(series, x, rep, timing);
        }
    }

    /// Starts a measurement of several transfers together. The sample will report `offset` as its place.
    pub fn mark(&self, offset: u64) -> Mark {
        Mark {
            at: self.now(),
            moved: self.moved(),
            offset,
        }
    }

    /// Records everything since `mark` as one sample: the bytes moved and the time on the drive's clock.
    pub(crate) fn sample_since(
        &mut self,
        mark: &Mark,
        timed: Timed,
        series: Series,
        x: u64,
        rep: u32,
    ) {
        let timing = Timing {
            timed,
            offset: mark.offset,
            bytes: self.moved() - mark.moved,
            took: self.now().since(mark.at),
            at: mark.at,
        };
        self.record(series, x, rep, timing);
    }

    fn record(&mut self, series: Series, x: u64, rep: u32, timing: Timing) {
        self.samples.push(Sample {
            step: self.origin.step,
            parameter: self.origin.parameter,
            series,
            x,
            rep,
            timed: timing.timed,
            offset: timing.offset,
            bytes: timing.bytes,
            ns: timing.took.0,
            at_ns: timing.at.0,
        });
    }

    fn moved(&self) -> u64 {
        self.cost.bytes_written + self.cost.bytes_read
    }

    fn timed(
        &mut self,
        timed: Timed,
        op: Op,
        list: &[(u64, u64)],
        depth: u32,
    ) -> Result<Dur, Stop> {
        let Some(&(offset, _)) = list.first() else {
            return Ok(Dur::ZERO);
        };
        let span = self.transfer(op, list, depth)?;
        let bytes = list.iter().map(|(_, len)| len).sum();
        self.keep(timed, (offset, bytes), span.from, span.to)
    }

    fn keep(
        &mut self,
        timed: Timed,
        (offset, bytes): (u64, u64),
        at: Time,
        to: Time,
    ) -> Result<Dur, Stop> {
        let took = to.since(at);
        self.last = Some(Timing {
            timed,
            offset,
            bytes,
            took,
            at,
        });
        Ok(took)
    }

    fn transfer(&mut self, op: Op, list: &[(u64, u64)], depth: u32) -> Result<Span, Stop> {
        self.may_go_on(Dur::ZERO)?;
        let bytes = self.limits.check(op, list, self.cost.bytes_written)?;
        let info = self.device.info();
        let longest = longest(info, op);
        let depth = depth.min(info.queue_depth);
        let pieces = list.iter().flat_map(|&extent| split(extent, longest));
        let tag = self.tag;
        let until = self.limits.time_over(self.began);
        let queue = Queue::new(&mut *self.device, &mut *self.ids, op, tag, depth);
        let (span, result) = queue.until(until).run(pieces);
        // A failed transfer counts in full: a part of it may be on the drive.
        self.cost.requests += span.requests;
        match op {
            Op::Write | Op::Append => self.cost.bytes_written += bytes,
            Op::Read => self.cost.bytes_read += bytes,
            Op::Flush | Op::Trim | Op::Zone(_) => {}
        }
        self.progress();
        match result? {
            true => Ok(span),
            false => Err(self.limits.over(self.now().since(self.began))),
        }
    }

    fn progress(&mut self) {
        self.observer.progress(&Progress {
            parameter: self.origin.parameter,
            step: self.origin.name,
            bytes_written: self.origin.written + self.cost.bytes_written,
            bound_bytes: self.origin.bound,
            samples: self.origin.samples + self.samples.len() as u64,
        });
    }

    fn may_go_on(&self, pause: Dur) -> Result<(), Stop> {
        if self.observer.interrupted() {
            return Err(Stop::Interrupted);
        }
        self.limits.check_time(self.now().since(self.began), pause)
    }
}

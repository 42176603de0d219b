//! A simple fake drive with planted units, and an observer that counts and interrupts. It serves one request at a time
//! without noise: every latency is a formula.
#![allow(dead_code)] // each test file uses only a part of it

use fathom_base::{Dur, Time};
use fathom_block::{
    Busy, Completion, Contents, Device, DeviceInfo, IoError, IoErrorKind, Op, Request,
};
use fathom_probe::{Observer, Progress, Record};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

/// The planted properties, in bytes; 0 for none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planted {
    pub(crate) page: u64,
    /// Every unit that a write covers in part is read.
    pub(crate) unit: u64,
    pub(crate) block: u64,
    pub(crate) read_buffer: u64,
    pub(crate) write_buffer: u64,
    /// A write that repeats an earlier one, with at most this many bytes of other writes in between, needs no room.
    pub(crate) rewrite_within: Option<u64>,
    /// The time of a read grows with the number of these pages that it touches.
    pub(crate) read_page: u64,
    /// Whether everything that was read once is buffered for ever.
    pub(crate) keeps: bool,
    /// Whether reads at offset 0 are served by read-ahead.
    pub(crate) read_ahead: bool,
    /// After so many bytes since the last TRIM a write takes four times as long.
    pub(crate) fast_cache: u64,
    /// The write with which the total reaches so many bytes takes a second more.
    pub(crate) stall_at: Option<u64>,
    /// The bytes between two writes after which the next read waits for a flush, over and over.
    pub(crate) flush_after: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) info: DeviceInfo,
    pub(crate) planted: Planted,
    /// The contents that it reports for the two halves of each 16 KiB.
    pub(crate) told: [Contents; 2],
    /// Every accepted request.
    pub(crate) log: Vec<(Op, u64, u64)>,
    pub(crate) bytes_written: u64,
    pub(crate) in_flight_max: usize,
    /// The number of requests in flight from which on more are refused, whatever the queue depth.
    pub(crate) busy_from: usize,
    /// The index of a request (from 0) that fails, and its error.
    pub(crate) fail_at: Option<(usize, IoErrorKind)>,
    now: Time,
    busy_until: Time,
    in_flight: Vec<(Time, Completion)>,
    last_read: Option<(u64, u64)>,
    kept: BTreeSet<(u64, u64)>,
    last_write_end: u64,
    buffered: u64,
    /// The bytes written since the last TRIM, and those since the last flush of [`Planted::flush_after`].
    since_trim: u64,
    since_flush: u64,
    flushes: usize,
    flushing: bool,
    /// The total bytes written when a range was last written.
    written: BTreeMap<(u64, u64), u64>,
}

pub(crate) fn info(capacity_bytes: u64) -> DeviceInfo {
    DeviceInfo {
        name: "fake".to_owned(),
        capacity_bytes,
        max_request_bytes: 256 * KIB,
        queue_depth: 4,
        volatile_cache: true,
        ..DeviceInfo::default()
    }
}

impl Fake {
    pub(crate) fn new(capacity_bytes: u64, planted: Planted) -> Self {
        Self {
            info: info(capacity_bytes),
            planted,
            told: [Contents::Untold; 2],
            log: Vec::new(),
            bytes_written: 0,
            in_flight_max: 0,
            busy_from: usize::MAX,
            fail_at: None,
            now: Time::ZERO,
            busy_until: Time::ZERO,
            in_flight: Vec::new(),
            last_read: None,
            kept: BTreeSet::new(),
            last_write_end: 0,
            buffered: 0,
            since_trim: 0,
            since_flush: 0,
            flushes: 0,
            flushing: false,
            written: BTreeMap::new(),
        }
    }

    /// Simulates another process: the clock starts again, the state of the drive stays.
    pub(crate) fn restart(&mut self) {
        self.now = Time::ZERO;
        self.busy_until = Time::ZERO;
    }

    fn service(&mut self, request: &Request) -> Dur {
        let &Request { offset, len, .. } = request;
        match request.op {
            Op::Flush => Dur(1_000 + 20 * std::mem::take(&mut self.buffered)),
            Op::Trim | Op::Zone(_) => {
                self.since_trim = 0;
                Dur(1_000)
            }
            Op::Read => self.read(offset, len),
            Op::Write | Op::Append => self.write(offset, len),
        }
    }

    /// Returns the time of a read: 10 ns per byte from flash, 1 ns per byte from the buffer.
    fn read(&mut self, offset: u64, len: u64) -> Dur {
        let again = self.last_read == Some((offset, len)) && len <= self.planted.read_buffer;
        self.last_read = Some((offset, len));
        let ahead = self.planted.read_ahead && offset == 0;
        let kept = !self.kept.insert((offset, len)) && self.planted.keeps;
        let pages = match self.planted.read_page {
            0 => 0,
            page => (offset + len).div_ceil(page) - offset / page,
        };
        let waits = u64::from(std::mem::take(&mut self.flushing));
        Dur(1_000
            + 400_000 * waits
            + 50_000 * pages
            + len * if again || ahead || kept { 1 } else { 10 })
    }

    /// Returns the time of a write: 2 ns per byte for the link, and 20 ns per byte that the buffer cannot take. Partly
    /// written pages are read, and a block that is written neither as a whole nor in order is merged.
    fn write(&mut self, offset: u64, len: u64) -> Dur {
        let Planted { page, block, .. } = self.planted;
        let room = self.planted.write_buffer.saturating_sub(self.buffered);
        let flash = len.saturating_sub(room);
        self.buffered += len - flash;
        let partial = |unit: u64| {
            let at = |edge: u64| u64::from(unit > 0 && !edge.is_multiple_of(unit));
            at(offset) + at(offset + len)
        };
        let parts = match self.planted.unit {
            0 => 0,
            unit if offset / unit == (offset + len - 1) / unit => partial(unit).min(1),
            unit => partial(unit),
        };
        let in_order = offset == self.last_write_end;
        self.last_write_end = offset + len;
        let merges = if in_order { 0 } else { partial(block).min(1) };
        let since = self
            .written
            .insert((offset, len), self.bytes_written + len)
            .map(|before| self.bytes_written - before);
        self.bytes_written += len;
        self.flush_by_itself(len);
        let stall = self
            .planted
            .stall_at
            .take_if(|at| self.bytes_written >= *at);
        let stall = stall.map_or(0, |_| 1_000_000_000);
        self.since_trim += len;
        let slow = self.planted.fast_cache > 0 && self.since_trim > self.planted.fast_cache;
        let factor = if slow { 4 } else { 1 };
        if since.is_some_and(|bytes| self.planted.rewrite_within >= Some(bytes)) {
            return Dur(1_000 + 2 * len);
        }
        let usual =
            1_000 + 2 * len + 20 * flash + 200_000 * (parts + partial(page)) + 50 * block * merges;
        Dur(factor * usual + stall)
    }

    fn flush_by_itself(&mut self, len: u64) {
        self.since_flush += len;
        let all = &self.planted.flush_after;
        let next = all.get(self.flushes % all.len().max(1));
        if next.is_some_and(|bytes| self.since_flush >= *bytes) {
            self.since_flush = 0;
            self.flushes += 1;
            self.flushing = true;
        }
    }
}

impl Device for Fake {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.now
    }

    fn contents(&mut self, offset: u64, _: u64) -> Result<Contents, IoError> {
        Ok(self.told[(offset / (8 * KIB) % 2) as usize])
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let most = self.busy_from.min(self.info.queue_depth as usize);
        if self.in_flight.len() >= most {
            return Err(Busy(request));
        }
        let mut result = self.info.check(&request);
        if let Some((_, kind)) = self.fail_at.filter(|(at, _)| *at == self.log.len()) {
            let Request {
                op, offset, len, ..
            } = request;
            result = Err(IoError {
                kind,
                op,
                offset,
                len,
            });
        }
        self.log.push((request.op, request.offset, request.len));
        let took = result.map_or(Dur(10), |()| self.service(&request));
        self.busy_until = self.busy_until.max(self.now) + took;
        let completion = Completion {
            id: request.id,
            op: request.op,
            submitted: self.now,
            completed: self.busy_until,
            result,
            placed: 0,
            data: None,
        };
        self.in_flight.push((self.busy_until, completion));
        self.in_flight_max = self.in_flight_max.max(self.in_flight.len());
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let Some(&(first, _)) = self.in_flight.first() else {
            if until != Time::MAX {
                self.now = self.now.max(until);
            }
            return;
        };
        self.now = self.now.max(first.min(until));
        while self
            .in_flight
            .first()
            .is_some_and(|(at, _)| *at <= self.now)
        {
            done.push(self.in_flight.remove(0).1);
        }
    }
}

/// Counts the questions whether to interrupt, and interrupts from a given one on.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) interrupt_at: Option<u64>,
    pub(crate) asked: Cell<u64>,
    pub(crate) checkpoints: usize,
    pub(crate) last_written: u64,
    pub(crate) bound: u64,
}

impl Watch {
    pub(crate) fn interrupting_at(question: u64) -> Self {
        Self {
            interrupt_at: Some(question),
            ..Self::default()
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress<'_>) {
        assert!(progress.bytes_written >= self.last_written);
        self.last_written = progress.bytes_written;
        self.bound = progress.bound_bytes;
    }

    fn interrupted(&self) -> bool {
        let asked = self.asked.get();
        self.asked.set(asked + 1);
        self.interrupt_at.is_some_and(|at| asked >= at)
    }

    fn step_done(&mut self, record: &Record) {
        assert!(!record.meta.complete);
        self.checkpoints += 1;
    }
}

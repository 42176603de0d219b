//! A candidate with its clock: closed loops of requests, each timed.

use super::work::Work;
use fathom_base::{Dur, Rng, Time};
use fathom_block::{Busy, Device as _, Op, Request, Subject as _};
use fathom_model::Drive;
use std::collections::BTreeMap;
use std::ops::Range;

/// The writes in flight of a fill.
const FILL_DEPTH: usize = 32;

/// A request to be made.
#[derive(Clone, Copy, Debug)]
pub(in crate::twin) struct Ask {
    op: Op,
    offset: u64,
    len: u64,
    fua: bool,
    /// When it is due after the beginning of the loop.
    due: Dur,
}

impl Ask {
    pub(in crate::twin) const fn new(op: Op, offset: u64, len: u64) -> Self {
        Self {
            op,
            offset,
            len,
            fua: false,
            due: Dur::ZERO,
        }
    }

    pub(in crate::twin) const fn at(self, due: Dur) -> Self {
        Self { due, ..self }
    }

    pub(in crate::twin) const fn due(&self) -> Dur {
        self.due
    }

    pub(in crate::twin) const fn bytes(&self) -> u64 {
        self.len
    }

    pub(in crate::twin) const fn is_read(&self) -> bool {
        matches!(self.op, Op::Read)
    }
}

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub(in crate::twin) struct Served {
    pub(in crate::twin) ask: Ask,
    from: Time,
    to: Time,
}

impl Served {
    /// Returns when it began, in nanoseconds.
    pub(in crate::twin) const fn began(&self) -> u64 {
        self.from.0
    }

    /// Returns its latency in nanoseconds.
    pub(in crate::twin) fn took(&self) -> f64 {
        self.to.since(self.from).0.max(1) as f64
    }
}

/// A drive under measurement.
pub(in crate::twin) struct Rig {
    drive: Drive,
    rng: Rng,
    next: u64,
    pub(in crate::twin) block: u64,
    pub(in crate::twin) span: u64,
    pub(in crate::twin) capacity: u64,
    work: Work,
}

impl Rig {
    pub(in crate::twin) fn new(drive: Drive, span: u64, seed: u64, work: Work) -> Self {
        let info = drive.info();
        let (block, capacity) = (
            u64::from(info.logical_block_bytes).max(1),
            info.capacity_bytes,
        );
        Self {
            capacity,
            work,
            drive,
            rng: Rng::new(seed, 0x7417),
            next: 0,
            block,
            span: span.min(capacity) / block * block,
        }
    }

    pub(in crate::twin) fn now(&self) -> Time {
        self.drive.now()
    }

    pub(in crate::twin) fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n.max(1))
    }

    /// Returns a random multiple of `len` within the span.
    pub(in crate::twin) fn any(&mut self, len: u64) -> u64 {
        self.below(self.span / len) * len
    }

    /// Returns reads of `len` bytes at random places.
    pub(in crate::twin) fn places(&mut self, len: u64, count: u64) -> Vec<Ask> {
        let len = len.next_multiple_of(self.block);
        (0..count)
            .map(|_| Ask::new(Op::Read, self.any(len), len))
            .collect()
    }

    /// Returns the latency of a read, in nanoseconds.
    pub(in crate::twin) fn read(&mut self, at: u64, len: u64) -> f64 {
        self.lone(Ask::new(Op::Read, at, len))
    }

    /// Returns the time of a read that is cut into requests, in nanoseconds.
    pub(in crate::twin) fn read_parts(&mut self, at: u64, len: u64) -> f64 {
        let longest = self.drive.info().max_request_bytes;
        let parts = (at..at + len).step_by(longest as usize);
        let part = |from: u64| Ask::new(Op::Read, from, longest.min(at + len - from));
        let asks: Vec<Ask> = parts.map(part).collect();
        self.together(&asks, usize::MAX)
    }

    /// Returns the time of a write that is cut into requests, in nanoseconds.
    pub(in crate::twin) fn write(&mut self, at: u64, len: u64, fua: bool) -> f64 {
        let longest = self.drive.info().max_request_bytes;
        let parts = (at..at + len).step_by(longest as usize);
        let part = |from: u64| Ask {
            fua,
            ..Ask::new(Op::Write, from, longest.min(at + len - from))
        };
        let asks: Vec<Ask> = parts.map(part).collect();
        self.together(&asks, usize::MAX)
    }

    pub(in crate::twin) fn flush(&mut self) -> f64 {
        self.lone(Ask::new(Op::Flush, 0, 0))
    }

    /// Returns the time of two reads at once.
    pub(in crate::twin) fn pair(&mut self, places: [u64; 2], len: u64) -> f64 {
        self.together(&places.map(|at| Ask::new(Op::Read, at, len)), 2)
    }

    fn lone(&mut self, ask: Ask) -> f64 {
        self.together(&[ask], 1)
    }

    /// Returns the time of a loop, in nanoseconds.
    pub(in crate::twin) fn together(&mut self, asks: &[Ask], depth: usize) -> f64 {
        let began = self.drive.now();
        let served = self.serve(asks, depth);
        let last = served.iter().map(|one| one.to).max().unwrap_or(began);
        last.since(began).0.max(1) as f64
    }

    /// Returns the rate of a closed loop in bytes per second, without its beginning and its end.
    pub(in crate::twin) fn rate(&mut self, asks: &[Ask], depth: usize) -> f64 {
        let served = self.serve(asks, depth);
        let mut ends: Vec<Time> = served.iter().map(|one| one.to).collect();
        ends.sort_unstable();
        let (count, len) = (ends.len(), asks.first().map_or(0, |ask| ask.len));
        if count <= 2 * depth {
            return 0.0;
        }
        let time = ends[count - depth - 1].since(ends[depth - 1]).0.max(1);
        ((count - 2 * depth) as u64 * len) as f64 / time as f64 * 1e9
    }

    pub(in crate::twin) fn fill(&mut self, range: Range<u64>) {
        let longest = self.drive.info().max_request_bytes;
        let starts = range.clone().step_by(longest as usize);
        let part = |at: u64| Ask::new(Op::Write, at, longest.min(range.end - at));
        let asks: Vec<Ask> = starts.map(part).collect();
        self.serve(&asks, FILL_DEPTH);
        self.flush();
    }

    pub(in crate::twin) fn trim(&mut self, range: Range<u64>) {
        self.lone(Ask::new(Op::Trim, range.start, range.end - range.start));
    }

    pub(in crate::twin) fn idle(&mut self, pause: Dur) {
        let until = self.drive.now() + pause;
        self.drive.wait(until, &mut Vec::new());
    }

    /// Serves requests in the order given, with at most `depth` in flight. A failed request counts as served: the errors of
    /// a candidate show in its times.
    pub(in crate::twin) fn serve(&mut self, asks: &[Ask], depth: usize) -> Vec<Served> {
        let depth = depth.clamp(1, self.drive.info().queue_depth.max(1) as usize);
        let began = self.drive.now();
        let mut open = BTreeMap::new();
        let mut served = Vec::with_capacity(asks.len());
        let programmed = self.programmed();
        for ask in asks {
            let due = began + ask.due;
            while open.len() >= depth || self.drive.now() < due {
                let until = if open.len() >= depth { Time::MAX } else { due };
                if !self.collect(until, &mut open, &mut served) {
                    break;
                }
            }
            let now = self.drive.now();
            let from = if ask.due == Dur::ZERO {
                now
            } else {
                due.min(now)
            };
            if self.submit(ask, &mut open, &mut served) {
                open.insert(self.next - 1, (*ask, from));
            }
        }
        while !open.is_empty() && self.collect(Time::MAX, &mut open, &mut served) {}
        self.work.count(asks.len(), self.programmed() - programmed);
        served
    }

    fn programmed(&self) -> u64 {
        self.drive
            .stats()
            .map_or(0, |work| work.flash_bytes_programmed)
    }

    /// Submits a request, after others if the drive is busy. Returns false if it takes none.
    fn submit(
        &mut self,
        ask: &Ask,
        open: &mut BTreeMap<u64, (Ask, Time)>,
        served: &mut Vec<Served>,
    ) -> bool {
        let mut request = Request::new(self.next, ask.op, ask.offset, ask.len);
        request.tag.fua = ask.fua;
        self.next += 1;
        loop {
            match self.drive.submit(request) {
                Ok(()) => return true,
                Err(Busy(back)) => request = back,
            }
            if open.is_empty() || !self.collect(Time::MAX, open, served) {
                return false;
            }
        }
    }

    /// Waits for completions. Returns false if there will be none before the end of time.
    fn collect(
        &mut self,
        until: Time,
        open: &mut BTreeMap<u64, (Ask, Time)>,
        served: &mut Vec<Served>,
    ) -> bool {
        let mut done = Vec::new();
        self.drive.wait(until, &mut done);
        let some = !done.is_empty();
        for one in done {
            if let Some((ask, from)) = open.remove(&one.id.0) {
                served.push(Served {
                    ask,
                    from,
                    to: one.completed,
                });
            }
        }
        some || until < Time::MAX
    }
}

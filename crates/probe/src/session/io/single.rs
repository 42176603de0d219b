//! Requests that are timed one by one, the mode of writes, and the drive's own log.

use super::Io;
use crate::record::Timed;
use crate::session::served::{Ask, Before, Served, Serving};
use crate::{Sample, Series, Stop};
use fathom_base::{Dur, Time};
use fathom_block::{DriveLog, Op, Payload};

impl Io<'_> {
    /// Sets the content of all later writes of the step. A step begins with [`Payload::Unique`].
    pub fn payload(&mut self, payload: Payload) {
        self.tag.payload = payload;
    }

    /// Writes `len` bytes at `offset` so that they are durable when the write completes (forced unit access).
    ///
    /// # Errors
    /// As for [`Io::write`].
    pub fn write_through(&mut self, offset: u64, len: u64) -> Result<Dur, Stop> {
        self.tag.fua = true;
        let done = self.timed(Timed::WriteThrough, Op::Write, &[(offset, len)], u32::MAX);
        self.tag.fua = false;
        done
    }

    /// Serves requests in the order given, with at most `depth` in flight (at most the drive's queue depth), and returns
    /// the times of each. One that has a due time is submitted then, or when there is room. One that is longer than the
    /// drive's longest request is split, as the block layer does it: its time is that of all its pieces.
    ///
    /// # Errors
    /// As for [`Io::write`].
    pub fn serve(&mut self, asks: &[Ask], depth: u32) -> Result<Vec<Served>, Stop> {
        let last = asks.iter().filter_map(|ask| ask.due).max();
        self.may_go_on(last.unwrap_or_default())?;
        let (mut read, mut written) = (0, 0);
        for ask in asks {
            let already = self.cost.bytes_written + written;
            let bytes = self
                .limits
                .check(ask.op, &[(ask.offset, ask.len)], already)?;
            match ask.op {
                Op::Read => read += bytes,
                Op::Write | Op::Append => written += bytes,
                Op::Flush | Op::Trim | Op::Zone(_) => {}
            }
        }
        let depth = depth.min(self.device.info().queue_depth);
        let (device, ids) = (&mut *self.device, &mut *self.ids);
        let until = self.limits.time_over(self.began);
        let goes_on = |before: &Before<'_>| until.is_none_or(|until| before.along.ends_by(until));
        let (served, submitted, result) =
            Serving::new(device, ids, self.tag, depth).run_while(asks, goes_on);
        self.cost.requests += submitted;
        self.cost.bytes_read += read;
        self.cost.bytes_written += written;
        self.progress();
        result?;
        if served.len() < asks.len() {
            return Err(self.limits.over(self.now().since(self.began)));
        }
        Ok(served)
    }

    /// Serves a request and, beside it, `others` one after the other: at least one, and no more once the first is complete.
    /// Returns the times of those that were served; the first one is that of `first`.
    ///
    /// # Errors
    /// As for [`Io::write`].
    pub(crate) fn serve_beside(&mut self, first: Ask, others: &[Ask]) -> Result<Vec<Served>, Stop> {
        let asks: Vec<Ask> = std::iter::once(first)
            .chain(others.iter().copied())
            .collect();
        self.serve_while(&asks, 2, |before| {
            before.number < 2 || before.ended[0].is_none()
        })
    }

    /// As [`Io::serve`], but submits nothing after `end`, except the first request.
    ///
    /// # Errors
    /// As for [`Io::write`].
    pub(crate) fn serve_until(
        &mut self,
        asks: &[Ask],
        depth: u32,
        end: Time,
    ) -> Result<Vec<Served>, Stop> {
        self.serve_while(asks, depth, |before| before.number == 0 || before.now < end)
    }

    fn serve_while(
        &mut self,
        asks: &[Ask],
        depth: u32,
        goes_on: impl Fn(&Before<'_>) -> bool,
    ) -> Result<Vec<Served>, Stop> {
        self.may_go_on(Dur::ZERO)?;
        let mut written = self.cost.bytes_written;
        for ask in asks {
            let bytes = self
                .limits
                .check(ask.op, &[(ask.offset, ask.len)], written)?;
            written += if ask.op == Op::Write { bytes } else { 0 };
        }
        let depth = depth.min(self.device.info().queue_depth);
        let (device, ids) = (&mut *self.device, &mut *self.ids);
        let (served, submitted, result) =
            Serving::new(device, ids, self.tag, depth).run_while(asks, goes_on);
        self.cost.requests += submitted;
        for one in &served {
            match one.ask.op {
                Op::Read => self.cost.bytes_read += one.ask.len,
                Op::Write | Op::Append => self.cost.bytes_written += one.ask.len,
                Op::Flush | Op::Trim | Op::Zone(_) => {}
            }
        }
        self.progress();
        result?;
        Ok(served)
    }

    /// Records a served request as a sample.
    pub fn sample_served(&mut self, series: Series, x: u64, rep: u32, served: &Served) {
        let ask = served.ask;
        self.samples.push(Sample {
            step: self.origin.step,
            parameter: self.origin.parameter,
            series,
            x,
            rep,
            timed: match ask.op {
                Op::Read => Timed::Read,
                Op::Write if self.tag.fua => Timed::WriteThrough,
                Op::Write | Op::Append => Timed::Write,
                Op::Flush => Timed::Flush,
                Op::Trim | Op::Zone(_) => Timed::Trim,
            },
            offset: ask.offset,
            bytes: ask.len,
            ns: served.took().0,
            at_ns: served.from.0,
        });
    }

    /// Records the throughput of a closed loop as one sample: the bytes that were completed, and the time that this took. The
    /// last `depth` requests, during which the queue empties, do not count, nor does its beginning. Records nothing if no
    /// more than twice `depth` requests were served.
    pub fn sample_rate(&mut self, series: Series, x: u64, rep: u32, served: &[Served], depth: u32) {
        let mut ends: Vec<Time> = served.iter().map(|one| one.to).collect();
        ends.sort_unstable();
        let (depth, count) = (depth.max(1) as usize, ends.len());
        if count <= 2 * depth {
            return;
        }
        // A queue begins with its requests spread evenly over the dies, and is faster until it no longer is.
        let filled = if depth > 1 { depth.max(count / 3) } else { 1 };
        let (from, to) = (ends[filled - 1], ends[count - depth - 1]);
        let Some(first) = served.first() else {
            return;
        };
        self.samples.push(Sample {
            step: self.origin.step,
            parameter: self.origin.parameter,
            series,
            x,
            rep,
            timed: Timed::Read,
            offset: first.ask.offset,
            bytes: (count - filled - depth) as u64 * first.ask.len,
            ns: to.since(from).0.max(1),
            at_ns: from.0,
        });
    }

    /// Records a part of what was written as one sample, from one time to another.
    pub(crate) fn sample_written(
        &mut self,
        series: Series,
        x: u64,
        rep: u32,
        part: (u64, u64),
        span: (Time, Time),
    ) {
        self.samples.push(Sample {
            step: self.origin.step,
            parameter: self.origin.parameter,
            series,
            x,
            rep,
            timed: Timed::Write,
            offset: part.0,
            bytes: part.1,
            ns: span.1.since(span.0).0,
            at_ns: span.0.0,
        });
    }

    /// Records a number of bytes that the drive's own log counts.
    pub(crate) fn sample_count(&mut self, series: Series, x: u64, rep: u32, bytes: u64) {
        let now = self.now();
        self.sample_written(series, x, rep, (0, bytes), (now, now + Dur(1)));
    }

    /// Returns the processor time that the host has used so far; `None` above a model.
    pub fn host_time(&self) -> Option<Dur> {
        self.device.host_time()
    }

    /// Records the processor time `used` that the host spent since `from` as a sample, in nanoseconds in the place of its
    /// bytes.
    pub fn sample_host(&mut self, series: Series, x: u64, rep: u32, from: Time, used: Dur) {
        self.samples.push(Sample {
            step: self.origin.step,
            parameter: self.origin.parameter,
            series,
            x,
            rep,
            timed: Timed::Read,
            offset: 0,
            bytes: used.0,
            ns: self.now().since(from).0,
            at_ns: from.0,
        });
    }

    /// Returns what the drive's own log says now, and stores it with the step; `None` if the drive shows none.
    pub fn log(&mut self) -> Option<DriveLog> {
        let log = self.device.log()?;
        self.logs.push(log);
        Some(log)
    }
}

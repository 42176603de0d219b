//! Keeps requests in flight: does what the block layer below an application does to a long transfer.

use super::limits::Along;
use fathom_base::{Dur, Time};
use fathom_block::{Busy, Completion, Device, DeviceInfo, IoError, IoErrorKind, Op, Request, Tag};
use std::ops::Range;

/// How often to retry, at intervals of a millisecond, when the device is busy although nothing is in flight, before it
/// counts as gone.
pub(super) const PATIENCE: u32 = 1_000;

/// The time and the requests of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first submission.
    pub(super) from: Time,
    /// The last completion.
    pub(super) to: Time,
    /// The number of requests.
    pub(super) requests: u64,
}

/// Returns the longest request of a drive, in whole logical blocks; only transfers of data have one.
pub(super) fn longest(info: &DeviceInfo, op: Op) -> u64 {
    let block = u64::from(info.logical_block_bytes).max(1);
    match op {
        Op::Read | Op::Write | Op::Append => info.max_request_bytes.max(block) / block * block,
        Op::Flush | Op::Trim | Op::Zone(_) => u64::MAX,
    }
}

/// Splits `(offset, len)` into requests of at most `request_bytes_max`.
pub(super) fn split(
    (offset, len): (u64, u64),
    request_bytes_max: u64,
) -> impl Iterator<Item = (u64, u64)> {
    let end = offset.saturating_add(len);
    let mut at = offset;
    // A transfer of length 0 is one request: a flush has no length, and the drive must refuse an empty read or write.
    let mut first = true;
    std::iter::from_fn(move || {
        let piece = (at, request_bytes_max.min(end - at));
        let more = std::mem::take(&mut first) || piece.1 > 0;
        at += piece.1;
        more.then_some(piece)
    })
}

/// Makes the requests of one transfer, all of the same kind.
pub(super) struct Queue<'a> {
    device: &'a mut dyn Device,
    ids: &'a mut Range<u64>,
    op: Op,
    tag: Tag,
    depth: u32,
    /// When no more is submitted.
    until: Option<Time>,
    in_flight: u32,
    span: Span,
    failed: Option<IoError>,
    done: Vec<Completion>,
}

impl<'a> Queue<'a> {
    pub(super) fn new(
        device: &'a mut dyn Device,
        ids: &'a mut Range<u64>,
        op: Op,
        tag: Tag,
        depth: u32,
    ) -> Self {
        let now = device.now();
        let span = Span {
            from: now,
            to: now,
            requests: 0,
        };
        Self {
            device,
            ids,
            op,
            tag,
            depth: depth.max(1),
            until: None,
            in_flight: 0,
            span,
            failed: None,
            done: Vec::new(),
        }
    }

    /// Submits nothing from a time on.
    pub(super) fn until(self, until: Option<Time>) -> Self {
        Self { until, ..self }
    }

    /// Keeps up to `depth` requests in flight, in the order given, until all are done. After a failure, or when the time is over,
    /// it submits no more and waits for those in flight. Returns whether all were submitted.
    pub(super) fn run(
        mut self,
        pieces: impl Iterator<Item = (u64, u64)>,
    ) -> (Span, Result<bool, IoError>) {
        let mut all = true;
        for (offset, len) in pieces {
            while self.in_flight >= self.depth && self.failed.is_none() {
                self.collect();
            }
            all = self.until.is_none_or(|until| self.along().ends_by(until));
            if self.failed.is_some() || !all {
                break;
            }
            let id = self.ids.next().unwrap_or_default();
            let mut request = Request::new(id, self.op, offset, len);
            request.tag = self.tag;
            self.submit(request);
        }
        while self.in_flight > 0 {
            self.collect();
        }
        (self.span, self.failed.map_or(Ok(all), Err))
    }

    fn along(&self) -> Along {
        let open = u64::from(self.in_flight);
        Along {
            began: self.span.from,
            now: self.device.now(),
            done: self.span.requests - open,
            open,
        }
    }

    fn submit(&mut self, mut request: Request) {
        for _ in 0..PATIENCE {
            match self.device.submit(request) {
                Ok(()) => {
                    self.in_flight += 1;
                    self.span.requests += 1;
                    return;
                }
                Err(Busy(back)) => request = back,
            }
            if self.in_flight > 0 {
                self.collect();
                if self.failed.is_some() {
                    return;
                }
            } else {
                let soon = self.device.now() + Dur::ms(1);
                self.device.wait(soon, &mut self.done);
            }
        }
        self.fail(request.offset, request.len);
    }

    fn collect(&mut self) {
        self.device.wait(Time::MAX, &mut self.done);
        if self.done.is_empty() {
            // The contract of `Device` promises a completion. A device that breaks it has lost the requests.
            self.in_flight = 0;
            self.fail(0, 0);
        }
        for completion in self.done.drain(..) {
            self.in_flight = self.in_flight.saturating_sub(1);
            self.span.to = self.span.to.max(completion.completed);
            if let Err(error) = completion.result {
                self.failed.get_or_insert(error);
            }
        }
    }

    fn fail(&mut self, offset: u64, len: u64) {
        self.failed.get_or_insert(IoError {
            kind: IoErrorKind::Gone,
            op: self.op,
            offset,
            len,
        });
    }
}

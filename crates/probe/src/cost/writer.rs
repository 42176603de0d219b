//! Writes one request after another, splits what is longer than a request can be, and stops at the announced bytes.

use super::types::CostError;
use fathom_base::Time;
use fathom_block::{Completion, DriveStats, IoError, IoErrorKind, Op, Request, Subject};

/// A drive with what was written to it.
pub(super) struct Writer<'a> {
    pub(super) drive: &'a mut dyn Subject,
    pub(super) stopped: &'a dyn Fn() -> bool,
    pub(super) bound_bytes: u64,
    pub(super) bytes_written: u64,
    next: u64,
    done: Vec<Completion>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        drive: &'a mut dyn Subject,
        stopped: &'a dyn Fn() -> bool,
        bound_bytes: u64,
    ) -> Self {
        Self {
            drive,
            stopped,
            bound_bytes,
            bytes_written: 0,
            next: 0,
            done: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.drive.now()
    }

    pub(super) fn work(&self) -> Option<DriveStats> {
        self.drive.stats()
    }

    /// Writes a range and waits for it. Returns the time that it took, in nanoseconds.
    pub(super) fn write(&mut self, offset: u64, len: u64) -> Result<u64, CostError> {
        let began = self.now();
        let most = self.drive.info().max_request_bytes.max(1);
        let mut at = offset;
        while at < offset + len {
            let piece = most.min(offset + len - at);
            self.one(at, piece)?;
            at += piece;
        }
        Ok(self.now().since(began).0)
    }

    fn one(&mut self, offset: u64, len: u64) -> Result<(), CostError> {
        if (self.stopped)() {
            return Err(CostError::Interrupted);
        }
        self.bytes_written += len;
        if self.bytes_written > self.bound_bytes {
            let bound_bytes = self.bound_bytes;
            return Err(CostError::Bound { bound_bytes });
        }
        let mut request = Request::new(self.next, Op::Write, offset, len);
        request.tag.direct = true;
        request.tag.sync = true;
        self.next += 1;
        // Nothing else is in flight, so a drive that refuses the request is broken.
        if let Err(busy) = self.drive.submit(request) {
            let error: IoError = busy.0.error(IoErrorKind::Unsupported);
            return Err(error.into());
        }
        self.done.clear();
        self.drive.wait(Time::MAX, &mut self.done);
        match self.done.pop() {
            Some(completion) => Ok(completion.result?),
            None => Err(CostError::Stopped),
        }
    }
}

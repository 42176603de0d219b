//! A modelled clock with a bounded queue of completions.

use crate::{Busy, Completion, DeviceInfo, IoError, Request};
use fathom_base::{Dur, EventQueue, Time};

/// The time, and the requests in flight in order of (time, submission).
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    now: Time,
    pending: EventQueue<Completion>,
}

impl Clock {
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Returns the request to the caller as [`Busy`] if the queue is full.
    pub(super) fn admit(&self, info: &DeviceInfo, request: Request) -> Result<Request, Busy> {
        if self.pending.len() >= info.queue_depth as usize {
            return Err(Busy(request));
        }
        Ok(request)
    }

    /// Schedules the completion of a request after `latency`.
    pub(super) fn complete(
        &mut self,
        request: &Request,
        latency: Dur,
        result: Result<Option<Box<[u8]>>, IoError>,
    ) {
        let (result, data) = match result {
            Ok(data) => (Ok(()), data),
            Err(error) => (Err(error), None),
        };
        let completed = self.now + latency;
        let completion = Completion::of(request, self.now..completed, result, data);
        self.pending.push(completed, completion);
    }

    /// Implements [`crate::Device::wait`] for a model: jumps to the next completion or to `until`.
    pub(super) fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let until = until.max(self.now);
        match self.pending.next_at() {
            Some(at) => self.now = at.max(self.now).min(until),
            None if until == Time::MAX => {}
            None => self.now = until,
        }
        while self.pending.next_at().is_some_and(|at| at <= self.now) {
            done.extend(self.pending.pop().map(|(_, completion)| completion));
        }
    }
}

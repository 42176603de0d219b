//! Held completions, for layers that change the results or times of the inner device's completions.

use crate::{Busy, Completion, Device, Request};
use fathom_base::{EventQueue, Time};

/// A device, and its completions that are not due yet.
#[derive(Clone, Debug)]
pub(super) struct Held<D> {
    pub(super) inner: D,
    due: EventQueue<Completion>,
    came: Vec<Completion>,
    in_flight: usize,
}

impl<D: Device> Held<D> {
    pub(super) fn new(inner: D) -> Self {
        Self {
            inner,
            due: EventQueue::default(),
            came: Vec::new(),
            in_flight: 0,
        }
    }

    /// Returns true if the queue is full. Held requests count, because the submitter has not seen them complete.
    pub(super) fn is_full(&self) -> bool {
        self.in_flight >= self.inner.info().queue_depth as usize
    }

    /// Passes a request on to the inner device.
    pub(super) fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.is_full() {
            return Err(Busy(request));
        }
        self.inner.submit(request)?;
        self.in_flight += 1;
        Ok(())
    }

    /// Adds the completion of a request that never reached the inner device; it is due at its completion time.
    pub(super) fn complete(&mut self, completion: Completion) {
        self.in_flight += 1;
        self.hold(completion);
    }

    /// Implements [`Device::wait`]. `change` may alter each completion and delay its time.
    pub(super) fn wait(
        &mut self,
        until: Time,
        done: &mut Vec<Completion>,
        mut change: impl FnMut(&mut Completion),
    ) {
        if self.in_flight == 0 {
            return self.inner.wait(until, done);
        }
        loop {
            let before = self.inner.now();
            let target = self.due.next_at().map_or(until, |at| at.min(until));
            let mut came = std::mem::take(&mut self.came);
            self.inner.wait(target, &mut came);
            let nothing_came = came.is_empty();
            for mut completion in came.drain(..) {
                change(&mut completion);
                self.hold(completion);
            }
            self.came = came;
            let now = self.inner.now();
            if self.release(now, done) || now >= until {
                return;
            }
            // Prevents an endless loop if the inner device has lost a request.
            if nothing_came && (target == Time::MAX || now == before) {
                return;
            }
        }
    }

    fn hold(&mut self, completion: Completion) {
        self.due.push(completion.completed, completion);
    }

    /// Moves the completions due at `now` to `done`. Returns true if there were any.
    fn release(&mut self, now: Time, done: &mut Vec<Completion>) -> bool {
        let before = done.len();
        while self.due.next_at().is_some_and(|at| at <= now) {
            if let Some((_, completion)) = self.due.pop() {
                self.in_flight = self.in_flight.saturating_sub(1);
                done.push(completion);
            }
        }
        done.len() > before
    }
}

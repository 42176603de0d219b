//! Completions that are held back: what a layer needs whose completions are not the inner device's.

use crate::{Busy, Completion, Device, Request};
use fathom_base::{EventQueue, Time};

/// A device, and the completions that it gave but that are not due yet.
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

    /// Whether the queue is full. What is held back still counts: the submitter has not seen it complete.
    pub(super) fn is_full(&self) -> bool {
        self.in_flight >= self.inner.info().queue_depth as usize
    }

    /// Passes a request on.
    pub(super) fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.is_full() {
            return Err(Busy(request));
        }
        self.inner.submit(request)?;
        self.in_flight += 1;
        Ok(())
    }

    /// Completes a request, at the time that the completion says, that never reached the inner device.
    pub(super) fn complete(&mut self, completion: Completion) {
        self.in_flight += 1;
        self.hold(completion);
    }

    /// [`Device::wait`], where `change` may alter a completion and put off its time.
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
            // An inner device that has lost a request must not turn this into an endless loop.
            if nothing_came && (target == Time::MAX || now == before) {
                return;
            }
        }
    }

    fn hold(&mut self, completion: Completion) {
        self.due.push(completion.completed, completion);
    }

    /// Hands out what is due at `now`; whether there was anything.
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

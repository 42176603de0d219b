//! The event loop of modelled drives: implements [`Device::wait`] over events in order of time.
//!
//! The model handles each event; this module decides when the loop stops. A `wait` ends at the first instant at which a
//! request completes, with everything that completes at that instant, and no later than `until`. Requests in flight at
//! [`Time::END`] fail.

use crate::{Completion, Device, IoErrorKind, Request};
use fathom_base::{Dur, EventQueue, Time};
use std::ops::{Deref, DerefMut};

/// The progress of a model: the time, and the completions that have not been collected.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The current time.
    pub now: Time,
    /// Number of requests that are not complete.
    in_flight: usize,
    /// Uncollected completions; all of them have the current time.
    finished: Vec<Completion>,
}

impl Progress {
    /// Returns true if no request is in flight.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// Returns true if there are uncollected completions.
    #[inline]
    pub fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Completes a request that was admitted at `submitted`.
    #[inline]
    pub fn complete(
        &mut self,
        request: &Request,
        submitted: Time,
        result: Result<(), IoErrorKind>,
        data: Option<Box<[u8]>>,
    ) {
        let result = result.map_err(|kind| request.error(kind));
        let done = Completion::of(request, submitted..self.now, result, data);
        self.in_flight -= 1;
        self.finished.push(done);
    }

    /// Completes an append that was admitted at `submitted` and went to `placed`.
    pub fn complete_append(
        &mut self,
        request: &Request,
        submitted: Time,
        result: Result<(), IoErrorKind>,
        placed: u64,
    ) {
        self.complete(request, submitted, result, None);
        if let (Some(done), Ok(())) = (self.finished.last_mut(), result) {
            done.placed = placed;
        }
    }
}

/// [`Progress`] with the queue of pending events.
#[derive(Clone, Debug)]
pub struct Clock<E> {
    progress: Progress,
    /// Pending events.
    pub events: EventQueue<E>,
    /// Number of events processed.
    pub happened: u64,
}

/// The events of a model. Their kind determines the lane in the [`EventQueue`].
pub trait Event: Copy {
    /// Returns the lane for events that occur in order of time, or a number that is not below
    /// [`LANES`](fathom_base::event::LANES) for other events.
    fn lane(self) -> usize;
}

impl<E: Event> Clock<E> {
    /// Schedules an event at a time.
    #[inline]
    pub fn at(&mut self, time: Time, event: E) {
        self.events.push_in_order(event.lane(), time, event);
    }

    /// Schedules an event after a duration.
    #[inline]
    pub fn after(&mut self, wait: Dur, event: E) {
        self.at(self.now + wait, event);
    }

    /// Advances to the next event and returns it, if it is no later than `limit`.
    #[inline]
    pub fn next(&mut self, limit: Time) -> Option<E> {
        let (at, event) = self.events.pop_until(limit)?;
        self.now = self.now.max(at);
        self.happened += 1;
        Some(event)
    }

    /// Returns the time of the next event, or of uncollected completions; [`Time::MAX`] if there are none.
    pub fn next_at(&self) -> Time {
        if self.has_finished() {
            return self.now;
        }
        let next = self.events.next_at();
        next.map_or(Time::MAX, |at| at.max(self.now))
    }

    /// Returns true if an event is pending for the current time.
    #[inline]
    pub fn happens_now(&self) -> bool {
        self.events.next_at().is_some_and(|next| next <= self.now)
    }
}

impl<E> Default for Clock<E> {
    fn default() -> Self {
        Self {
            progress: Progress::default(),
            events: EventQueue::default(),
            happened: 0,
        }
    }
}

impl<E> Deref for Clock<E> {
    type Target = Progress;

    #[inline]
    fn deref(&self) -> &Progress {
        &self.progress
    }
}

impl<E> DerefMut for Clock<E> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }
}

/// A drive whose time advances from event to event.
pub trait Simulated: Device {
    /// Returns its progress.
    fn progress(&mut self) -> &mut Progress;

    /// Advances to the next event and handles it, if it is no later than `limit`. Returns true if it did.
    fn step(&mut self, limit: Time) -> bool;

    /// Returns true if no events are pending.
    fn is_still(&self) -> bool;

    /// Removes all events and completes everything in flight with [`IoErrorKind::EndOfTime`].
    fn end(&mut self);
}

/// Implements [`Device::wait`] for a model.
#[inline]
pub fn wait<M: Simulated>(model: &mut M, until: Time, done: &mut Vec<Completion>) {
    // Events of the current time are always handled, even if `until` is earlier.
    let until = until.max(model.progress().now);
    while until != Time::MAX || !model.progress().is_idle() {
        // Once a request is complete, only events of the same instant are handled.
        let limit = match model.progress().has_finished() {
            true => model.progress().now,
            false => until.min(Time::END),
        };
        if !model.step(limit) {
            end_if_over(model, until);
            break;
        }
    }
    let progress = model.progress();
    if !progress.has_finished() {
        if until != Time::MAX {
            progress.now = until;
        }
    } else if done.is_empty() {
        std::mem::swap(done, &mut progress.finished);
    } else {
        done.append(&mut progress.finished);
    }
}

/// There is no event until `until`: fails the requests in flight if `until` is after the end of time.
fn end_if_over<M: Simulated>(model: &mut M, until: Time) {
    // A model without events is stuck; it completes nothing, which shows the fault.
    let goes_on = !model.is_still();
    let progress = model.progress();
    let waits = !progress.has_finished() && !progress.is_idle();
    if until > Time::END && waits && goes_on {
        progress.now = progress.now.max(Time::END);
        model.end();
    }
}

/// The first part of [`Device::submit`] of a model. Returns `None` if the queue is full, in which uncollected completions
/// still occupy a place.
///
/// # Errors
/// Returns the error with which the request completes at once.
#[inline]
pub fn admit<M: Simulated>(model: &mut M, request: &Request) -> Option<Result<(), IoErrorKind>> {
    let depth = model.info().queue_depth as usize;
    let progress = model.progress();
    if progress.in_flight + progress.finished.len() >= depth {
        return None;
    }
    progress.in_flight += 1;
    let is_over = progress.now >= Time::END;
    let data = request.data.as_ref().filter(|_| request.op.is_write());
    let is_short = data.is_some_and(|data| data.len() as u64 != request.len);
    Some(match model.info().check(request) {
        Err(error) => Err(error.kind),
        Ok(()) if is_over => Err(IoErrorKind::EndOfTime),
        Ok(()) if is_short => Err(IoErrorKind::Misaligned),
        Ok(()) => Ok(()),
    })
}

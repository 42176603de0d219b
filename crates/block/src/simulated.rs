//! The loop of a modelled drive: [`Device::wait`] over events in order of time.
//!
//! The model says how one event is handled; here is when the loop stops. A `wait` ends at the first instant at which
//! something completes, with everything that completes at that instant, and no later than `until`. What is in flight at
//! [`Time::END`] fails.

use crate::{Busy, Completion, Device, IoErrorKind, Op, Request};
use fathom_base::{Dur, EventQueue, Time};
use std::ops::{Deref, DerefMut};

/// How far a model has come: the time, and what is complete and not collected yet.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The present instant.
    pub now: Time,
    /// Requests that are not complete.
    in_flight: usize,
    /// All of it completed at the present instant.
    finished: Vec<Completion>,
}

impl Progress {
    /// Whether no request is in flight.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// Whether something is complete that was not collected.
    #[inline]
    pub fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// A request that was admitted at `submitted` is complete.
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
}

/// [`Progress`] with the events that are to come.
#[derive(Clone, Debug)]
pub struct Clock<E> {
    progress: Progress,
    /// What is to come.
    pub events: EventQueue<E>,
    /// Events that have happened.
    pub happened: u64,
}

/// What can happen, where its kind tells its lane in the [`EventQueue`].
pub trait Event: Copy {
    /// The lane, for events that come in order of time; none of the [`LANES`](fathom_base::event::LANES) for others.
    fn lane(self) -> usize;
}

impl<E: Event> Clock<E> {
    /// Something happens at a time.
    #[inline]
    pub fn at(&mut self, time: Time, event: E) {
        self.events.push_in_order(event.lane(), time, event);
    }

    /// Something happens after a while.
    #[inline]
    pub fn after(&mut self, wait: Dur, event: E) {
        self.at(self.now + wait, event);
    }

    /// Goes on to the next event, if it comes no later than `limit`.
    #[inline]
    pub fn next(&mut self, limit: Time) -> Option<E> {
        let (at, event) = self.events.pop_until(limit)?;
        self.now = self.now.max(at);
        self.happened += 1;
        Some(event)
    }

    /// Whether anything happens now.
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

/// A drive whose time passes from event to event.
pub trait Simulated: Device {
    /// How far it has come.
    fn progress(&mut self) -> &mut Progress;

    /// Goes on to the next event and handles it, if it comes at `limit` or before. Whether it did.
    fn step(&mut self, limit: Time) -> bool;

    /// Whether no event is to come.
    fn is_still(&self) -> bool;

    /// Drops every event and completes everything in flight with [`IoErrorKind::EndOfTime`].
    fn end(&mut self);
}

/// [`Device::wait`] of a model.
#[inline]
pub fn wait<M: Simulated>(model: &mut M, until: Time, done: &mut Vec<Completion>) {
    // What happens at this very instant belongs to it, however early `until` is.
    let until = until.max(model.progress().now);
    while until != Time::MAX || !model.progress().is_idle() {
        // Once something is complete, only what happens at the same instant joins it.
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

/// Nothing more happens until then: what is in flight fails if that is after the end of time.
fn end_if_over<M: Simulated>(model: &mut M, until: Time) {
    // Without an event the model has stopped, and shows it by completing nothing.
    let goes_on = !model.is_still();
    let progress = model.progress();
    let waits = !progress.has_finished() && !progress.is_idle();
    if until > Time::END && waits && goes_on {
        progress.now = progress.now.max(Time::END);
        model.end();
    }
}

/// The beginning of [`Device::submit`] of a model: hands the request back where the queue is full, else says with which
/// error it completes at once, if it does.
///
/// # Errors
/// [`Busy`]: what is complete but not collected still takes its place in the queue.
#[inline]
pub fn admit<M: Simulated>(
    model: &mut M,
    request: Request,
) -> Result<(Request, Option<IoErrorKind>), Busy> {
    let depth = model.info().queue_depth as usize;
    let progress = model.progress();
    if progress.in_flight + progress.finished.len() >= depth {
        return Err(Busy(request));
    }
    progress.in_flight += 1;
    let is_over = progress.now >= Time::END;
    let data = request.data.as_ref().filter(|_| request.op == Op::Write);
    let refused = match model.info().check(&request) {
        Err(error) => Some(error.kind),
        Ok(()) if is_over => Some(IoErrorKind::EndOfTime),
        Ok(()) => data
            .is_some_and(|data| data.len() as u64 != request.len)
            .then_some(IoErrorKind::Misaligned),
    };
    Ok((request, refused))
}

//! The loop of a modelled drive: [`Device::wait`] over events in order of time.
//!
//! The model says how one event is handled; here is when the loop stops. A `wait` ends at the first instant at which
//! something completes, with everything that completes at that instant, and no later than `until`. What is in flight at
//! [`Time::END`] fails.

use crate::{Busy, Completion, Device, IoErrorKind, Op, Request};
use fathom_base::Time;

/// A drive whose time passes from event to event.
pub trait Simulated: Device {
    /// Requests that are not complete.
    fn in_flight(&self) -> usize;

    /// What is complete and not collected yet. All of it completed at the present instant.
    fn finished(&self) -> &Vec<Completion>;

    /// The same, to take from.
    fn finished_mut(&mut self) -> &mut Vec<Completion>;

    /// Sets the clock.
    fn set_now(&mut self, now: Time);

    /// Whether an event is to come.
    fn has_events(&self) -> bool;

    /// Goes on to the next event and handles it, if it comes at `limit` or before. Whether it did.
    fn step(&mut self, limit: Time) -> bool;

    /// Drops every event and completes everything in flight with [`IoErrorKind::EndOfTime`].
    fn end(&mut self);
}

/// [`Device::wait`] of a model.
#[inline]
pub fn wait<M: Simulated>(model: &mut M, until: Time, done: &mut Vec<Completion>) {
    // What happens at this very instant belongs to it, however early `until` is.
    let until = until.max(model.now());
    while until != Time::MAX || model.in_flight() > 0 {
        // Once something is complete, only what happens at the same instant joins it.
        let limit = match model.finished().is_empty() {
            true => until.min(Time::END),
            false => model.now(),
        };
        if !model.step(limit) {
            let ends = until > Time::END && model.finished().is_empty() && model.in_flight() > 0;
            // Without an event the model has stopped, and shows it by completing nothing.
            if ends && model.has_events() {
                model.set_now(model.now().max(Time::END));
                model.end();
            }
            break;
        }
    }
    if model.finished().is_empty() {
        if until != Time::MAX {
            model.set_now(until);
        }
    } else if done.is_empty() {
        std::mem::swap(done, model.finished_mut());
    } else {
        done.append(model.finished_mut());
    }
}

/// The beginning of [`Device::submit`] of a model: hands the request back where the queue is full, else says with which
/// error it completes at once, if it does.
///
/// # Errors
/// [`Busy`]: what is complete but not collected still takes its place in the queue.
#[inline]
pub fn admit<M: Simulated>(
    model: &M,
    request: Request,
) -> Result<(Request, Option<IoErrorKind>), Busy> {
    let info = model.info();
    if model.in_flight() + model.finished().len() >= info.queue_depth as usize {
        return Err(Busy(request));
    }
    let data = request.data.as_ref().filter(|_| request.op == Op::Write);
    let refused = match info.check(&request) {
        Err(error) => Some(error.kind),
        Ok(()) if model.now() >= Time::END => Some(IoErrorKind::EndOfTime),
        Ok(()) => data
            .is_some_and(|data| data.len() as u64 != request.len)
            .then_some(IoErrorKind::Misaligned),
    };
    Ok((request, refused))
}

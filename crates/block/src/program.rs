//! Programs: workloads above a drive whose next request may depend on the results of earlier ones.
//!
//! A trace lists fixed requests; a program decides its next request from the completed ones. Examples: a closed loop, a
//! process that waits for its reads and thinks between them, a page cache that writes back after a while. The run loop
//! (`fathom_run`) asks each actor for its next request, submits it, and reports every completion; it knows nothing else
//! about a program.
//!
//! A program draws random numbers from [`fathom_base::Rng`] only, and learns the time only from its caller, so that on a
//! modelled drive a run is a function of (drive, program, seed).

use crate::{Access, Tag};
use fathom_base::Time;

/// An access that an actor requests. The run loop turns it into a [`crate::Request`] to the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The access. Its own time is that of the trace, if it comes from one.
    pub access: Access,
    /// The process that makes it, and whether somebody waits for it.
    pub tag: Tag,
    /// Start of its response time; not later than now.
    pub asked: Time,
    /// Completions before this time are excluded from all figures of the run.
    pub counts: Time,
    /// The bytes of a write that will be verified.
    pub data: Option<Box<[u8]>>,
}

/// The next action of an actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Makes this request; the actor is asked again at once.
    Request(Request),
    /// Does nothing before this time (later than now), unless an access of this actor completes earlier; [`Time::MAX`] to
    /// wait for a completion only.
    Wait(Time),
    /// Like [`Next::Wait`], but may also wait for another actor: the actor is asked again at every event, that is, when
    /// an access of any actor completes or the time of another actor comes. Costs one call for each event.
    Watch(Time),
}

/// A completed access.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// The access.
    pub access: &'a Access,
    /// The process that made it.
    pub tag: Tag,
    /// Time of completion.
    pub completed: Time,
    /// The bytes of a read, if the drive stores bytes.
    pub data: Option<&'a [u8]>,
}

/// A user of a drive. Times count from its start.
///
/// It ends when no actor makes a request or waits for a time, and nothing is in flight.
pub trait Program {
    /// Errors of the program: a trace that cannot be read, or data that differs from what was written.
    type Error: std::error::Error;

    /// Returns the number of actors (threads). They are independent: if the drive accepts no more requests, one actor
    /// waits and the others continue.
    fn actors(&self) -> usize;

    /// Returns the next action of an actor (from 0). Called at the start, after every completion of this actor, when its
    /// time has come, and more often if it watches ([`Next::Watch`]).
    ///
    /// # Errors
    /// An error ends the run.
    fn next(&mut self, actor: usize, now: Time) -> Result<Next, Self::Error>;

    /// Reports a completion to its actor.
    ///
    /// # Errors
    /// An error ends the run.
    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), Self::Error>;

    /// Returns the fraction that is done at that time, from 0 to 1; `None` if the end is unknown. For progress displays.
    fn part(&self, _now: Time) -> Option<f64> {
        None
    }
}

impl<P: Program + ?Sized> Program for Box<P> {
    type Error = P::Error;

    fn actors(&self) -> usize {
        (**self).actors()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, Self::Error> {
        (**self).next(actor, now)
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), Self::Error> {
        (**self).done(actor, done)
    }

    fn part(&self, now: Time) -> Option<f64> {
        (**self).part(now)
    }
}

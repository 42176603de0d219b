//! What runs above a drive: programs, whose next request may depend on how the last ones went.
//!
//! A trace says what was requested once; a program says what it requests next, given what is done. A closed loop, a process
//! that waits for its reads and thinks between them, a page cache that writes back after a while: all are programs. The run
//! loop (`fathom_run`) asks each actor what it wants, hands that over, and reports every completion; it knows nothing else
//! of them.
//!
//! A program draws from [`fathom_base::Rng`] alone and sees time only as it is told, so that on a modelled drive a run is
//! a function of (drive, program, seed).

use crate::{Access, Tag};
use fathom_base::Time;

/// An access that an actor requests. The run loop makes it a [`crate::Request`] of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What. Its own time is that of a trace, if it is from one.
    pub access: Access,
    /// On whose behalf, and whether somebody waits for it.
    pub tag: Tag,
    /// From when on its response time counts, not later than now.
    pub asked: Time,
    /// What is done before that time counts in no figure of the run.
    pub counts: Time,
    /// The bytes of a write that somebody will verify.
    pub data: Option<Box<[u8]>>,
}

/// What an actor does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It requests this, and is asked again at once.
    Request(Request),
    /// Nothing before that time (later than now), unless an access of this actor is done before; [`Time::MAX`] for
    /// nothing at all until then.
    Wait(Time),
    /// The same, and what it waits for may come from another actor: it is asked again whenever anything happens, an
    /// access of any actor that is done or another one's time. Costs a call for each of these.
    Watch(Time),
}

/// An access that is done.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// What it was.
    pub access: &'a Access,
    /// On whose behalf it was.
    pub tag: Tag,
    /// When it was done.
    pub completed: Time,
    /// The bytes of a read, where the drive keeps bytes.
    pub data: Option<&'a [u8]>,
}

/// Something that uses a drive. Times count from its start.
///
/// It is over when no actor asks for anything or waits for a time, and nothing is in flight.
pub trait Program {
    /// What may go wrong: a trace that cannot be read, data that is not what was written.
    type Error: std::error::Error;

    /// How many threads it has. Each asks on its own: where the drive takes no more, one waits and the others go on.
    fn actors(&self) -> usize;

    /// What an actor (from 0) does now. It is asked at the start, after every access of it that is done, when its time has come, and
    /// oftener where it watches ([`Next::Watch`]).
    ///
    /// # Errors
    /// The end of the run.
    fn next(&mut self, actor: usize, now: Time) -> Result<Next, Self::Error>;

    /// An access of that actor is done.
    ///
    /// # Errors
    /// The end of the run.
    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), Self::Error>;

    /// What part of it is done at that time, from 0 to 1; `None` where it does not know its end. It is for people who wait.
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

//! A stream of accesses as a program, open (at their own times) or closed (a fixed number in flight).

use super::slots::Slots;
use fathom_base::Time;
use fathom_block::program::{Done, Next, Program, Request};
use fathom_block::{Access, Tag};
use std::convert::Infallible;

/// Accesses from one source, in order. The next one is read when it is due, so memory does not grow with their number.
#[derive(Debug)]
pub struct Stream<S> {
    source: S,
    /// The slots of a closed loop; `None` if each access is issued at its own time.
    slots: Option<Slots>,
    /// An access that was read and is not due yet.
    held: Option<Access>,
}

impl<S> Stream<S> {
    /// Issues each access at its own time, whether or not earlier ones have completed.
    pub fn open(source: S) -> Self {
        Self::new(source, None)
    }

    /// Keeps `outstanding` accesses in flight and ignores their times.
    pub fn closed(source: S, outstanding: u32) -> Self {
        Self::new(source, Some(Slots::new(outstanding, Time::ZERO)))
    }

    fn new(source: S, slots: Option<Slots>) -> Self {
        Self {
            source,
            slots,
            held: None,
        }
    }
}

/// Makes a closed loop of accesses that cannot fail, such as a generator's: keeps `outstanding` in flight and ignores
/// their times.
pub fn closed_loop(
    accesses: impl IntoIterator<Item = Access>,
    outstanding: u32,
) -> impl Program<Error = Infallible> {
    Stream::closed(accesses.into_iter().map(Ok), outstanding)
}

impl<S, E> Program for Stream<S>
where
    S: Iterator<Item = Result<Access, E>>,
    E: std::error::Error,
{
    type Error = E;

    fn actors(&self) -> usize {
        1
    }

    // A request is not copied on its way to the run loop.
    #[inline(always)]
    fn next(&mut self, _actor: usize, now: Time) -> Result<Next, E> {
        let free = match &mut self.slots {
            None => None,
            Some(slots) => match slots.take() {
                None => return Ok(Next::Wait(Time::MAX)),
                free => free,
            },
        };
        let access = match self.held.take() {
            Some(access) => access,
            None => match self.source.next() {
                Some(Ok(access)) => access,
                Some(Err(error)) => return Err(error),
                None => return Ok(Next::Wait(Time::MAX)),
            },
        };
        let asked = match free {
            // A time after the end of time is moved to it, so that the device decides what happens to the access.
            None if access.at.min(Time::END) > now => {
                self.held = Some(access);
                return Ok(Next::Wait(access.at.min(Time::END)));
            }
            None => access.at,
            Some(free) => free,
        };
        Ok(Next::Request(Request {
            tag: Tag {
                process: access.process,
                ..Tag::default()
            },
            access,
            asked,
            counts: Time::ZERO,
            data: None,
        }))
    }

    #[inline]
    fn done(&mut self, _actor: usize, done: Done<'_>) -> Result<(), E> {
        if let Some(slots) = &mut self.slots {
            slots.give(done.completed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Dur;
    use fathom_block::Op;

    /// `Time::MAX` means to wait without an end; an access with that time would never be issued.
    #[test]
    fn an_access_behind_the_end_of_time_is_asked_for_at_it() {
        for at in [Time::END + Dur(1), Time::MAX] {
            let (op, offset, len) = (Op::Write, 0, 4096);
            let access = Access::new(at, op, offset, len);
            let mut stream = Stream::open([Ok::<_, Infallible>(access)].into_iter());
            let Ok(Next::Wait(until)) = stream.next(0, Time::ZERO) else {
                panic!("{at:?}");
            };
            assert_eq!(until, Time::END);
            assert!(matches!(stream.next(0, until), Ok(Next::Request(_))));
        }
    }
}

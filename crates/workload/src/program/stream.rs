//! One stream of accesses as a program: at its own times, or as many at once as may be outstanding.

use super::{Answer, Ask, Next, Program};
use crate::Access;
use fathom_base::Time;
use fathom_block::Tag;

/// Accesses from one source, in order. The next one is read when it is due, so that memory does not grow with them.
#[derive(Debug)]
pub struct Stream<S> {
    source: S,
    /// At most so many in flight; `None` for each at its own time.
    outstanding: Option<u32>,
    in_flight: u32,
    /// Read, and not due yet.
    held: Option<Access>,
    /// When the last answer came.
    answered: Time,
}

impl<S> Stream<S> {
    /// Each access at its own time, whether or not those before it are done.
    pub fn open(source: S) -> Self {
        Self::new(source, None)
    }

    /// As soon as fewer than `outstanding` are in flight, whatever their times.
    pub fn closed(source: S, outstanding: u32) -> Self {
        Self::new(source, Some(outstanding))
    }

    fn new(source: S, outstanding: Option<u32>) -> Self {
        Self {
            source,
            outstanding,
            in_flight: 0,
            held: None,
            answered: Time::ZERO,
        }
    }
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

    fn next(&mut self, _actor: usize, now: Time) -> Result<Next, E> {
        if self.outstanding.is_some_and(|most| self.in_flight >= most) {
            return Ok(Next::Wait(Time::MAX));
        }
        let access = match self.held.take() {
            Some(access) => access,
            None => match self.source.next().transpose()? {
                Some(access) => access,
                None => return Ok(Next::Wait(Time::MAX)),
            },
        };
        let asked = match self.outstanding {
            None if access.at > now => {
                self.held = Some(access);
                return Ok(Next::Wait(access.at));
            }
            None => access.at,
            Some(_) => self.answered,
        };
        self.in_flight += 1;
        Ok(Next::Ask(Ask {
            access,
            tag: Tag::default(),
            asked,
            data: None,
        }))
    }

    fn done(&mut self, _actor: usize, answer: Answer<'_>) -> Result<(), E> {
        self.in_flight -= 1;
        self.answered = answer.completed;
        Ok(())
    }
}

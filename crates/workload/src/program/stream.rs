//! One stream of accesses as a program: at its own times, or as many at once as may be outstanding.

use super::{Answer, Ask, Next, Program};
use crate::Access;
use fathom_base::Time;
use fathom_block::Tag;
use std::collections::VecDeque;

/// Accesses from one source, in order. The next one is read when it is due, so that memory does not grow with them.
#[derive(Debug)]
pub struct Stream<S> {
    source: S,
    /// Who waits for answers; `None` for each access at its own time.
    slots: Option<Slots>,
    /// Read, and not due yet.
    held: Option<Access>,
}

/// Those that ask for one access at a time each. An answer counts from when its asker was free, also where the drive takes
/// the access later: with n of them, n are waited for at any time.
#[derive(Debug)]
struct Slots {
    /// Have not asked for anything yet.
    unused: u32,
    /// When the others became free, the first one first.
    free: VecDeque<Time>,
}

impl Slots {
    /// Since when the next one is free, if any is.
    fn take(&mut self) -> Option<Time> {
        match self.unused {
            0 => self.free.pop_front(),
            _ => {
                self.unused -= 1;
                Some(Time::ZERO)
            }
        }
    }
}

impl<S> Stream<S> {
    /// Each access at its own time, whether or not those before it are done.
    pub fn open(source: S) -> Self {
        Self::new(source, None)
    }

    /// As soon as fewer than `outstanding` are in flight, whatever their times.
    pub fn closed(source: S, outstanding: u32) -> Self {
        let slots = Slots {
            unused: outstanding,
            free: VecDeque::new(),
        };
        Self::new(source, Some(slots))
    }

    fn new(source: S, slots: Option<Slots>) -> Self {
        Self {
            source,
            slots,
            held: None,
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
        let free = match &mut self.slots {
            None => None,
            Some(slots) => match slots.take() {
                None => return Ok(Next::Wait(Time::MAX)),
                free => free,
            },
        };
        let access = match self.held.take() {
            Some(access) => access,
            None => match self.source.next().transpose()? {
                Some(access) => access,
                None => return Ok(Next::Wait(Time::MAX)),
            },
        };
        let asked = match free {
            None if access.at > now => {
                self.held = Some(access);
                return Ok(Next::Wait(access.at));
            }
            None => access.at,
            Some(free) => free,
        };
        Ok(Next::Ask(Ask {
            access,
            tag: Tag::default(),
            asked,
            data: None,
        }))
    }

    fn done(&mut self, _actor: usize, answer: Answer<'_>) -> Result<(), E> {
        if let Some(slots) = &mut self.slots {
            slots.free.push_back(answer.completed);
        }
        Ok(())
    }
}

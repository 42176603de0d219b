//! Noop: requests are dispatched in order of arrival.
//!
//! `irbw` 2.3: "serves read/write requests based on their arrival time. It also merges adjacent requests to a larger
//! one, when possible" (Linux 2.6, `block/noop-iosched.c`). It has no tunables. The queue does the merging. Noop does
//! not sort requests by place and has no `elevator_merge_fn`: a request can be merged behind any other
//! (`elv_rqhash_find`), but in front only of the one that was merged last (`q->last_merge`, `elv_merge` of 2.6.23).

use super::Fifo;
use crate::scheduler::Policy;
use crate::{Era, Io, IoKey, Merging, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("first come, first served; adjacent requests are merged");

keys! {
    /// No tunables.
    #[derive(Default)]
    #[serde(default, deny_unknown_fields)]
    pub struct Tunables {}
}

impl Policy for Tunables {
    /// Covers the queue ahead of a request.
    const STARVATION: Dur = Dur::ms(50);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Noop::of(Era::Single)))
    }
}

/// First come, first served, with the merging rules of one Linux block layer or the other.
#[derive(Debug)]
pub(super) struct Noop {
    queue: Fifo,
    era: Era,
}

impl Noop {
    /// Creates an empty scheduler.
    pub(super) fn of(era: Era) -> Self {
        Self {
            queue: Fifo::default(),
            era,
        }
    }
}

impl Scheduler for Noop {
    fn insert(&mut self, _now: Time, io: Io) {
        self.queue.push(io);
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        if let Some(held) = self.queue.get_mut(before.key) {
            *held = io;
        }
    }

    fn remove(&mut self, io: &Io) {
        self.queue.take(io.key);
    }

    fn dispatch(&mut self, _now: Time) -> Option<Io> {
        self.queue.pop()
    }

    fn era(&self) -> Era {
        self.era
    }

    fn merging(&self) -> Merging {
        match self.era {
            Era::Single => Merging::ByEnd,
            Era::Multi => Merging::Latest { of_kind: false },
        }
    }

    fn neighbours(&self, key: IoKey) -> [Option<IoKey>; 2] {
        self.queue.neighbours(key)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

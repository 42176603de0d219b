//! Noop: requests go in the order in which they came.
//!
//! `irbw` 2.3: "serves read/write requests based on their arrival time. It also merges adjacent requests to a larger one,
//! when possible" (Linux 2.6, `block/noop-iosched.c`). It has no tunables; merging is the queue's. It keeps no order by
//! place: a request is merged behind any other (`elv_rqhash_find`), and in front only of the one that was merged last
//! (`q->last_merge`, `elv_merge` of 2.6.23), since there is no `elevator_merge_fn`.

use super::Fifo;
use crate::scheduler::Policy;
use crate::{Era, Io, IoKey, Merging, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys};

/// What the list says of it.
pub(crate) const ABOUT: About =
    About::new("first come, first served; adjacent requests are merged");

keys! {
    /// None.
    #[derive(Default)]
    #[serde(default, deny_unknown_fields)]
    pub struct Tunables {}
}

impl Policy for Tunables {
    /// The queue ahead of it, or a batch of each kind.
    const STARVATION: Dur = Dur::ms(50);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Noop::of(Era::Single)))
    }
}

/// First come, first served, as one Linux or another has it.
#[derive(Debug)]
pub(super) struct Noop {
    queue: Fifo,
    era: Era,
}

impl Noop {
    /// An empty queue.
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

//! No scheduler, called `none` in current Linux: requests are dispatched in order of arrival.
//!
//! Linux 6.18: `blk_mq_flush_plug_list`, `blk_mq_insert_requests` (`block/blk-mq.c`), `blk_mq_sched_bio_merge`
//! (`block/blk-mq-sched.c`), `blk_bio_list_merge` (`block/blk-merge.c`). A request is merged with the last one in the
//! plug list of its task, or else with one of the latest eight in the software queue, at either end. Two held requests
//! that become adjacent are not joined. One software queue stands for those of all processors.
//!
//! In Linux a request gets a tag of the drive before it enters the plug, so few requests ever wait in the software
//! queue. The queue therefore has room for as many requests as the drive takes, unless fewer may be in flight
//! (`depth`).

use super::noop::Noop;
use crate::scheduler::Policy;
use crate::{Era, Scheduler};
use fathom_base::{About, BadValue, Dur, keys};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About = About::new(
    "no scheduler, as in Linux today: first come, first served; merges in the plug or with the latest eight",
);

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
        Ok(Box::new(Noop::of(Era::Multi)))
    }
}

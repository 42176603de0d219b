//! No scheduler, as Linux today has it under the name `none`: requests go in the order in which they came.
//!
//! Linux 6.18: `blk_mq_flush_plug_list`, `blk_mq_insert_requests` (`block/blk-mq.c`), `blk_mq_sched_bio_merge`
//! (`block/blk-mq-sched.c`), `blk_bio_list_merge` (`block/blk-merge.c`). A request is merged with the last one in the plug
//! list of its task, or else with one of the latest eight in the software queue, at either end. Two that became adjacent
//! stay two. One software queue stands for those of all processors.
//!
//! There, a request has a tag of the drive before it is in the plug, so that hardly any waits in the software queue: the
//! queue has room for as many as the drive takes, unless it is given less to do at a time (`depth`).

use super::noop::Noop;
use crate::scheduler::Policy;
use crate::{Era, Scheduler};
use fathom_base::{About, BadValue, Dur, keys};

/// What the list says of it.
pub(crate) const ABOUT: About = About::new(
    "no scheduler, as in Linux today: first come, first served; merges in the plug or with the latest eight",
);

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
        Ok(Box::new(Noop::of(Era::Multi)))
    }
}

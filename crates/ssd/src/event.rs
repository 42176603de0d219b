//! The events of a drive, and its clock: the current time and the queue of pending events.
//!
//! An event exists only where requests contend for a resource or something ends: the controller has processed a command,
//! a piece of a write has crossed the link, a page register holds its data, a flash operation is done, a request is
//! complete. All other times are computed directly. Events with equal times are served in order of insertion.
//!
//! Events of a resource that serves in order are generated in order of time. They are kept in *lanes*, which need no
//! sorting ([`fathom_base::EventQueue::push_in_order`]). Only this module chooses the lane of an event; the choice does
//! not change the order of events. Measured with callgrind (`cargo xtask performance`, instructions per request, without
//! and with lanes): random reads 1653 and 1408, writes to a new drive 2569 and 2319, writes during garbage collection
//! 7706 and 7592.

use fathom_block::simulated;

/// The current time and the pending events.
pub(crate) type Clock = simulated::Clock<Event>;

/// Not a lane: the event goes into the sorted queue.
const SORTED: usize = usize::MAX;

/// The events. Numbers are indices of requests, flash operations or stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The controller has processed a command.
    Command(u32),
    /// The controller is free for the next command of several queues.
    Fetch,
    /// A piece of a write has crossed the link.
    Arrived(u32),
    /// A page register holds its data.
    Sensed(u32),
    /// A flash operation is done.
    OpDone(End, u32),
    /// The plain operation of a station is done.
    Plain(End, u32),
    /// A part of the mapping table has come from host memory.
    Fetched(u32),
    /// A request is complete.
    Complete(u32),
    /// The idle delay of the write buffer may have expired without a write.
    Idle,
    /// A piece of background work starts.
    Background,
    /// The data of a program is in the page registers of a station: the array starts, or its cache register is free.
    Loaded(u32),
    /// The data of a program is in the page register of a station where a read waits to suspend it.
    Suspend(u32),
    /// The host may have been idle long enough for background garbage collection.
    Collect,
    /// Room of so many sectors in the write memory is free: their content was recorded, not programmed.
    Released(u32),
    /// A part of an unbuffered write was recorded, not programmed.
    Recorded(u32),
    /// The host may have been idle long enough for folding of the fast cache.
    Fold,
    /// A write may be waiting for an erased block although no erase is under way.
    Exhausted,
}

/// The end of an operation, by kind. Operations of one kind take equally long, so they end in order unless the bus delays
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Read,
    Program,
    Copy,
    Erase,
    /// Ends in no particular order: background work and suspended operations.
    Other,
}

impl simulated::Event for Event {
    #[inline]
    fn lane(self) -> usize {
        match self {
            Event::Command(_) => 0,
            Event::Arrived(_) => 1,
            Event::Complete(_) => 2,
            Event::Sensed(_) => 3,
            Event::OpDone(End::Read, _) | Event::Plain(End::Read, _) => 4,
            Event::OpDone(End::Program, _) | Event::Plain(End::Program, _) => 5,
            Event::OpDone(End::Copy, _) | Event::Plain(End::Copy, _) => 6,
            Event::OpDone(End::Erase, _) => 7,
            _ => SORTED,
        }
    }
}

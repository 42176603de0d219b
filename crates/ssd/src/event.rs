//! What can happen in a drive, and its clock: the time, and the events that are to come.
//!
//! An event exists only where something is contended or ends: a command is through the controller, a piece of a
//! write has crossed the link, a page register holds its data, an operation is done, a request is complete.
//! Everything else is arithmetic. Equal times are served in order of insertion.
//!
//! Events of a resource that serves in order come in order of time. They are kept in *lanes*, which cost no sorting
//! ([`fathom_base::EventQueue::push_in_order`]); which lane an event takes is decided here alone and changes no order. Measured with
//! callgrind (`cargo xtask performance`, instructions a request, without and with lanes): random reads 1653 and 1408,
//! writes to a new drive 2569 and 2319, writes under collection 7706 and 7592.

use fathom_block::simulated;

/// The time, and what is to come.
pub(crate) type Clock = simulated::Clock<Event>;

/// No lane: the event is sorted.
const SORTED: usize = usize::MAX;

/// What can happen. Numbers are indices of requests or of operations at the flash array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The controller is through with a command.
    Command(u32),
    /// A piece of a write has crossed the link.
    Arrived(u32),
    /// A page register holds its data.
    Sensed(u32),
    /// A flash operation is done.
    OpDone(End, u32),
    /// A request is complete.
    Complete(u32),
    /// Perhaps no write has come for a while.
    Idle,
    /// Background work begins.
    Background,
    /// The data of a program is in the page registers of a station: the array begins, or its cache register is free.
    Loaded(u32),
    /// The data of a program is in the page register of a station, where a read waits to interrupt it.
    Suspend(u32),
    /// The host may have been idle long enough to collect blocks.
    Collect,
    /// Perhaps a write waits for an erased block that never comes.
    Exhausted,
}

/// The end of an operation. Those of one kind take equally long, so that their ends come in order where no bus makes
/// them wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Read,
    Program,
    Copy,
    Erase,
    /// In no order: background work, and what was interrupted.
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
            Event::OpDone(End::Read, _) => 4,
            Event::OpDone(End::Program, _) => 5,
            Event::OpDone(End::Copy, _) => 6,
            Event::OpDone(End::Erase, _) => 7,
            _ => SORTED,
        }
    }
}

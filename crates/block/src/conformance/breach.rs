//! How a device can break the contract.

use crate::{IoErrorKind, Op, RequestId};
use fathom_base::{Dur, Time};

/// A device that is none: which rule, when and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{device}` breaks the rule `{rule}` after {request} requests (seed {seed}): {breach}")]
pub struct Violation {
    /// The device's name.
    pub device: String,
    /// The part of the suite: `clock`, `queue`, `refusals`, `order`, `bytes`, `flush`, `trim` or `random`.
    pub rule: &'static str,
    /// The seed that shows it again.
    pub seed: u64,
    /// Requests that this part had offered.
    pub request: u64,
    /// What happened.
    #[source]
    pub breach: Breach,
}

/// What a device did that a device does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// Not the device's fault: the options leave too little room.
    #[error(
        "the region must lie on the device and hold {need} logical blocks, it holds {have}: widen Options::region"
    )]
    Region {
        /// Logical blocks of the region that lie on the device.
        have: u64,
        /// Logical blocks needed.
        need: u64,
    },
    /// Time went backwards.
    #[error("the clock went back from {} ns to {} ns", from.0, to.0)]
    ClockBackwards {
        /// Before.
        from: Time,
        /// After.
        to: Time,
    },
    /// Simulated time passed where none may.
    #[error("{during} moved the simulated clock from {} ns to {} ns", from.0, to.0)]
    ClockMoved {
        /// During which call.
        during: &'static str,
        /// Before.
        from: Time,
        /// After.
        to: Time,
    },
    /// `wait` of a model went past its end.
    #[error("wait until {} ns went on to {} ns", until.0, now.0)]
    Overshot {
        /// Where it should have stopped.
        until: Time,
        /// Where it stopped.
        now: Time,
    },
    /// `wait` came back before its end with nothing.
    #[error("wait until {} ns brought nothing and came back at {} ns", until.0, now.0)]
    EarlyReturn {
        /// When it should have come back.
        until: Time,
        /// When it did.
        now: Time,
    },
    /// `wait` changed what was in the list already.
    #[error("wait did not append to the list of completions: it changed what was there")]
    ListChanged,
    /// Nothing completed.
    #[error("request {} did not complete, nor did anything else for {patience}", id.0)]
    Lost {
        /// The oldest request in flight.
        id: RequestId,
        /// How long nothing completed.
        patience: Dur,
    },
    /// A request completed that is not in flight.
    #[error("request {} completed, which is not in flight: twice, or never submitted", id.0)]
    NotInFlight {
        /// Which.
        id: RequestId,
    },
    /// A request completed as something else.
    #[error("request {} is a {asked} and completed as a {got}", id.0)]
    WrongOp {
        /// Which.
        id: RequestId,
        /// What it was.
        asked: Op,
        /// What the completion says.
        got: Op,
    },
    /// The time of submission is wrong.
    #[error("request {} was submitted from {} to {} ns and its completion says {} ns", id.0, from.0, to.0, got.0)]
    WrongSubmitted {
        /// Which.
        id: RequestId,
        /// The clock before it was submitted.
        from: Time,
        /// The clock after it was submitted.
        to: Time,
        /// What the completion says.
        got: Time,
    },
    /// The time of completion is impossible.
    #[error("request {} completed at {} ns, which is not from {} to {} ns", id.0, got.0, from.0, to.0)]
    WrongCompleted {
        /// Which.
        id: RequestId,
        /// The earliest that it could be: its submission and the completion before it; a model's clock.
        from: Time,
        /// The latest: the clock.
        to: Time,
        /// What the completion says.
        got: Time,
    },
    /// Completions of one instant came apart.
    #[error("request {} completed at the instant of the batch before it and came later", id.0)]
    Apart {
        /// Which.
        id: RequestId,
    },
    /// Equal requests overtook each other.
    #[error("requests {} and {}, equal and of one instant, completed in the other order", first.0, second.0)]
    Overtaken {
        /// Submitted first.
        first: RequestId,
        /// Completed first.
        second: RequestId,
    },
    /// More in flight than the device says it takes.
    #[error("it took a request with {depth} in flight, which is its queue depth")]
    QueueOverrun {
        /// The depth of its queue.
        depth: u32,
    },
    /// Fewer in flight than the device says it takes.
    #[error("it was busy with {in_flight} requests in flight and a queue depth of {depth}")]
    BusyEarly {
        /// Requests in flight.
        in_flight: usize,
        /// The depth of its queue.
        depth: u32,
    },
    /// The request that was handed back is not the one that was submitted.
    #[error("it was busy and handed back another request than {}", id.0)]
    BusyChanged {
        /// Which.
        id: RequestId,
    },
    /// A request ended as it must not.
    #[error("request {} ({op} of {len} bytes at {offset}) must end with {expected:?} and ended with {got:?}", id.0)]
    WrongResult {
        /// Which.
        id: RequestId,
        /// What it was.
        op: Op,
        /// Where, in bytes.
        offset: u64,
        /// How much, in bytes.
        len: u64,
        /// How it must end: `Some(None)` with any error.
        expected: Result<(), Option<IoErrorKind>>,
        /// How it ended.
        got: Result<(), IoErrorKind>,
    },
    /// The error tells of another request.
    #[error("the error of request {} tells of another operation, offset or length", id.0)]
    WrongError {
        /// Which.
        id: RequestId,
    },
    /// A completion has data where it must have none, none where it must have some, or of another length.
    #[error("request {} completed with {got:?} bytes of data and must have {expected:?}", id.0)]
    DataLength {
        /// Which.
        id: RequestId,
        /// Bytes that it must have.
        expected: Option<u64>,
        /// Bytes that it has.
        got: Option<u64>,
    },
    /// A read brought other bytes than were written.
    #[error("request {} read other bytes at offset {offset} than were written there last", id.0)]
    WrongData {
        /// Which.
        id: RequestId,
        /// The first block that differs, in bytes.
        offset: u64,
    },
}

//! Breaches of the contract.

use crate::{IoErrorKind, Op, RequestId, Zone};
use fathom_base::{Dur, Time};

/// The report of a device that does not conform: which rule, when and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{device}` breaks the rule `{rule}` after {request} requests (seed {seed}): {breach}")]
pub struct Violation {
    /// The device's name.
    pub device: String,
    /// The part of the suite: `clock`, `queue`, `refusals`, `order`, `bytes`, `flush`, `trim` or `random`; of a zoned
    /// device, `zones`, `zone limits` or `random zones` in place of the last ones.
    pub rule: &'static str,
    /// The seed that reproduces it.
    pub seed: u64,
    /// Number of requests that this part had offered.
    pub request: u64,
    /// The breach.
    #[source]
    pub breach: Breach,
}

/// A breach of the contract by a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// Not a fault of the device: the region of the options is too small.
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
        /// Time before.
        from: Time,
        /// Time after.
        to: Time,
    },
    /// Simulated time passed during a call that must not take time.
    #[error("{during} moved the simulated clock from {} ns to {} ns", from.0, to.0)]
    ClockMoved {
        /// The call.
        during: &'static str,
        /// Time before.
        from: Time,
        /// Time after.
        to: Time,
    },
    /// The `wait` of a model went past its end.
    #[error("wait until {} ns went on to {} ns", until.0, now.0)]
    Overshot {
        /// Requested end of the wait.
        until: Time,
        /// Actual end of the wait.
        now: Time,
    },
    /// `wait` returned before its end without completions.
    #[error("wait until {} ns brought nothing and came back at {} ns", until.0, now.0)]
    EarlyReturn {
        /// Requested end of the wait.
        until: Time,
        /// Actual end of the wait.
        now: Time,
    },
    /// `wait` changed existing entries of the list.
    #[error("wait did not append to the list of completions: it changed what was there")]
    ListChanged,
    /// Nothing completed.
    #[error("request {} did not complete, nor did anything else for {patience}", id.0)]
    Lost {
        /// The oldest request in flight.
        id: RequestId,
        /// How long nothing completed, on the device's clock.
        patience: Dur,
    },
    /// A request completed that was not in flight.
    #[error("request {} completed, which is not in flight: twice, or never submitted", id.0)]
    NotInFlight {
        /// The request.
        id: RequestId,
    },
    /// A request completed with a different operation.
    #[error("request {} is a {asked} and completed as a {got}", id.0)]
    WrongOp {
        /// The request.
        id: RequestId,
        /// The operation of the request.
        asked: Op,
        /// The operation in the completion.
        got: Op,
    },
    /// The submission time is wrong.
    #[error("request {} was submitted from {} to {} ns and its completion says {} ns", id.0, from.0, to.0, got.0)]
    WrongSubmitted {
        /// The request.
        id: RequestId,
        /// The clock before it was submitted.
        from: Time,
        /// The clock after it was submitted.
        to: Time,
        /// The time in the completion.
        got: Time,
    },
    /// The completion time is impossible.
    #[error("request {} completed at {} ns, which is not from {} to {} ns", id.0, got.0, from.0, to.0)]
    WrongCompleted {
        /// The request.
        id: RequestId,
        /// Earliest valid time: its submission and the previous completion; for a model, its clock.
        from: Time,
        /// Latest valid time: the clock.
        to: Time,
        /// The time in the completion.
        got: Time,
    },
    /// Completions of one instant were delivered separately.
    #[error("request {} completed at the instant of the batch before it and came later", id.0)]
    Apart {
        /// The request.
        id: RequestId,
    },
    /// Identical requests overtook each other.
    #[error("requests {} and {}, equal and of one instant, completed in the other order", first.0, second.0)]
    Overtaken {
        /// Submitted first.
        first: RequestId,
        /// Completed first.
        second: RequestId,
    },
    /// The device accepted more requests than its queue depth.
    #[error("it took a request with {depth} in flight, which is its queue depth")]
    QueueOverrun {
        /// Its queue depth.
        depth: u32,
    },
    /// The device was busy with fewer requests than its queue depth.
    #[error("it was busy with {in_flight} requests in flight and a queue depth of {depth}")]
    BusyEarly {
        /// Requests in flight.
        in_flight: usize,
        /// Its queue depth.
        depth: u32,
    },
    /// The returned request is not the one that was submitted.
    #[error("it was busy and handed back another request than {}", id.0)]
    BusyChanged {
        /// The request.
        id: RequestId,
    },
    /// A request ended with the wrong result.
    #[error("request {} ({op} of {len} bytes at {offset}) must end with {expected:?} and ended with {got:?}", id.0)]
    WrongResult {
        /// The request.
        id: RequestId,
        /// Its operation.
        op: Op,
        /// Its offset, in bytes.
        offset: u64,
        /// Its length, in bytes.
        len: u64,
        /// The expected result; `Err(None)` stands for any error.
        expected: Result<(), Option<IoErrorKind>>,
        /// The actual result.
        got: Result<(), IoErrorKind>,
    },
    /// The error describes another request.
    #[error("the error of request {} tells of another operation, offset or length", id.0)]
    WrongError {
        /// The request.
        id: RequestId,
    },
    /// A completion has data where it must have none, no data where it must have some, or data of the wrong length.
    #[error("request {} completed with {got:?} bytes of data and must have {expected:?}", id.0)]
    DataLength {
        /// The request.
        id: RequestId,
        /// Expected length of the data, in bytes.
        expected: Option<u64>,
        /// Actual length of the data, in bytes.
        got: Option<u64>,
    },
    /// A read returned other bytes than those written last.
    #[error("request {} read other bytes at offset {offset} than were written there last", id.0)]
    WrongData {
        /// The request.
        id: RequestId,
        /// Offset of the first block that differs, in bytes.
        offset: u64,
    },
    /// An append went elsewhere than its completion tells, or another request tells a place.
    #[error("request {} was placed at {got} and must be at {expected}", id.0)]
    WrongPlace {
        /// The request.
        id: RequestId,
        /// The write pointer of its zone; 0 for a request that is no append.
        expected: u64,
        /// The place in the completion.
        got: u64,
    },
    /// A zone is not in the state that follows from the requests.
    #[error("a zone must be {expected:?} and is reported as {got:?}")]
    WrongZone {
        /// The zone as it must be.
        expected: Zone,
        /// The zone as reported, if it is.
        got: Option<Zone>,
    },
}

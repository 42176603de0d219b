//! Why an I/O is not split into phases.

/// A reason; the first that applies is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rejection {
    /// The caller's stamps are not in order.
    Stamps,
    /// Events were lost while it was in progress.
    Lost,
    /// No event of the block layer: the data was in the page cache.
    NoBio,
    /// More than one bio on its devices: it was split by the file system, or another I/O was in progress.
    SeveralBios,
    /// More than one request or completion on its devices.
    SeveralRequests,
    /// The block layer split it.
    Split,
    /// The driver gave the request back, and it was issued again.
    Requeued,
    /// Another thread submitted it.
    OtherThread,
    /// The event of the system call is missing, or there are several before the bio.
    Call,
    /// The system call's end is missing.
    NoExit,
    /// The system call failed.
    Failed,
    /// The request's issue to the driver is missing.
    NoIssue,
    /// The request's completion is missing.
    NoCompletion,
    /// The completed request is not the issued one.
    OtherRequest,
    /// The events are not in the order in which an I/O causes them.
    OutOfOrder,
    /// The thread waited before the request was issued, as for metadata or a free tag.
    Waited,
    /// The thread was preempted.
    Preempted,
    /// The thread slept, and what woke it is missing.
    NoWaking,
    /// The thread was woken or ran more often than the I/O explains.
    Ambiguous,
}

impl Rejection {
    /// The reason for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Stamps => "the caller's stamps are not in order",
            Self::Lost => "events were lost",
            Self::NoBio => "it did not reach the block layer (page cache)",
            Self::SeveralBios => "several bios, or another I/O at the same time",
            Self::SeveralRequests => "several requests or completions",
            Self::Split => "split by the block layer",
            Self::Requeued => "issued again",
            Self::OtherThread => "submitted by another thread",
            Self::Call => "the system call was not seen, or several were",
            Self::NoExit => "the end of the system call was not seen",
            Self::Failed => "the system call failed",
            Self::NoIssue => "the issue to the driver was not seen",
            Self::NoCompletion => "the completion was not seen",
            Self::OtherRequest => "another request was completed",
            Self::OutOfOrder => "events out of order",
            Self::Waited => "the thread waited before the request was issued",
            Self::Preempted => "the thread was preempted",
            Self::NoWaking => "the waking of the thread was not seen",
            Self::Ambiguous => "more wake-ups than the I/O explains",
        }
    }
}

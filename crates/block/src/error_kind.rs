//! The reasons why a request fails.

/// The reason why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IoErrorKind {
    /// The offset or the length is not a multiple of the logical block, or the length is zero or over the limit.
    #[error("not a positive multiple of the logical block within the request limit")]
    Misaligned,
    /// The range ends past the end of the device.
    #[error("past the end of the device")]
    OutOfRange,
    /// The device does not support the operation.
    #[error("not supported by the device")]
    Unsupported,
    /// The medium failed.
    #[error("the medium failed")]
    Medium,
    /// No space is left on the storage below.
    #[error("no space left")]
    NoSpace,
    /// The device went away.
    #[error("the device went away")]
    Gone,
    /// The device is read-only.
    #[error("the device is open for reading only")]
    ReadOnly,
    /// The request would end after [`Time::END`](fathom_base::Time::END), where a model's clock stops.
    #[error("ends later than simulated time, which lasts for 500 years")]
    EndOfTime,
    /// A zone operation does not name a whole zone, or an append does not name the start of one (NVMe: Invalid Field).
    #[error(
        "not the start of a zone, or not the length of one: give the offset and the length of a whole zone"
    )]
    NotAZone,
    /// A write does not begin at the zone's write pointer (NVMe: Zone Invalid Write).
    #[error("not at the write pointer of the zone: write where the last write ended, or append")]
    ZoneInvalidWrite,
    /// A write or an append ends past the capacity of its zone, or a read in another zone (NVMe: Zone Boundary Error).
    #[error("crosses the end of the zone: split the request there, or go on in another zone")]
    ZoneBoundary,
    /// The zone is full (NVMe: Zone Is Full).
    #[error("the zone is full: write to another zone, or reset this one")]
    ZoneFull,
    /// The zone can be read and no longer written (NVMe: Zone Is Read Only).
    #[error("the zone is read-only: write to another zone")]
    ZoneReadOnly,
    /// The zone can be neither read nor written (NVMe: Zone Is Offline).
    #[error("the zone is offline, and its data is lost: use another zone")]
    ZoneOffline,
    /// One more zone would be open than the device allows (NVMe: Too Many Open Zones).
    #[error("too many zones are open: close, finish or reset one first")]
    TooManyOpen,
    /// One more zone would be active than the device allows (NVMe: Too Many Active Zones).
    #[error("too many zones are open or closed: fill, finish or reset one first")]
    TooManyActive,
    /// The state of the zone does not allow the action (NVMe: Invalid Zone State Transition).
    #[error(
        "the state of the zone does not allow this: only open zones close, and full ones neither open nor close"
    )]
    ZoneTransition,
    /// Any other failure, with the error number of the operating system.
    #[error("operating system error {0}")]
    Os(i32),
}

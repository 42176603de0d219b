//! Requests, completions and the [`Device`] trait.
//!
//! The interface resembles io_uring: `submit` never blocks, `wait` delivers completions. The device owns time: the `wait`
//! of a model jumps, that of a real drive sleeps, so the code above is the same for both.
//!
//! Rules:
//! - Requests submitted at one instant are served in order of submission (FIFO by sequence number). A layer that
//!   schedules may reorder the requests of different processes.
//! - Completions of one instant are delivered together, in the order in which the device finished them.
//! - A device completes every request exactly once. A device that is dropped with requests in flight loses them; the
//!   conformance suite checks that no request is lost otherwise.
//! - Data is optional: a device that stores no bytes completes a read with `data: None`.
//! - `Flush` completes once every write that had completed before its submission is durable.
//! - Host CPU time is zero in a model, unless a layer charges it (`fathom_platform::Charged`).
//! - Requests to a zoned device change the states of its zones in order of submission ([`crate::zoned`]).
//! - A model's time is limited ([`Time::END`]). A request that would end later fails with [`IoErrorKind::EndOfTime`].

use crate::error_kind::IoErrorKind;
use crate::log::DriveLog;
use crate::tag::Tag;
use crate::zoned::{Zone, ZoneAction, Zoned};
use fathom_base::{Dur, Time, defaults};
use std::fmt;
use std::ops::Range;

/// Request identifier, chosen by the submitter and unique among the requests in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The operation of a request.
// Of one byte, it had seven bytes of padding behind it in most structures, which were copied in two parts that overlap: the processor
// cannot read such a copy before it is in the cache. Reads of a filled `model:epo` as a whole process take 11 % less time with 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Op {
    /// Read `len` bytes.
    Read,
    /// Write `len` bytes.
    Write,
    /// Make every completed write durable; offset and length are zero.
    Flush,
    /// Tell the device that `len` bytes are no longer needed.
    Trim,
    /// Write `len` bytes at the write pointer of the zone that starts at `offset`; [`Completion::placed`] tells where that
    /// was. Zoned devices only.
    Append,
    /// Change the state of the zone of `len` bytes that starts at `offset`. Zoned devices only.
    Zone(ZoneAction),
}

impl Op {
    /// Returns true if the request brings data to the device.
    #[inline]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::Append)
    }
}

/// One request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Unique among the requests in flight.
    pub id: RequestId,
    /// The operation.
    pub op: Op,
    /// Start, in bytes; a multiple of [`DeviceInfo::logical_block_bytes`].
    pub offset: u64,
    /// Length, in bytes; a multiple of [`DeviceInfo::logical_block_bytes`], at most
    /// [`DeviceInfo::max_request_bytes`] for reads and writes, and [`Zoned::max_append_bytes`] for appends.
    pub len: u64,
    /// Origin and mode.
    pub tag: Tag,
    /// The bytes of a write, or `None` if only timing matters.
    pub data: Option<Box<[u8]>>,
}

impl Request {
    /// Creates a request without data.
    pub fn new(id: u64, op: Op, offset: u64, len: u64) -> Self {
        Self {
            id: RequestId(id),
            op,
            offset,
            len,
            tag: Tag::default(),
            data: None,
        }
    }

    /// Returns the offset of the first byte after the request.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// Creates an error of this request.
    pub fn error(&self, kind: IoErrorKind) -> IoError {
        IoError {
            kind,
            op: self.op,
            offset: self.offset,
            len: self.len,
        }
    }
}

/// A completed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Identifier of the request.
    pub id: RequestId,
    /// Its operation.
    pub op: Op,
    /// Time of submission.
    pub submitted: Time,
    /// Time of completion.
    pub completed: Time,
    /// The result.
    pub result: Result<(), IoError>,
    /// Where an append has placed its first byte, in bytes from the start of the device; 0 for any other request.
    pub placed: u64,
    /// The bytes of a read, if the device stores bytes.
    pub data: Option<Box<[u8]>>,
}

impl Completion {
    /// Creates the completion of a request; `times` is its submission and completion.
    pub fn of(
        request: &Request,
        times: Range<Time>,
        result: Result<(), IoError>,
        data: Option<Box<[u8]>>,
    ) -> Self {
        Self {
            id: request.id,
            op: request.op,
            submitted: times.start,
            completed: times.end,
            result,
            placed: 0,
            data,
        }
    }

    /// Returns the time from submission to completion.
    pub fn latency(&self) -> Dur {
        self.completed.since(self.submitted)
    }
}

/// The error of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op} of {len} bytes at offset {offset}: {kind}")]
pub struct IoError {
    /// The reason.
    pub kind: IoErrorKind,
    /// The operation.
    pub op: Op,
    /// Its offset, in bytes.
    pub offset: u64,
    /// Its length, in bytes.
    pub len: u64,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Trim => "trim",
            Op::Append => "zone append",
            Op::Zone(action) => action.name(),
        })
    }
}

/// The device cannot accept the request now and returns it. Until a request completes, the device also refuses all other
/// requests of that operation; after that, try again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the device has all the requests that it can take: wait for a completion, and submit this one again"
)]
pub struct Busy(pub Request);

defaults! {
    /// The properties that a device reports to any host, not its internals.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DeviceInfo {
        /// Name of the device, for people.
        pub name: String = String::new(),
        /// Addressable capacity, in bytes.
        pub capacity_bytes: u64 = 1 << 30,
        /// Logical block size: the unit of offsets and lengths, in bytes.
        pub logical_block_bytes: u32 = 512,
        /// Maximum length of a read or write, in bytes.
        pub max_request_bytes: u64 = 1 << 20,
        /// Maximum number of requests in flight.
        pub queue_depth: u32 = 1,
        /// True if completed writes may be lost at a power cut unless flushed, as the device reports it.
        pub volatile_cache: bool = false,
        /// True if TRIM is supported.
        pub trim: bool = false,
        /// True if writes are refused.
        pub read_only: bool = false,
        /// True if time is simulated; then the same requests take the same time in every run.
        pub modelled: bool = true,
        /// True if the device has a head that seeks, `None` if unknown: `queue/rotational` of Linux.
        pub rotational: Option<bool> = None,
        /// The zones, if the device is zoned.
        pub zoned: Option<Zoned> = None,
        /// Number of placement handles of writes ([`Tag::placement`]); 0 or 1 if all writes are placed alike.
        pub placement_handles: u16 = 0,
        /// Size of a reclaim unit, which holds data of one placement handle, in bytes; 0 if unknown.
        pub reclaim_unit_bytes: u64 = 0,
    }
}

impl DeviceInfo {
    /// Checks a request and returns its error, if any. Every device makes this check first. What depends on the state of a
    /// zone is not part of it: see [`Zones`](crate::devices::Zones).
    #[inline]
    pub fn check(&self, request: &Request) -> Result<(), IoError> {
        let &Request {
            op, offset, len, ..
        } = request;
        let block = u64::from(self.logical_block_bytes);
        let usual = op == Op::Read || op == Op::Write && !self.read_only;
        let aligned = block.is_power_of_two() && (offset | len) & (block - 1) == 0;
        let fits = len.wrapping_sub(1) < self.max_request_bytes
            && len <= self.capacity_bytes
            && offset <= self.capacity_bytes - len;
        match usual && aligned && fits && self.zoned.is_none() {
            // Nearly every request.
            true => Ok(()),
            false => self.check_closely(request),
        }
    }

    fn check_closely(&self, request: &Request) -> Result<(), IoError> {
        let &Request {
            op, offset, len, ..
        } = request;
        let fail = |kind| Err(request.error(kind));
        let block = u64::from(self.logical_block_bytes);
        match op {
            Op::Flush => return Ok(()),
            Op::Append | Op::Zone(_) if self.zoned.is_none() => {
                return fail(IoErrorKind::Unsupported);
            }
            Op::Read => {}
            _ if self.read_only => return fail(IoErrorKind::ReadOnly),
            Op::Trim if !self.trim || self.zoned.is_some() => {
                return fail(IoErrorKind::Unsupported);
            }
            _ => {}
        }
        let most = match (op, &self.zoned) {
            (Op::Trim | Op::Zone(_), _) => u64::MAX,
            (Op::Append, Some(zoned)) => zoned.max_append_bytes,
            _ => self.max_request_bytes,
        };
        let aligned = offset.is_multiple_of(block) && len.is_multiple_of(block);
        if len == 0 || len > most || !aligned {
            return fail(IoErrorKind::Misaligned);
        }
        match offset.checked_add(len) {
            Some(end) if end <= self.capacity_bytes => {}
            _ => return fail(IoErrorKind::OutOfRange),
        }
        match &self.zoned {
            Some(zoned) => self.check_zone(zoned, request),
            None => Ok(()),
        }
    }

    /// The part of [`DeviceInfo::check`] that concerns the places of zones.
    fn check_zone(&self, zoned: &Zoned, request: &Request) -> Result<(), IoError> {
        let &Request {
            op, offset, len, ..
        } = request;
        let at_start = offset.is_multiple_of(zoned.zone_bytes);
        let is_whole = at_start && len == zoned.zone_bytes;
        let all = op == Op::Zone(ZoneAction::Reset) && (offset, len) == (0, self.capacity_bytes);
        let crosses = offset % zoned.zone_bytes + len > zoned.zone_bytes;
        match op {
            Op::Zone(_) if !(is_whole || all) => Err(request.error(IoErrorKind::NotAZone)),
            Op::Append if !at_start => Err(request.error(IoErrorKind::NotAZone)),
            Op::Read if crosses && !zoned.reads_cross => {
                Err(request.error(IoErrorKind::ZoneBoundary))
            }
            _ => Ok(()),
        }
    }
}

/// Information about the contents of a range, beyond the latency of reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// No information.
    Untold,
    /// Nothing is stored there: the range was never written, or was trimmed. A read accesses no medium.
    Hole,
    /// All bytes are equal, as in a range that was never written.
    Blank,
    /// The range was written: its bytes differ.
    Data,
}

/// A drive, modelled or real, or a layer over one.
pub trait Device {
    /// Returns the properties of the device.
    fn info(&self) -> &DeviceInfo;

    /// Returns the time of the device's clock.
    fn now(&self) -> Time;

    /// Submits a request; never blocks.
    ///
    /// # Errors
    /// Returns the request in [`Busy`] if the queue is full. An invalid request is accepted and completes with an error.
    fn submit(&mut self, request: Request) -> Result<(), Busy>;

    /// Waits until a request completes or until the time `until`, whichever comes first, and appends the completions to
    /// `done`.
    ///
    /// If `until` is not after [`Device::now`], it only collects completions. With nothing in flight it waits until
    /// `until`; a model with nothing in flight ignores `Time::MAX` and stays at its time.
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>);

    /// Returns information about the contents of a range that is valid for a read. May read the range, and wait for that.
    ///
    /// # Errors
    /// Returns the error of the read, if it fails.
    fn contents(&mut self, _offset: u64, _len: u64) -> Result<Contents, IoError> {
        Ok(Contents::Untold)
    }

    /// Returns the drive's own log; `None` if it has none or does not show it. Requests in flight go on.
    fn log(&mut self) -> Option<DriveLog> {
        None
    }

    /// Returns up to `count` zones from the zone that holds byte `from` on, with the effect of everything submitted so far.
    /// Empty if the device is not zoned.
    fn zones(&mut self, _from: u64, _count: usize) -> Vec<Zone> {
        Vec::new()
    }

    /// Returns the processor time that the calling thread has used so far; `None` where the host costs nothing, as above a
    /// model. A thread that computes all the time is the bottleneck, and not the drive.
    fn host_time(&self) -> Option<Dur> {
        None
    }
}

/// Implements [`Device`] for a pointer to a device.
macro_rules! pointer {
    ($pointer:ty) => {
        impl<D: Device + ?Sized> Device for $pointer {
            fn info(&self) -> &DeviceInfo {
                (**self).info()
            }
            fn now(&self) -> Time {
                (**self).now()
            }
            fn submit(&mut self, request: Request) -> Result<(), Busy> {
                (**self).submit(request)
            }
            fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
                (**self).wait(until, done);
            }
            fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
                (**self).contents(offset, len)
            }
            fn log(&mut self) -> Option<DriveLog> {
                (**self).log()
            }
            fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
                (**self).zones(from, count)
            }

            fn host_time(&self) -> Option<Dur> {
                (**self).host_time()
            }
        }
    };
}

pointer!(Box<D>);
// Allows a layer to borrow the device, so that it can be removed again.
pointer!(&mut D);

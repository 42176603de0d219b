//! Requests, completions and the device.
//!
//! Shaped like io_uring: `submit` never blocks, `wait` brings completions. The device owns time: a model's
//! `wait` jumps, a real drive's `wait` sleeps, so that what stands above is the same code in both worlds.
//!
//! The rules:
//! - Requests that arrive at one instant are served in order of submission (FIFO by sequence number); a layer that
//!   schedules may serve those of several processes in another order.
//! - Completions of one instant arrive together, in the order in which the device finished them.
//! - A device never completes a request twice and never forgets one. A device that is dropped with
//!   requests in flight has lost them; the conformance suite checks that none is.
//! - Data is optional: a device that keeps no bytes completes a read with `data: None`.
//! - `Flush` completes once every write that completed before it was submitted is durable.
//! - Host CPU time is zero in a model.
//! - A model's time ends ([`Time::END`]). What would end later fails with [`IoErrorKind::EndOfTime`].

use fathom_base::{Dur, Time};
use std::fmt;
use std::ops::Range;

/// Chosen by the submitter, unique among the requests in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Read `len` bytes.
    Read,
    /// Write `len` bytes.
    Write,
    /// Make every completed write durable; offset and length are zero.
    Flush,
    /// Tell the device that `len` bytes are no longer needed.
    Trim,
}

/// Who asks and how: what a scheduler above the device wants to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The process on whose behalf the request is made.
    pub process: u32,
    /// Somebody waits for it.
    pub sync: bool,
    /// Force unit access: durable before it completes.
    pub fua: bool,
    /// Made past the page cache (`O_DIRECT`), whether or not somebody waits for it.
    pub direct: bool,
}

/// One request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Unique among those in flight.
    pub id: RequestId,
    /// What to do.
    pub op: Op,
    /// Start, in bytes; a multiple of [`DeviceInfo::logical_block_bytes`].
    pub offset: u64,
    /// Length, in bytes; a multiple of [`DeviceInfo::logical_block_bytes`], at most
    /// [`DeviceInfo::max_request_bytes`] for reads and writes.
    pub len: u64,
    /// Who and how.
    pub tag: Tag,
    /// The bytes of a write, or `None` where only time matters.
    pub data: Option<Box<[u8]>>,
}

impl Request {
    /// A request without data.
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

    /// The first byte after it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// The error of this request.
    pub fn error(&self, kind: IoErrorKind) -> IoError {
        IoError {
            kind,
            op: self.op,
            offset: self.offset,
            len: self.len,
        }
    }
}

/// A request that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which one.
    pub id: RequestId,
    /// What it was.
    pub op: Op,
    /// When it was submitted.
    pub submitted: Time,
    /// When it was done.
    pub completed: Time,
    /// How it ended.
    pub result: Result<(), IoError>,
    /// The bytes of a read, where the device keeps bytes.
    pub data: Option<Box<[u8]>>,
}

impl Completion {
    /// How a request ended, from its submission to its completion.
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
            data,
        }
    }

    /// From submission to completion.
    pub fn latency(&self) -> Dur {
        self.completed.since(self.submitted)
    }
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoErrorKind {
    /// The offset or the length is no multiple of the logical block, or zero, or over the limit.
    Misaligned,
    /// Past the end of the device.
    OutOfRange,
    /// The device does not do this.
    Unsupported,
    /// The medium failed.
    Medium,
    /// No room left on what holds the data.
    NoSpace,
    /// The device went away.
    Gone,
    /// The device may only be read.
    ReadOnly,
    /// It would end after [`Time::END`], where a model's clock stops.
    EndOfTime,
    /// Any other failure, by its number from the operating system.
    Os(i32),
}

/// A failed request: what failed and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op} of {len} bytes at offset {offset}: {kind}")]
pub struct IoError {
    /// What went wrong.
    pub kind: IoErrorKind,
    /// Doing what.
    pub op: Op,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub len: u64,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Trim => "trim",
        })
    }
}

impl fmt::Display for IoErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IoErrorKind::Misaligned => {
                f.write_str("not a positive multiple of the logical block within the request limit")
            }
            IoErrorKind::OutOfRange => f.write_str("past the end of the device"),
            IoErrorKind::Unsupported => f.write_str("not supported by the device"),
            IoErrorKind::Medium => f.write_str("the medium failed"),
            IoErrorKind::NoSpace => f.write_str("no space left"),
            IoErrorKind::Gone => f.write_str("the device went away"),
            IoErrorKind::ReadOnly => f.write_str("the device is open for reading only"),
            IoErrorKind::EndOfTime => {
                f.write_str("ends later than simulated time, which lasts for 500 years")
            }
            IoErrorKind::Os(errno) => write!(f, "operating system error {errno}"),
        }
    }
}

/// The device cannot take the request now; it is handed back. Until something completes the device refuses every other
/// request of that operation as well; then it is worth another try.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the device has all the requests that it can take: wait for a completion, and submit this one again"
)]
pub struct Busy(pub Request);

/// What a device tells about itself: what any host can ask, nothing that it hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// A name for people.
    pub name: String,
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// The unit of address and length, in bytes.
    pub logical_block_bytes: u32,
    /// The longest read or write, in bytes.
    pub max_request_bytes: u64,
    /// Requests that may be in flight.
    pub queue_depth: u32,
    /// Whether completed writes may be lost at a power cut unless flushed, as the device reports it.
    pub volatile_cache: bool,
    /// Whether TRIM does something.
    pub trim: bool,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Whether time is simulated; a second run of the same requests then takes the same time.
    pub modelled: bool,
    /// Whether it has a head that seeks, if that is known: `queue/rotational` of Linux.
    pub rotational: Option<bool>,
}

/// A modelled device of 1 GiB that takes one request of up to 1 MiB at a time.
impl Default for DeviceInfo {
    fn default() -> Self {
        Self {
            name: String::new(),
            capacity_bytes: 1 << 30,
            logical_block_bytes: 512,
            max_request_bytes: 1 << 20,
            queue_depth: 1,
            volatile_cache: false,
            trim: false,
            read_only: false,
            modelled: true,
            rotational: None,
        }
    }
}

impl DeviceInfo {
    /// What is wrong with a request, if anything: the check that every device makes first.
    pub fn check(&self, request: &Request) -> Result<(), IoError> {
        let &Request {
            op, offset, len, ..
        } = request;
        let fail = |kind| Err(request.error(kind));
        let block = u64::from(self.logical_block_bytes);
        match op {
            Op::Flush => return Ok(()),
            Op::Write | Op::Trim if self.read_only => return fail(IoErrorKind::ReadOnly),
            Op::Trim if !self.trim => return fail(IoErrorKind::Unsupported),
            _ => {}
        }
        let too_long = op != Op::Trim && len > self.max_request_bytes;
        let aligned = match block.is_power_of_two() {
            // Every device asks this of every request: without a division where that can be.
            true => (offset | len) & (block - 1) == 0,
            false => offset.is_multiple_of(block) && len.is_multiple_of(block),
        };
        if len == 0 || too_long || !aligned {
            return fail(IoErrorKind::Misaligned);
        }
        match offset.checked_add(len) {
            Some(end) if end <= self.capacity_bytes => Ok(()),
            _ => fail(IoErrorKind::OutOfRange),
        }
    }
}

/// What a device tells of a place, beside how long it takes to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Nothing.
    Untold,
    /// That nothing is kept there: it was never written, or given back. A read touches no medium.
    Hole,
    /// That all its bytes are equal, as those of a place that was never written are.
    Blank,
    /// That it was written: its bytes differ.
    Data,
}

/// A drive, modelled or real, or a layer over one.
pub trait Device {
    /// What it tells about itself.
    fn info(&self) -> &DeviceInfo;

    /// The device's clock.
    fn now(&self) -> Time;

    /// Takes a request; never blocks.
    ///
    /// # Errors
    /// [`Busy`] hands the request back when the queue is full. A request that is wrong is taken and completes
    /// with an error.
    fn submit(&mut self, request: Request) -> Result<(), Busy>;

    /// Goes on until something completes or `until` has come, whichever is first, and appends what completed.
    ///
    /// With `until` at or before [`Device::now`] it only collects. With nothing in flight it goes to `until`
    /// (a model with `Time::MAX` and nothing in flight stays where it is).
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>);

    /// What the device tells of a place, whose offset and length a read may have. May read it, and wait for that.
    ///
    /// # Errors
    /// As a read of the place completes with.
    fn contents(&mut self, _offset: u64, _len: u64) -> Result<Contents, IoError> {
        Ok(Contents::Untold)
    }
}

impl<D: Device + ?Sized> Device for Box<D> {
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
}

/// So that what stands above can be taken away again.
impl<D: Device + ?Sized> Device for &mut D {
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
}

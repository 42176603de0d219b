//! A real drive or file as a [`Device`], on the host's clock.
//!
//! The latency of a request runs from right before the call into the kernel to right after its completion was seen. A
//! completion that arrives while the caller does something else is seen and stamped in the next [`Device::wait`]. Every
//! latency includes the host's own time in the kernel, as for any program.
//!
//! - The kernel splits a read or write that is longer than [`crate::QueueLimits::max_request_bytes`].
//! - A flush is an `fdatasync` of the file. On a device, that includes the drive's own cache.
//! - A trim of a file punches a hole; its space is then no longer reserved. A trim of a block device is a discard, a
//!   blocking call in Linux. Each `wait` executes one discard, and the latency of a discard includes its time in the queue.
//! - [`Device::contents`] asks the file system about holes (also allocated but unwritten ranges), then reads outside of the
//!   ring. Loop devices and drives report no holes.
//! - A request to a device that is no longer there fails with [`IoErrorKind::Gone`], also where the kernel reports EIO.
//! - With `read_only`, a flush completes at once. There is nothing of ours to flush, and other users' data is not written.

use crate::buffer::{AlignedBuffer, Noise};
use crate::clearance::Clearance;
use crate::clock::Clock;
use crate::config::HostConfig;
use crate::error::HostError;
use crate::failure::{self, kind_of, ring_error};
use crate::identity::Identity;
use crate::inspect::{Inspection, Kind};
use crate::ioctl;
use crate::log::{LogError, LogReader};
use crate::ring::Ring;
use crate::transfer::Transfer;
use fathom_base::{Dur, Time};
use fathom_block::{
    Busy, Completion, Contents, Device, DeviceInfo, DriveLog, IoError, IoErrorKind, Op, Payload,
    Request,
};
use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread};
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

/// Time between two looks at the ring while the drive's log is awaited.
const LOG_STEP: Duration = Duration::from_micros(100);

/// The data kept with a transfer.
struct Ticket {
    request: Request,
    submitted: Time,
}

/// A real drive or file, opened by [`crate::open`]. Dropping it waits for the requests in flight. It cannot be sent to
/// another thread:
///
/// ```compile_fail,E0277
/// fn moved<T: Send>() {}
/// moved::<fathom_hostio::HostDevice>();
/// ```
pub struct HostDevice {
    ring: Ring<Ticket>,
    /// Descriptors that hold claims while the device is open.
    _guards: Vec<OwnedFd>,
    info: DeviceInfo,
    clearance: Clearance,
    clock: Clock,
    noise: Noise,
    keep_data: bool,
    spare: Vec<AlignedBuffer>,
    discards: VecDeque<Ticket>,
    ready: Vec<Completion>,
    log: LogReader,
}

impl HostDevice {
    pub(crate) fn new(
        file: OwnedFd,
        guards: Vec<OwnedFd>,
        info: DeviceInfo,
        clearance: Clearance,
        config: &HostConfig,
    ) -> Result<Self, HostError> {
        let ring = Ring::new(file, info.queue_depth, info.logical_block_bytes)
            .map_err(|source| ring_error(config, source))?;
        let log = LogReader::new(&clearance.inspection().path);
        Ok(Self {
            ring,
            _guards: guards,
            info,
            clearance,
            clock: Clock::start(),
            noise: Noise::new(config.seed),
            keep_data: config.keep_data,
            spare: Vec::new(),
            discards: VecDeque::new(),
            ready: Vec::new(),
            log,
        })
    }

    /// Returns the identity of the drive, or of the drive under the file.
    pub fn identity(&self) -> &Identity {
        &self.inspection().identity
    }

    /// Returns the inspection made when the target was opened.
    pub fn inspection(&self) -> &Inspection {
        self.clearance.inspection()
    }

    /// Returns the permission to write, to be renewed after the user's confirmation.
    pub fn clearance(&self) -> &Clearance {
        &self.clearance
    }

    /// Reads the drive's own log, also with requests in flight; [`Device::log`] reads it only between requests. Requests that
    /// complete in the meantime are stamped up to 0.2 ms late. The log takes one to ten commands of some milliseconds each,
    /// and other requests may wait for them in the drive.
    ///
    /// # Errors
    /// [`LogError`] with the reason and a way out. After two seconds it stops waiting: [`LogError::Slow`].
    pub fn drive_log(&mut self) -> Result<DriveLog, LogError> {
        self.log.ask()?;
        loop {
            let step = (self.ring.in_flight() > 0).then_some(LOG_STEP);
            if let Some(answer) = self.log.answer(step) {
                return answer;
            }
            let mut seen = Vec::new();
            self.collect(&mut seen);
            self.ready = seen;
        }
    }

    /// Returns why the last [`Device::log`] or [`HostDevice::drive_log`] returned nothing.
    pub fn log_error(&self) -> Option<&LogError> {
        self.log.error()
    }

    /// Turns the errors of a device that is no longer there into [`IoErrorKind::Gone`].
    fn tell_loss(&self, done: &mut [Completion]) {
        let suspect = |done: &&mut Completion| matches!(done.result, Err(error) if failure::may_be_gone(error.kind));
        let mut suspects = done.iter_mut().filter(suspect).peekable();
        if suspects.peek().is_some() && self.is_gone() {
            for error in suspects.filter_map(|done| done.result.as_mut().err()) {
                error.kind = IoErrorKind::Gone;
            }
        }
    }

    fn is_gone(&self) -> bool {
        let list = Path::new("/sys/class/block");
        let drive = self.identity().drive.as_deref();
        let block = self.inspection().kind == Kind::Block;
        (block && failure::is_empty(self.ring.file()))
            || drive.is_some_and(|drive| failure::is_unlisted(drive, list))
    }

    fn outstanding(&self) -> usize {
        self.ring.in_flight() + self.discards.len() + self.ready.len()
    }

    fn check(&self, request: &Request) -> Result<(), IoError> {
        self.info.check(request)?;
        let data_len = request.data.as_ref().map(|d| d.len() as u64);
        match data_len {
            Some(len) if request.op == Op::Write && len != request.len => {
                Err(request.error(IoErrorKind::Misaligned))
            }
            _ => Ok(()),
        }
    }

    /// Completes a request without calling the kernel.
    fn complete_now(&mut self, request: &Request, result: Result<(), IoError>) {
        let now = self.clock.now();
        self.ready
            .push(Completion::of(request, now..now, result, None));
    }

    /// Returns a buffer with the data of a write, or any buffer for a read; `None` for requests without data.
    fn buffer_for(&mut self, request: &Request) -> Result<Option<AlignedBuffer>, Errno> {
        if !matches!(request.op, Op::Read | Op::Write) {
            return Ok(None);
        }
        let len = request.len;
        // Sized for this request: buffers of the maximum length would not stay in the processor's cache.
        let spare = self.spare.pop();
        let spare = spare.filter(|b| b.bytes().len() as u64 >= len);
        let mut buffer = match spare {
            Some(buffer) => buffer,
            None => AlignedBuffer::new(len.checked_next_power_of_two().unwrap_or(len))?,
        };
        let place = &mut buffer.bytes_mut()[..len as usize];
        match (&request.data, request.op) {
            (Some(data), Op::Write) => place.copy_from_slice(data),
            (None, Op::Write) => match request.tag.payload {
                Payload::Unique => self.noise.fill(place),
                Payload::Repeated => self.noise.repeat(place),
                Payload::Zero => place.fill(0),
            },
            _ => {}
        }
        Ok(Some(buffer))
    }

    fn start(&mut self, mut request: Request) {
        let buffer = match self.buffer_for(&request) {
            Ok(buffer) => buffer,
            Err(errno) => return self.refuse(&request, errno),
        };
        request.data = None;
        let transfer = Transfer {
            op: request.op,
            offset: request.offset,
            len: request.len,
            fua: request.tag.fua && request.op == Op::Write,
            buffer,
            tag: Ticket {
                request,
                submitted: self.clock.now(),
            },
        };
        if let Err((refused, errno)) = self.ring.start(transfer) {
            self.refuse(&refused.tag.request, errno);
        }
    }

    /// Completes a request with an error, without the kernel having seen it.
    fn refuse(&mut self, request: &Request, errno: Errno) {
        let kind = IoErrorKind::Os(errno.raw_os_error());
        self.complete_now(request, Err(request.error(kind)));
    }

    /// Executes the oldest discard of a block device, if there is one.
    fn discard_one(&mut self) {
        let Some(Ticket { request, submitted }) = self.discards.pop_front() else {
            return;
        };
        let outcome = loop {
            match ioctl::discard(self.ring.file(), request.offset, request.len) {
                Err(Errno::INTR) => {}
                other => break other,
            }
        };
        let completed = self.clock.now();
        let result = outcome.map_err(|errno| request.error(kind_of(errno, Op::Trim)));
        let done = Completion::of(&request, submitted..completed, result, None);
        self.ready.push(done);
    }

    /// Reads a range outside of the ring.
    fn read_aside(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            match pread(self.ring.file(), &mut bytes[done..], offset + done as u64) {
                Err(Errno::INTR) => {}
                Ok(0) => return Err(Errno::OVERFLOW),
                other => done += other?,
            }
        }
        Ok(())
    }

    /// Returns true if the file system stores no data in a range. A file system without holes reports data everywhere.
    fn is_hole(&self, offset: u64, len: u64) -> bool {
        if self.inspection().kind == Kind::Block {
            return false;
        }
        match seek(self.ring.file(), SeekFrom::Data(offset)) {
            Ok(data) => data >= offset + len,
            // ENXIO: no data from here to the end.
            Err(errno) => errno == Errno::NXIO,
        }
    }

    /// Moves completed requests to `done` and returns true if there were any.
    fn collect(&mut self, done: &mut Vec<Completion>) -> bool {
        let before = done.len();
        done.append(&mut self.ready);
        if self.ring.collect() {
            let completed = self.clock.now();
            let (spare, keep_data) = (&mut self.spare, self.keep_data);
            self.ring.finish(|transfer, outcome| {
                let Ticket { request, submitted } = transfer.tag;
                let result = outcome.map_err(|errno| request.error(kind_of(errno, request.op)));
                let wanted = keep_data && request.op == Op::Read && result.is_ok();
                let held = transfer.buffer.as_ref().filter(|_| wanted);
                let data = held.map(|b| b.bytes()[..request.len as usize].into());
                spare.extend(transfer.buffer);
                let times = submitted..completed;
                done.push(Completion::of(&request, times, result, data));
            });
        }
        self.tell_loss(&mut done[before..]);
        done.len() > before
    }
}

impl Device for HostDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.outstanding() >= self.info.queue_depth as usize {
            return Err(Busy(request));
        }
        if let Err(error) = self.check(&request) {
            self.complete_now(&request, Err(error));
        } else if request.op == Op::Flush && self.info.read_only {
            self.complete_now(&request, Ok(()));
        } else if request.op == Op::Trim && self.inspection().kind == Kind::Block {
            let submitted = self.clock.now();
            self.discards.push_back(Ticket { request, submitted });
        } else {
            self.start(request);
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.discard_one();
        loop {
            if self.collect(done) {
                return;
            }
            let now = self.clock.now();
            if until <= now {
                return;
            }
            if self.ring.in_flight() > 0 {
                let left = Duration::from_nanos(until.since(now).0);
                self.ring.sleep((until != Time::MAX).then_some(left));
            } else {
                if until != Time::MAX {
                    self.clock.sleep(until);
                }
                return;
            }
        }
    }

    fn log(&mut self) -> Option<DriveLog> {
        if self.outstanding() > 0 {
            self.log.refuse(LogError::RequestsInFlight);
            return None;
        }
        self.drive_log().ok()
    }

    fn host_time(&self) -> Option<Dur> {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        let ns = (used.tv_sec as u64).saturating_mul(1_000_000_000) + used.tv_nsec as u64;
        Some(Dur(ns))
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        let request = Request::new(0, Op::Read, offset, len);
        self.info.check(&request)?;
        if self.is_hole(offset, len) {
            return Ok(Contents::Hole);
        }
        let failed = |errno| request.error(kind_of(errno, Op::Read));
        let mut buffer = AlignedBuffer::new(len).map_err(failed)?;
        let bytes = &mut buffer.bytes_mut()[..len as usize];
        self.read_aside(offset, bytes).map_err(failed)?;
        Ok(match is_blank(bytes) {
            true => Contents::Blank,
            false => Contents::Data,
        })
    }
}

/// Returns true if all bytes are equal.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.windows(2).all(|pair| pair[0] == pair[1])
}

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
//! - With `read_only`, a flush completes at once. There is nothing of ours to flush, and other users' data is not written.

use crate::buffer::{AlignedBuffer, Noise};
use crate::clearance::Clearance;
use crate::clock::Clock;
use crate::config::HostConfig;
use crate::error::{HostError, os_error};
use crate::identity::Identity;
use crate::inspect::{Inspection, Kind};
use crate::ioctl;
use crate::ring::Ring;
use crate::transfer::Transfer;
use fathom_base::{Dur, Time};
use fathom_block::{
    Busy, Completion, Contents, Device, DeviceInfo, IoError, IoErrorKind, Op, Payload, Request,
};
use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread};
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

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

/// Maps an error number of the kernel to an error kind.
fn kind_of(errno: Errno, op: Op) -> IoErrorKind {
    match errno {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => IoErrorKind::NoSpace,
        Errno::NODEV | Errno::NXIO | Errno::SHUTDOWN | Errno::STALE => IoErrorKind::Gone,
        // The block layer reports a failed medium as EIO, ENODATA (critical medium) or EILSEQ (integrity).
        Errno::IO | Errno::NODATA | Errno::ILSEQ | Errno::BADMSG | Errno::UCLEAN => {
            IoErrorKind::Medium
        }
        Errno::OPNOTSUPP => IoErrorKind::Unsupported,
        Errno::ROFS => IoErrorKind::ReadOnly,
        // A read hit the end of the file: another process truncated it.
        Errno::OVERFLOW if op == Op::Read => IoErrorKind::OutOfRange,
        other => IoErrorKind::Os(other.raw_os_error()),
    }
}

fn ring_error(config: &HostConfig, source: io::Error) -> HostError {
    let refusals = [Errno::PERM, Errno::ACCESS, Errno::NOSYS].map(|e| Some(e.raw_os_error()));
    if refusals.contains(&source.raw_os_error()) {
        return HostError::RingNotPermitted { source };
    }
    os_error(&config.path, "set up io_uring for it", source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_forbids_the_ring_is_told_from_other_failures() {
        let error = |errno: Errno| ring_error(&HostConfig::new("x"), errno.into());
        for errno in [Errno::PERM, Errno::ACCESS, Errno::NOSYS] {
            let told = error(errno);
            assert!(matches!(told, HostError::RingNotPermitted { .. }));
            assert!(told.to_string().contains("io_uring_disabled"));
        }
        assert!(matches!(error(Errno::NOMEM), HostError::Os { .. }));
    }

    #[test]
    fn error_numbers_become_what_they_mean() {
        let kinds = [
            (Errno::NOSPC, IoErrorKind::NoSpace),
            (Errno::NODEV, IoErrorKind::Gone),
            (Errno::NXIO, IoErrorKind::Gone),
            (Errno::IO, IoErrorKind::Medium),
            (Errno::OPNOTSUPP, IoErrorKind::Unsupported),
            (Errno::OVERFLOW, IoErrorKind::OutOfRange),
            (Errno::TIMEDOUT, IoErrorKind::Os(110)),
        ];
        for (errno, kind) in kinds {
            assert_eq!(kind_of(errno, Op::Read), kind);
        }
    }
}

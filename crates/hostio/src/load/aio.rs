//! The engine `libaio`: the system calls of <linux/aio_abi.h>, without the library.
//!
//! The kernel owns the buffers of reads in flight. Dropping the queue destroys the context, which waits for them
//! (`io_destroy` in fs/aio.c); if that fails, the buffers are never freed.

#![allow(unsafe_code)] // System calls that hand buffers to the kernel.

use super::queue::{Done, Queue, buffers};
use crate::buffer::AlignedBuffer;
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;
use std::ptr;

/// `IOCB_CMD_PREAD`.
const PREAD: u16 = 0;

/// `struct iocb`. `key` and `rw_flags` change places on big-endian processors; both are zero here.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    iocb: u64,
    result: i64,
    result2: i64,
}

const _: () = assert!(size_of::<Iocb>() == 64 && size_of::<Event>() == 32);

/// Returns the result of a system call.
fn checked(result: libc::c_long) -> Result<usize, Errno> {
    match usize::try_from(result) {
        Ok(count) => Ok(count),
        Err(_) => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
}

/// A context of asynchronous I/O, with a control block and a buffer for each slot.
pub(super) struct AioQueue {
    context: libc::c_ulong,
    file: OwnedFd,
    blocks: Vec<Iocb>,
    buffers: Vec<AlignedBuffer>,
    len: u32,
    /// Slots to submit.
    pushed: Vec<u32>,
    /// Room for the addresses of a submission.
    addresses: Vec<*mut Iocb>,
    events: Vec<Event>,
    calls: u64,
}

impl AioQueue {
    /// Creates a context for `depth` reads of `len` bytes.
    ///
    /// # Errors
    /// Those of `io_setup`: ENOSYS on a kernel without it, EAGAIN if all users together have `fs.aio-max-nr`.
    pub(super) fn new(file: OwnedFd, depth: u32, len: u32) -> Result<Self, Errno> {
        let buffers = buffers(depth, len)?;
        let mut context: libc::c_ulong = 0;
        // SAFETY: io_setup writes the number of a context to the place given, which is zero as it demands.
        checked(unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) })?;
        let slots = depth as usize;
        Ok(Self {
            context,
            file,
            blocks: vec![Iocb::default(); slots],
            buffers,
            len,
            pushed: Vec::with_capacity(slots),
            addresses: Vec::with_capacity(slots),
            events: vec![Event::default(); slots],
            calls: 0,
        })
    }

    /// Submits the slots that were pushed. If the kernel refuses the first one, it completes with the error.
    fn submit(&mut self, done: &mut Vec<Done>) -> Result<(), Errno> {
        self.addresses.clear();
        let blocks = self.blocks.as_mut_ptr();
        let addresses = self.pushed.iter().map(|&slot| {
            // SAFETY: a slot is an index into `blocks`: `push` has written to it.
            unsafe { blocks.add(slot as usize) }
        });
        self.addresses.extend(addresses);
        let (count, first) = (self.addresses.len(), self.addresses.as_mut_ptr());
        self.calls += 1;
        // SAFETY: `first` points to `count` addresses of control blocks, which the kernel reads, and to whose `key` it
        // writes, within the call. Each names the buffer of its slot. That memory does not move, and `data` reads it only
        // after the completion; `drop` waits for the kernel before it is freed.
        let submitted =
            checked(unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, first) });
        match submitted {
            Ok(count) => {
                self.pushed.drain(..count);
            }
            // The kernel is short of something; it may be there after the next completion.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => {
                let result = -errno.raw_os_error();
                let refused = self.pushed.drain(..1);
                done.extend(refused.map(|slot| Done { slot, result }));
            }
        }
        Ok(())
    }

    /// Waits for at least one completion.
    fn reap(&mut self, done: &mut Vec<Done>) -> Result<(), Errno> {
        let (count, first) = (self.events.len(), self.events.as_mut_ptr());
        self.calls += 1;
        // SAFETY: the kernel writes at most `count` events to `first`, where there is room for them. A null pointer means
        // to wait without limit.
        let got = checked(unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                1usize,
                count,
                first,
                ptr::null::<libc::timespec>(),
            )
        });
        match got {
            Ok(count) => {
                done.extend(self.events[..count].iter().map(|event| Done {
                    slot: event.data as u32,
                    result: event.result as i32,
                }));
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }
}

impl Queue for AioQueue {
    #[inline]
    fn push(&mut self, slot: u32, offset: u64) -> Result<(), Errno> {
        let index = slot as usize;
        let (Some(block), Some(buffer)) = (self.blocks.get_mut(index), self.buffers.get_mut(index))
        else {
            return Err(Errno::INVAL);
        };
        *block = Iocb {
            data: u64::from(slot),
            opcode: PREAD,
            file: self.file.as_raw_fd() as u32,
            buffer: buffer.bytes_mut().as_mut_ptr() as u64,
            bytes: u64::from(self.len),
            offset: offset as i64,
            ..Iocb::default()
        };
        self.pushed.push(slot);
        Ok(())
    }

    fn go(&mut self, wait: bool, done: &mut Vec<Done>) -> Result<(), Errno> {
        let before = done.len();
        while !self.pushed.is_empty() {
            let left = self.pushed.len();
            self.submit(done)?;
            if self.pushed.len() == left {
                break;
            }
        }
        // A read that was refused is a completion; more may not be in flight.
        if wait && done.len() == before {
            self.reap(done)?;
        }
        Ok(())
    }

    fn data(&self, slot: u32) -> &[u8] {
        let buffer = self.buffers.get(slot as usize);
        buffer.map_or(&[], |b| &b.bytes()[..self.len as usize])
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}

impl Drop for AioQueue {
    fn drop(&mut self) {
        // SAFETY: the context is ours, and nothing uses it afterwards. The call waits for the reads in flight.
        let destroyed = checked(unsafe { libc::syscall(libc::SYS_io_destroy, self.context) });
        if destroyed.is_err() {
            // The kernel may still write to them.
            std::mem::forget(std::mem::take(&mut self.buffers));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_dropped_early_waits_and_a_refused_read_is_a_completion() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let mut queue = AioQueue::new(file.into(), 4, 4096).unwrap();
        let mut done = Vec::new();
        queue.push(0, 4096).unwrap();
        queue.push(1, 1 << 63).unwrap();
        queue.push(2, 8192).unwrap();
        while done.len() < 2 {
            queue.go(true, &mut done).unwrap();
        }
        let refused = done.iter().find(|d| d.slot == 1).unwrap();
        assert_eq!(refused.result, -Errno::INVAL.raw_os_error());
        queue.push(3, 0).unwrap();
        queue.go(false, &mut done).unwrap();
    }
}

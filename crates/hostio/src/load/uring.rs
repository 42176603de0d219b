//! The engines on io_uring: completions by interrupt, polled, and with a submission thread.
//!
//! The kernel owns the buffers of reads in flight. Dropping the queue waits for them; if that fails, the buffers are never
//! freed.

#![allow(unsafe_code)] // This file hands buffers to the kernel.

use super::queue::{Done, Queue, buffers};
use crate::buffer::AlignedBuffer;
use crate::clock::pause;
use io_uring::{Builder, IoUring, opcode, types};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;
use std::io;

/// How a ring submits and completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Submits by system call, completes by interrupt.
    Interrupt,
    /// Polls for completions.
    Polled,
    /// A thread of the kernel submits.
    SqThread {
        /// Processor of the thread.
        cpu: Option<u32>,
        /// Time without work after which it sleeps, in milliseconds.
        idle_ms: u32,
    },
}

/// What a ring is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingWish {
    pub(super) way: Way,
    pub(super) depth: u32,
    /// Length of a read in bytes.
    pub(super) len: u32,
    /// Register the buffers.
    pub(super) register_buffers: bool,
}

/// A ring over one registered file, with a buffer for each slot.
pub(super) struct UringQueue {
    uring: IoUring,
    buffers: Vec<AlignedBuffer>,
    wish: RingWish,
    in_flight: usize,
    calls: u64,
    granted: &'static str,
    _file: OwnedFd,
}

/// Adds settings to a ring.
type Set = fn(&mut Builder);

/// Settings for a ring that one thread uses, the best first; EINVAL where the kernel does not know them. Deferred
/// completions (from 6.1) are finished when the thread asks for them, cooperative ones (from 5.19) when it next enters the
/// kernel; others interrupt the thread.
const DEFERRED: [(&str, Set); 3] = [
    ("single issuer, deferred completions", |b| {
        b.setup_single_issuer().setup_defer_taskrun();
    }),
    ("cooperative completions", |b| {
        b.setup_coop_taskrun();
    }),
    ("", |_| {}),
];

/// The same for a ring with a submission thread, which finishes completions itself.
const BY_THREAD: [(&str, Set); 2] = [
    ("single issuer", |b| {
        b.setup_single_issuer();
    }),
    ("", |_| {}),
];

/// Makes a ring with the best settings that the kernel knows, and returns their names.
fn build(wish: &RingWish) -> io::Result<(IoUring, &'static str)> {
    let settings: &[(&'static str, Set)] = match wish.way {
        Way::SqThread { .. } => &BY_THREAD,
        _ => &DEFERRED,
    };
    let mut refused = Errno::INVAL.into();
    for &(name, set) in settings {
        let mut builder = IoUring::builder();
        set(&mut builder);
        match wish.way {
            Way::Interrupt => {}
            Way::Polled => {
                builder.setup_iopoll();
            }
            Way::SqThread { cpu, idle_ms } => {
                builder.setup_sqpoll(idle_ms);
                cpu.map(|cpu| builder.setup_sqpoll_cpu(cpu));
            }
        }
        // A submission thread may complete reads before it frees their entries (io_submit_sqes in io_uring/io_uring.c).
        let entries = match wish.way {
            Way::SqThread { .. } => wish.depth * 2,
            _ => wish.depth,
        };
        match builder.build(entries) {
            Ok(ring) => return Ok((ring, name)),
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                refused = error;
            }
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}

impl UringQueue {
    /// Creates a ring.
    ///
    /// # Errors
    /// Those of `io_uring_setup` and `io_uring_register`: ENOSYS without io_uring, EPERM where it is forbidden, ENOMEM if
    /// the buffers exceed the limit of locked memory.
    pub(super) fn new(file: OwnedFd, wish: RingWish) -> io::Result<Self> {
        let mut buffers = buffers(wish.depth, wish.len)?;
        let (uring, granted) = build(&wish)?;
        uring.submitter().register_files(&[file.as_raw_fd()])?;
        if wish.register_buffers {
            let places = buffers.iter_mut().map(|buffer| libc::iovec {
                iov_base: buffer.bytes_mut().as_mut_ptr().cast(),
                iov_len: wish.len as usize,
            });
            let places: Vec<_> = places.collect();
            // SAFETY: the places are the buffers of the slots. They do not move, and they live longer than the ring: `drop`
            // waits for all reads, and the kernel holds the pages itself.
            unsafe { uring.submitter().register_buffers(&places) }?;
        }
        Ok(Self {
            uring,
            buffers,
            wish,
            in_flight: 0,
            calls: 0,
            granted,
            _file: file,
        })
    }

    /// Takes over the completions.
    fn reap(&mut self, done: &mut Vec<Done>) {
        let before = done.len();
        done.extend(self.uring.completion().map(|completion| Done {
            slot: completion.user_data() as u32,
            result: completion.result(),
        }));
        self.in_flight -= done.len() - before;
    }

    /// Returns the number of completions to wait for in the kernel, and counts the system call if there is one.
    fn want(&mut self, wait: bool) -> usize {
        if !matches!(self.wish.way, Way::SqThread { .. }) {
            self.calls += 1;
            return usize::from(wait);
        }
        let want = wait && self.uring.completion().is_empty();
        self.calls += u64::from(want || self.uring.submission().need_wakeup());
        usize::from(want)
    }
}

impl Queue for UringQueue {
    #[inline]
    fn push(&mut self, slot: u32, offset: u64) -> Result<(), Errno> {
        let len = self.wish.len;
        let Some(buffer) = self.buffers.get_mut(slot as usize) else {
            return Err(Errno::INVAL);
        };
        let place = buffer.bytes_mut().as_mut_ptr();
        let file = types::Fixed(0);
        let entry = match self.wish.register_buffers {
            true => opcode::ReadFixed::new(file, place, len, slot as u16)
                .offset(offset)
                .build(),
            false => opcode::Read::new(file, place, len).offset(offset).build(),
        };
        let entry = entry.user_data(u64::from(slot));
        // SAFETY: the entry names the buffer of its slot. That memory does not move, and `data` reads it only after the
        // completion. `drop` waits for the completion before it is freed. The file is registered, so the ring holds it.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        pushed.map_err(|_| Errno::AGAIN)?;
        self.in_flight += 1;
        Ok(())
    }

    #[inline]
    fn go(&mut self, wait: bool, done: &mut Vec<Done>) -> Result<(), Errno> {
        let want = self.want(wait);
        let entered = self.uring.submit_and_wait(want);
        if wait {
            self.reap(done);
        }
        let Err(error) = entered else { return Ok(()) };
        match Errno::from_io_error(&error).unwrap_or(Errno::IO) {
            Errno::INTR => Ok(()),
            // Completions must be collected first, or memory is short: entries stay queued for the next call.
            Errno::AGAIN | Errno::BUSY => {
                if done.is_empty() {
                    pause(1);
                }
                Ok(())
            }
            errno => Err(errno),
        }
    }

    fn data(&self, slot: u32) -> &[u8] {
        let buffer = self.buffers.get(slot as usize);
        buffer.map_or(&[], |b| &b.bytes()[..self.wish.len as usize])
    }

    fn calls(&self) -> u64 {
        self.calls
    }

    fn granted(&self) -> &'static str {
        self.granted
    }
}

impl Drop for UringQueue {
    /// Waits for everything in flight: the kernel must not write to freed memory.
    fn drop(&mut self) {
        let mut done = Vec::new();
        while self.in_flight > 0 {
            if self.go(true, &mut done).is_err() {
                // The kernel may still write to them.
                std::mem::forget(std::mem::take(&mut self.buffers));
                return;
            }
            done.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_dropped_early_waits() {
        for register_buffers in [false, true] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(1 << 20).unwrap();
            let wish = RingWish {
                way: Way::Interrupt,
                depth: 4,
                len: 4096,
                register_buffers,
            };
            let mut queue = UringQueue::new(file.into(), wish).unwrap();
            let mut done = Vec::new();
            queue.push(0, 4096).unwrap();
            queue.go(false, &mut done).unwrap();
            queue.push(1, 0).unwrap();
            assert_eq!((done.len(), queue.in_flight), (0, 2));
            assert_eq!(queue.push(4, 0), Err(Errno::INVAL));
        }
    }
}

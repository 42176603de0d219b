//! An io_uring whose transfers the kernel owns until they complete.
//!
//! A [`Transfer`] and its buffer move into the ring at the start and come out at the end, so a buffer cannot be freed or
//! accessed while the kernel may write to it. Short transfers continue where they stopped, and interrupted ones are retried.
//! Dropping a ring waits for everything in flight.
//!
//! Where the kernel supports it (from 6.1), completions interrupt no thread: the kernel finishes them when the ring's thread
//! asks for completions. Such a ring accepts requests only from the thread that made it, so a ring cannot be sent to another
//! thread.
//!
//! It does not check requests, read a clock or interpret error numbers.

#![allow(unsafe_code)] // This file hands buffers to the kernel.

use crate::clock::pause;
use crate::transfer::{InFlight, Transfer};
use io_uring::{IoUring, types};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::time::Duration;

/// An io_uring over one file, usable only by the thread that made it.
pub(crate) struct Ring<T> {
    _of_this_thread: PhantomData<*const ()>,
    uring: IoUring,
    file: OwnedFd,
    slots: Vec<Option<InFlight<T>>>,
    free: Vec<usize>,
    block_bytes: u64,
    /// Results collected and not yet handed out.
    results: VecDeque<(usize, i32)>,
}

/// Builds a ring that defers completions until they are asked for. EINVAL on kernels that do not support this.
fn deferred(depth: u32) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag();
    builder.build(depth)
}

impl<T> Ring<T> {
    /// Creates a ring for `depth` transfers on `file`. Short transfers continue at multiples of `block_bytes`.
    ///
    /// # Errors
    /// Those of `io_uring_setup`; also `ENOSYS` if the kernel cannot wait with a timeout (before 5.11).
    pub(crate) fn new(file: OwnedFd, depth: u32, block_bytes: u32) -> io::Result<Self> {
        let uring = deferred(depth).or_else(|error| {
            let unknown = error.raw_os_error() == Some(Errno::INVAL.raw_os_error());
            if unknown {
                IoUring::new(depth)
            } else {
                Err(error)
            }
        })?;
        if !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
            return Err(Errno::NOSYS.into());
        }
        Ok(Self::over(uring, file, depth, block_bytes))
    }

    fn over(uring: IoUring, file: OwnedFd, depth: u32, block_bytes: u32) -> Self {
        let depth = depth as usize;
        Self {
            _of_this_thread: PhantomData,
            uring,
            file,
            slots: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            block_bytes: u64::from(block_bytes),
            results: VecDeque::with_capacity(depth),
        }
    }

    /// Returns the file of the ring.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Returns the number of transfers that the kernel owns.
    pub(crate) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Starts a transfer, or returns it with the reason. Does not block: entries that the kernel cannot accept now stay
    /// queued and are submitted by the next call.
    ///
    /// # Errors
    /// EAGAIN if the ring is full; EINVAL if the buffer is shorter than the transfer.
    pub(crate) fn start(&mut self, transfer: Transfer<T>) -> Result<(), (Transfer<T>, Errno)> {
        if !transfer.fits() {
            return Err((transfer, Errno::INVAL));
        }
        let Some(slot) = self.free.pop() else {
            return Err((transfer, Errno::AGAIN));
        };
        self.slots[slot] = Some(InFlight::new(transfer));
        if self.enqueue(slot) {
            self.kick();
            return Ok(());
        }
        self.free.push(slot);
        let refused = self.slots[slot].take();
        refused.map_or(Ok(()), |f| Err((f.transfer, Errno::AGAIN)))
    }

    /// Sleeps in the kernel until a completion arrives or `timeout` passes. `None` waits without limit.
    pub(crate) fn sleep(&mut self, timeout: Option<Duration>) {
        let timespec = types::Timespec::from(timeout.unwrap_or_default());
        let args = match timeout {
            Some(_) => types::SubmitArgs::new().timespec(&timespec),
            None => types::SubmitArgs::new(),
        };
        let Err(error) = self.uring.submitter().submit_with_args(1, &args) else {
            return;
        };
        // ETIME and EINTR are the regular early ends of a wait. EBUSY and EAGAIN mean that completions must be collected or
        // that memory is short: sleep briefly instead of spinning; the caller tries again.
        let ended = [Errno::TIME, Errno::INTR].map(|e| Some(e.raw_os_error()));
        if !ended.contains(&error.raw_os_error()) {
            pause(1);
        }
    }

    /// Takes over the kernel's completions and returns true if there are any. [`Ring::finish`] hands them out separately, so
    /// that the caller can read a clock in between.
    pub(crate) fn collect(&mut self) -> bool {
        if !self.uring.submission().is_empty() {
            self.kick();
        }
        self.take();
        if self.results.is_empty() && self.uring.submission().taskrun() {
            self.kick();
            self.take();
        }
        !self.results.is_empty()
    }

    fn take(&mut self) {
        let completions = self.uring.completion();
        self.results
            .extend(completions.map(|c| (c.user_data() as usize, c.result())));
    }

    /// Hands out every collected transfer that has ended, in the kernel's order of completion. Incomplete transfers
    /// continue. If `ended` panics, the results after it stay in the ring, because `drop` waits for every occupied slot.
    pub(crate) fn finish(&mut self, mut ended: impl FnMut(Transfer<T>, Result<(), Errno>)) {
        let mut resumed = false;
        while let Some((slot, result)) = self.results.pop_front() {
            let Some(flight) = self.slots.get_mut(slot).and_then(Option::as_mut) else {
                continue;
            };
            let mut outcome = flight.advance(result, self.block_bytes);
            if outcome.is_none() {
                if self.enqueue(slot) {
                    resumed = true;
                } else {
                    outcome = Some(Err(Errno::AGAIN));
                }
            }
            if let Some(result) = outcome
                && let Some(flight) = self.slots[slot].take()
            {
                self.free.push(slot);
                ended(flight.transfer, result);
            }
        }
        if resumed {
            self.kick();
        }
    }

    /// Queues the rest of a slot's transfer for submission. Returns false if the submission queue is full, which cannot
    /// happen while every slot has at most one entry in it.
    fn enqueue(&mut self, slot: usize) -> bool {
        let file = types::Fd(self.file.as_raw_fd());
        let Some(flight) = self.slots[slot].as_mut() else {
            return false;
        };
        let entry = flight.entry(file).user_data(slot as u64);
        // SAFETY: the entry points to the buffer of the transfer in `slots[slot]`. That memory does not move, and this code
        // neither reads nor writes it until `finish` has seen the completion of this entry. The file outlives the entry
        // because both fields live until `drop` has waited for it.
        unsafe { self.uring.submission().push(&entry) }.is_ok()
    }

    /// Submits the queued entries and lets the kernel run deferred completions. After a refusal (EINTR, EAGAIN, EBUSY) the
    /// entries stay queued for the next call.
    fn kick(&mut self) {
        let _queued_for_later = self.uring.submit();
    }
}

impl<T> Drop for Ring<T> {
    /// Waits for everything in flight: the kernel must not write to freed memory.
    fn drop(&mut self) {
        while self.in_flight() > 0 {
            if !self.collect() {
                self.sleep(None);
            }
            // Incomplete transfers are not continued here.
            for (slot, _) in self.results.drain(..) {
                if self.slots.get_mut(slot).and_then(Option::take).is_some() {
                    self.free.push(slot);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::AlignedBuffer;
    use fathom_block::Op;

    fn read(tag: u32, offset: u64) -> Transfer<u32> {
        Transfer {
            tag,
            op: Op::Read,
            offset,
            len: 4096,
            fua: false,
            buffer: Some(AlignedBuffer::new(4096).unwrap()),
        }
    }

    /// Returns each kind of ring that this kernel supports, over a file of 6 KiB filled with sevens.
    fn rings() -> Vec<Ring<u32>> {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[7u8; 6144]).unwrap();
        let made = [IoUring::new(4), deferred(4)].map(|made| {
            let file = file.try_clone().unwrap().into();
            made.map(|uring| Ring::over(uring, file, 4, 512))
        });
        let [plain, deferred] = made;
        if let Err(error) = &deferred {
            println!("skipped: a ring whose completions wait: {error}");
        }
        [plain.unwrap()].into_iter().chain(deferred).collect()
    }

    #[test]
    fn what_comes_out_is_what_went_in_even_when_the_file_ends_early() {
        for mut ring in rings() {
            assert!(ring.start(read(1, 0)).is_ok());
            assert!(ring.start(read(2, 4096)).is_ok());
            let mut ended = Vec::new();
            while ring.in_flight() > 0 {
                if !ring.collect() {
                    ring.sleep(None);
                }
                ring.finish(|transfer, result| {
                    let first = transfer.buffer.as_ref().map(|b| b.bytes()[0]);
                    ended.push((transfer.tag, result, first));
                });
            }
            ended.sort_by_key(|e| e.0);
            let cut = Err(Errno::OVERFLOW);
            assert_eq!(ended, [(1, Ok(()), Some(7)), (2, cut, Some(7))]);
        }
    }

    /// The results after the panic must stay in the ring, so that `drop` can wait for their slots.
    #[test]
    fn a_panic_in_the_callback_does_not_hang_the_drop() {
        let (ended, waits) = std::sync::mpsc::channel();
        // Runs in a thread of its own, because a failure here means that it never ends.
        std::thread::spawn(move || {
            for mut ring in rings() {
                for tag in 0..3 {
                    assert!(ring.start(read(tag, 0)).is_ok());
                }
                while ring.results.len() < 3 {
                    ring.sleep(None);
                    ring.collect();
                }
                let finish = || ring.finish(|_, _| panic!("on purpose"));
                let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(finish));
                assert!(panics.is_err());
                assert_eq!(ring.in_flight(), 2);
            }
            ended.send(()).unwrap();
        });
        let ended = waits.recv_timeout(Duration::from_secs(20));
        assert_eq!(ended, Ok(()), "the ring is not dropped");
    }

    #[test]
    fn a_transfer_that_its_buffer_cannot_hold_is_refused() {
        for mut ring in rings() {
            let longer = Transfer {
                len: 8192,
                ..read(1, 0)
            };
            assert!(ring.start(longer).is_err());
            assert_eq!(ring.in_flight(), 0);
        }
    }

    #[test]
    fn a_completion_is_seen_by_who_looks_and_never_sleeps() {
        // Uses direct I/O: a read from the page cache would complete within the submitting call.
        let beside = std::env::current_exe().unwrap();
        let path = beside.with_extension("ring");
        std::fs::write(&path, [7u8; 8192]).unwrap();
        for uring in [IoUring::new(4), deferred(4)].into_iter().flatten() {
            let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECT;
            let opened = rustix::fs::open(&path, flags, rustix::fs::Mode::empty());
            let mut ring = Ring::over(uring, opened.unwrap(), 4, 4096);
            assert!(ring.start(read(1, 4096)).is_ok());
            let looks = (0..100_000_000).any(|_| {
                std::thread::yield_now();
                ring.collect()
            });
            assert!(looks);
        }
        std::fs::remove_file(&path).unwrap();
    }
}

//! The loop: keeps a number of reads in flight until a limit.

use super::offsets::Offsets;
use super::queue::{Done, Queue};
use super::seen::{Seen, Stamp};
use super::target::Target;
use super::ticks::Ticks;
use crate::error::HostError;
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// When a loop ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Time after which no read begins, in ticks.
    pub(super) end: u64,
    /// Number of reads in all passes.
    pub(super) ios: u64,
}

/// Why a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At its limit, or because it was stopped.
    Limit,
    /// The list of places is read.
    List,
}

/// A read in flight.
#[derive(Clone, Copy, Default)]
struct Slot {
    offset: u64,
    before: u64,
}

/// A thread's loop over one target.
pub(super) struct Loop<'a> {
    target: &'a Target,
    ticks: Ticks,
    /// Ends the loop from outside: the caller's flag, and the failure of another thread.
    stops: [&'a AtomicBool; 2],
    batch: u32,
    slots: Vec<Slot>,
    free: Vec<u32>,
    done: Vec<Done>,
    /// Where the data of each read is compared with, and the number of differences.
    check: Option<File>,
    pub(super) mismatches: u64,
}

impl<'a> Loop<'a> {
    /// Creates a loop with at most `depth` reads in flight.
    pub(super) fn new(
        target: &'a Target,
        ticks: Ticks,
        stops: [&'a AtomicBool; 2],
        depth: u32,
    ) -> Self {
        Self {
            target,
            ticks,
            stops,
            batch: depth,
            slots: vec![Slot::default(); depth as usize],
            free: (0..depth).rev().collect(),
            done: Vec::with_capacity(depth as usize),
            check: None,
            mismatches: 0,
        }
    }

    /// Submits at most `batch` reads at a time.
    pub(super) fn batched(self, batch: Option<u32>) -> Self {
        let batch = batch.map_or(self.batch, |most| most.clamp(1, self.batch));
        Self { batch, ..self }
    }

    /// Compares the data of every read with that in `file`.
    pub(super) fn checked(self, file: Option<File>) -> Self {
        Self {
            check: file,
            ..self
        }
    }

    /// Returns true if the loop has been ended from outside.
    pub(super) fn stopped(&self) -> bool {
        self.stops.iter().any(|stop| stop.load(Ordering::Relaxed))
    }

    /// Reads until the limit, or the end of the list of places, and until all reads have completed.
    ///
    /// # Errors
    /// A read fails or is short, or the kernel refuses a call. Reads may then still be in flight.
    pub(super) fn pass<Q: Queue>(
        &mut self,
        queue: &mut Q,
        offsets: &mut Offsets,
        limit: Limit,
        seen: &mut Seen,
    ) -> Result<End, HostError> {
        let mut left = limit.ios.saturating_sub(seen.ios);
        if self.stopped() || self.ticks.now() >= limit.end {
            left = 0;
        }
        let mut end = End::Limit;
        loop {
            for _ in 0..self.batch {
                if left == 0 || self.free.is_empty() {
                    break;
                }
                let Some(offset) = offsets.next() else {
                    (left, end) = (0, End::List);
                    break;
                };
                left -= 1;
                self.start(queue, offset)?;
            }
            if self.free.len() == self.slots.len() {
                return Ok(end);
            }
            let wait = left == 0 || self.free.is_empty();
            let went = queue.go(wait, &mut self.done);
            went.map_err(|errno| self.target.refused(errno))?;
            if !self.done.is_empty() {
                let now = self.ticks.now();
                self.finish(queue, now, seen)?;
                if left > 0 && (now >= limit.end || self.stopped()) {
                    (left, end) = (0, End::Limit);
                }
            }
        }
    }

    #[inline]
    fn start<Q: Queue>(&mut self, queue: &mut Q, offset: u64) -> Result<(), HostError> {
        let Some(slot) = self.free.pop() else {
            return Ok(());
        };
        let before = self.ticks.now();
        self.slots[slot as usize] = Slot { offset, before };
        let pushed = queue.push(slot, offset);
        pushed.map_err(|errno| self.target.failed(offset, errno))
    }

    /// Records the completions.
    #[inline]
    fn finish<Q: Queue>(
        &mut self,
        queue: &mut Q,
        after: u64,
        seen: &mut Seen,
    ) -> Result<(), HostError> {
        let again = [Errno::AGAIN, Errno::INTR].map(|errno| -errno.raw_os_error());
        for at in 0..self.done.len() {
            let Done { slot, result } = self.done[at];
            let Slot { offset, before } = self.slots[slot as usize];
            if result == self.target.block_bytes as i32 {
                self.free.push(slot);
                seen.add(Stamp {
                    offset,
                    before,
                    after,
                });
                if let Some(file) = &self.check {
                    let same = self.target.holds(file, offset, queue.data(slot))?;
                    self.mismatches += u64::from(!same);
                }
            } else if again.contains(&result) {
                let pushed = queue.push(slot, offset);
                pushed.map_err(|errno| self.target.failed(offset, errno))?;
            } else {
                return Err(self.target.bad_read(offset, result));
            }
        }
        self.done.clear();
        Ok(())
    }
}

impl Target {
    /// Returns true if the file holds these bytes.
    fn holds(&self, file: &File, offset: u64, bytes: &[u8]) -> Result<bool, HostError> {
        let mut second = vec![0; bytes.len()];
        let read = file.read_exact_at(&mut second, offset);
        let errno = |error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        read.map_err(|error| self.failed(offset, errno(error)))?;
        Ok(second == bytes)
    }
}

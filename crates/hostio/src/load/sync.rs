//! The engine `pread`: one read at a time, done within the call.

use super::queue::{Done, Queue};
use crate::buffer::AlignedBuffer;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, pread};

/// One read at a time.
pub(super) struct SyncQueue {
    file: OwnedFd,
    buffer: AlignedBuffer,
    len: usize,
    next: Option<u64>,
    calls: u64,
}

impl SyncQueue {
    /// Reads blocks of `len` bytes.
    ///
    /// # Errors
    /// ENOMEM if there is no memory for the buffer.
    pub(super) fn new(file: OwnedFd, len: u32) -> Result<Self, Errno> {
        Ok(Self {
            file,
            buffer: AlignedBuffer::new(u64::from(len))?,
            len: len as usize,
            next: None,
            calls: 0,
        })
    }
}

impl Queue for SyncQueue {
    #[inline]
    fn push(&mut self, _slot: u32, offset: u64) -> Result<(), Errno> {
        match self.next.replace(offset) {
            None => Ok(()),
            Some(_) => Err(Errno::AGAIN),
        }
    }

    #[inline]
    fn go(&mut self, _wait: bool, done: &mut Vec<Done>) -> Result<(), Errno> {
        if let Some(offset) = self.next.take() {
            self.calls += 1;
            let read = pread(&self.file, &mut self.buffer.bytes_mut()[..self.len], offset);
            let result = match read {
                Ok(bytes) => bytes as i32,
                Err(errno) => -errno.raw_os_error(),
            };
            done.push(Done { slot: 0, result });
        }
        Ok(())
    }

    fn data(&self, _slot: u32) -> &[u8] {
        &self.buffer.bytes()[..self.len]
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}

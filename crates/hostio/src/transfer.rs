//! One operation for the kernel, and the interpretation of its results.

use crate::buffer::AlignedBuffer;
use fathom_block::Op;
use io_uring::{opcode, squeue, types};
use rustix::io::Errno;

// <linux/fs.h>, <linux/falloc.h>
const RWF_DSYNC: u32 = 0x2;
const FALLOC_FL_KEEP_SIZE: i32 = 0x1;
const FALLOC_FL_PUNCH_HOLE: i32 = 0x2;

/// Maximum number of retries of a transfer after EINTR or EAGAIN without progress.
const RETRIES_MAX: u32 = 64;

/// One operation for the kernel.
pub(crate) struct Transfer<T> {
    /// Caller's data, returned with the transfer.
    pub(crate) tag: T,
    /// The operation. Trim punches a hole into a regular file.
    pub(crate) op: Op,
    /// Offset in bytes.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) len: u64,
    /// Make the write durable before it completes.
    pub(crate) fua: bool,
    /// Data of a read or write, at least `len` bytes; [`Ring::start`](crate::ring::Ring::start) refuses a shorter buffer.
    pub(crate) buffer: Option<AlignedBuffer>,
}

/// A transfer that the kernel owns, and its progress.
pub(crate) struct InFlight<T> {
    pub(crate) transfer: Transfer<T>,
    done: u64,
    retries: u32,
}

impl<T> Transfer<T> {
    /// Returns true if the buffer of a read or write holds `len` bytes. A buffer's length always fits the 32 bits of an
    /// io_uring entry ([`AlignedBuffer::new`]), so the transfer's length does, too.
    pub(crate) fn fits(&self) -> bool {
        let held = self.buffer.as_ref().map_or(0, |b| b.bytes().len() as u64);
        !matches!(self.op, Op::Read | Op::Write) || self.len <= held
    }
}

impl<T> InFlight<T> {
    pub(crate) fn new(transfer: Transfer<T>) -> Self {
        Self {
            transfer,
            done: 0,
            retries: 0,
        }
    }

    pub(crate) fn entry(&mut self, file: types::Fd) -> squeue::Entry {
        let offset = self.transfer.offset + self.done;
        let rest = self.transfer.len - self.done;
        let done = self.done as usize;
        let buffer = self.transfer.buffer.as_mut();
        let place = buffer.map_or(&mut [][..], |b| &mut b.bytes_mut()[done..]);
        let len = rest.min(place.len() as u64) as u32;
        match self.transfer.op {
            Op::Read => opcode::Read::new(file, place.as_mut_ptr(), len)
                .offset(offset)
                .build(),
            Op::Write => opcode::Write::new(file, place.as_ptr(), len)
                .offset(offset)
                .rw_flags(if self.transfer.fua {
                    RWF_DSYNC as i32
                } else {
                    0
                })
                .build(),
            // The check of every request refuses the operations of zoned devices.
            Op::Flush | Op::Append | Op::Zone(_) => opcode::Fsync::new(file)
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
            Op::Trim => opcode::Fallocate::new(file, rest)
                .offset(offset)
                .mode(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)
                .build(),
        }
    }

    /// Interprets a result: returns the outcome of the transfer, or `None` if the rest has to be submitted.
    pub(crate) fn advance(&mut self, result: i32, block_bytes: u64) -> Option<Result<(), Errno>> {
        let moves = matches!(self.transfer.op, Op::Read | Op::Write);
        if result < 0 {
            let errno = Errno::from_raw_os_error(-result);
            self.retries += 1;
            let again = matches!(errno, Errno::INTR | Errno::AGAIN) && self.retries <= RETRIES_MAX;
            return if again { None } else { Some(Err(errno)) };
        }
        if !moves {
            return Some(Ok(()));
        }
        self.done = (self.done + result as u64).min(self.transfer.len);
        if self.done == self.transfer.len {
            return Some(Ok(()));
        }
        // O_DIRECT continues at whole blocks only. Less than a block means the end of the file: another process truncated it
        // (read), or there is no space after it (write).
        self.done -= self.done % block_bytes;
        if (result as u64) < block_bytes {
            return Some(Err(match self.transfer.op {
                Op::Read => Errno::OVERFLOW,
                _ => Errno::NOSPC,
            }));
        }
        self.retries = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(op: Op, len: u64) -> InFlight<()> {
        InFlight {
            transfer: Transfer {
                tag: (),
                op,
                offset: 0,
                len,
                fua: false,
                buffer: None,
            },
            done: 0,
            retries: 0,
        }
    }

    #[test]
    fn a_short_transfer_goes_on_at_a_whole_block() {
        let mut write = flight(Op::Write, 4096);
        assert_eq!(write.advance(1024 + 100, 512), None);
        assert_eq!(write.done, 1024);
        assert_eq!(write.advance(3072, 512), Some(Ok(())));
    }

    #[test]
    fn no_progress_ends_a_transfer_instead_of_spinning() {
        let end = Some(Err(Errno::NOSPC));
        assert_eq!(flight(Op::Write, 4096).advance(0, 512), end);
        let end = Some(Err(Errno::OVERFLOW));
        assert_eq!(flight(Op::Read, 4096).advance(511, 512), end);
        let mut busy = flight(Op::Read, 4096);
        let again = -Errno::AGAIN.raw_os_error();
        let tries = (0..1000).take_while(|_| busy.advance(again, 512).is_none());
        assert_eq!(tries.count(), RETRIES_MAX as usize);
    }

    #[test]
    fn an_error_ends_a_transfer_with_its_number() {
        let mut read = flight(Op::Read, 4096);
        let errno = -Errno::IO.raw_os_error();
        assert_eq!(read.advance(errno, 512), Some(Err(Errno::IO)));
        assert_eq!(flight(Op::Flush, 0).advance(0, 512), Some(Ok(())));
    }
}

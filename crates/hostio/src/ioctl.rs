//! What only an ioctl can ask of a block device, or tell it.

#![allow(unsafe_code)] // The calls that rustix has no safe wrapper for.

use rustix::fd::AsFd;
use rustix::io;
use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};

// <linux/fs.h>; the size in the number of BLKGETSIZE64 is that of `size_t`, the value is a u64.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// Bytes of a block device.
pub(crate) fn size_bytes(fd: impl AsFd) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 writes one u64 to its argument, and does nothing on a file that is no block device.
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// Bytes of a logical block of a block device.
pub(crate) fn logical_block_bytes(fd: impl AsFd) -> io::Result<u32> {
    rustix::fs::ioctl_blksszget(fd)
}

/// Tells a block device that a range is no longer needed. Blocks until the device has taken it.
pub(crate) fn discard(fd: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two u64, start and length in bytes, and writes no memory of ours.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset, len])) }
}

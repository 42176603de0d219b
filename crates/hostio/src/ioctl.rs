//! What only an ioctl or a fcntl can ask of a device or file, or tell it.

#![allow(unsafe_code)] // The calls that rustix has no safe wrapper for.

use rustix::fd::AsFd;
use rustix::io;
use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};

// <linux/fs.h>; the size in the number of BLKGETSIZE64 is that of `size_t`, the value is a u64.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
const BLKDISCARD: Opcode = opcode::none(0x12, 119);
// <linux/loop.h>: numbered before the kernel had a scheme.
const LOOP_GET_STATUS64: Opcode = 0x4c05;

/// The beginning of `struct loop_info64`; the rest is not looked at.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopStatus {
    /// The file system that the backing file lies in.
    pub(crate) device: u64,
    /// The number of the backing file in it.
    pub(crate) inode: u64,
    /// The backing block device; for a file 0, or that of its file system.
    pub(crate) rdevice: u64,
    rest: [u64; 26],
}

/// What a loop device stands on; ENXIO where it is not set up.
pub(crate) fn loop_status(fd: impl AsFd) -> io::Result<LoopStatus> {
    const { assert!(size_of::<LoopStatus>() == 232) };
    // SAFETY: LOOP_GET_STATUS64 writes a `struct loop_info64` of 232 bytes to its argument, for which any bytes are valid.
    unsafe { ioctl(fd, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }
}

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

/// Whether anything else has a regular file open that is open for reading and writing here: the kernel refuses a write
/// lease with EAGAIN then (fcntl(2)). False where it grants none at all: to who does not own the file, on some file systems.
pub(crate) fn held_by_others(fd: impl AsFd) -> bool {
    use std::os::fd::AsRawFd as _;
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: F_SETLEASE takes an integer and touches no memory of ours; the descriptor is open.
    let set = |lease: i32| unsafe { libc::fcntl(fd, libc::F_SETLEASE, lease) };
    if set(libc::F_WRLCK) == 0 {
        set(libc::F_UNLCK);
        return false;
    }
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

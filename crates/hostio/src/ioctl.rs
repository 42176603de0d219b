//! Queries and commands that only an ioctl or fcntl offers.

#![allow(unsafe_code)] // Calls for which rustix has no safe wrapper.

use rustix::fd::AsFd;
use rustix::io;
use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};

// <linux/fs.h>. The number of BLKGETSIZE64 encodes the size of `size_t`, but the value is a u64.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
const BLKDISCARD: Opcode = opcode::none(0x12, 119);
// <linux/loop.h>. This number predates the kernel's encoding scheme.
const LOOP_GET_STATUS64: Opcode = 0x4c05;

/// The beginning of `struct loop_info64`; `rest` is not used.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopStatus {
    /// Device number of the file system that holds the backing file.
    pub(crate) device: u64,
    /// Inode number of the backing file.
    pub(crate) inode: u64,
    /// Device number of the backing block device. For a backing file: 0, or the number of its file system.
    pub(crate) rdevice: u64,
    rest: [u64; 26],
}

/// Returns the status of a loop device; ENXIO if it is not set up.
pub(crate) fn loop_status(fd: impl AsFd) -> io::Result<LoopStatus> {
    const { assert!(size_of::<LoopStatus>() == 232) };
    // SAFETY: LOOP_GET_STATUS64 writes a `struct loop_info64` of 232 bytes to its argument, for which any bytes are valid.
    unsafe { ioctl(fd, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }
}

/// Returns the size of a block device in bytes.
pub(crate) fn size_bytes(fd: impl AsFd) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 writes one u64 to its argument, and does nothing on a file that is no block device.
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// Returns the logical block size of a block device in bytes.
pub(crate) fn logical_block_bytes(fd: impl AsFd) -> io::Result<u32> {
    rustix::fs::ioctl_blksszget(fd)
}

/// Discards a range of a block device. Blocks until the device has accepted it.
pub(crate) fn discard(fd: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two u64, start and length in bytes, and writes no memory of ours.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset, len])) }
}

/// Returns true if another open of a regular file exists. The file must be open for reading and writing here. The kernel
/// then refuses a write lease with EAGAIN (fcntl(2)). Returns false where the kernel grants no lease at all: to a user who
/// does not own the file, and on some file systems.
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

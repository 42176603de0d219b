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

// <linux/nvme_ioctl.h>: _IO('N', 0x40) and _IOWR('N', 0x41, struct nvme_admin_cmd).
const NVME_IOCTL_ID: Opcode = opcode::none(b'N', 0x40);
const NVME_IOCTL_ADMIN_CMD: Opcode = opcode::read_write::<NvmeCommand>(b'N', 0x41);
// <scsi/sg.h>. The number predates the kernel's encoding scheme.
const SG_IO: Opcode = 0x2285;
/// `SG_DXFER_FROM_DEV`.
const FROM_DEVICE: i32 = -3;
/// Bytes of sense data that are kept: the fixed part of both formats (SPC-4, 4.5).
const SENSE_BYTES: usize = 32;

/// `struct nvme_admin_cmd`. `data` and `data_len` are set by [`nvme_admin`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NvmeCommand {
    pub(crate) opcode: u8,
    flags: u8,
    reserved: u16,
    pub(crate) nsid: u32,
    dword2_3: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_len: u32,
    data_len: u32,
    /// Command dwords 10 to 15.
    pub(crate) dwords: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

impl NvmeCommand {
    pub(crate) fn new(opcode: u8, nsid: u32) -> Self {
        Self {
            opcode,
            nsid,
            ..Self::default()
        }
    }
}

/// Executes an admin command that returns data. Returns the drive's status: 0 if it succeeded, else the status code and
/// its type (NVMe base specification 2.0, 3.3.3.2.1). The kernel's own timeout applies (`admin_timeout`, 60 s): it resets the
/// controller when an admin command exceeds its timeout (`nvme_timeout`, drivers/nvme/host/pci.c, 6.1), so a shorter one
/// could stop a drive that is merely busy.
pub(crate) fn nvme_admin(
    fd: impl AsFd,
    mut command: NvmeCommand,
    data: &mut [u8],
) -> io::Result<u32> {
    use std::os::fd::AsRawFd as _;
    const { assert!(size_of::<NvmeCommand>() == 72) };
    command.data = data.as_mut_ptr() as u64;
    command.data_len = data.len() as u32;
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: The kernel reads and writes the 72 bytes of `command`, and writes at most `data_len` bytes at `data`, which
    // `data` owns until the call returns. On a file that is no NVMe drive, the call fails with ENOTTY.
    let status = unsafe {
        libc::ioctl(
            fd,
            NVME_IOCTL_ADMIN_CMD as _,
            std::ptr::from_mut(&mut command),
        )
    };
    match status {
        ..0 => Err(last_error()),
        status => Ok(status as u32),
    }
}

/// Returns the number of a namespace, given its block device.
pub(crate) fn nvme_namespace(fd: impl AsFd) -> io::Result<u32> {
    use std::os::fd::AsRawFd as _;
    // SAFETY: NVME_IOCTL_ID takes no argument and returns a number.
    let id = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), NVME_IOCTL_ID as _) };
    match id {
        ..0 => Err(last_error()),
        id => Ok(id as u32),
    }
}

/// `struct sg_io_hdr`.
#[repr(C)]
struct SgIo {
    interface: i32,
    direction: i32,
    command_len: u8,
    sense_max: u8,
    pieces: u16,
    data_len: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    id: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

/// How a SCSI command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScsiStatus {
    /// Status of the device (SAM-5, 5.3.1); 0 is GOOD.
    pub(crate) status: u8,
    /// Status of the host adapter (`DID_*`); 0 is good.
    pub(crate) host: u16,
}

/// Executes a SCSI command of 16 bytes that returns data, with the kernel's timeout (60 s).
pub(crate) fn scsi_read(
    fd: impl AsFd,
    command: &[u8; 16],
    data: &mut [u8],
) -> io::Result<ScsiStatus> {
    use std::os::fd::AsRawFd as _;
    const { assert!(size_of::<usize>() != 8 || size_of::<SgIo>() == 88) };
    let mut sense = [0; SENSE_BYTES];
    let mut request = SgIo {
        interface: i32::from(b'S'),
        direction: FROM_DEVICE,
        command_len: command.len() as u8,
        sense_max: SENSE_BYTES as u8,
        pieces: 0,
        data_len: data.len() as u32,
        data: data.as_mut_ptr(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: 0,
        flags: 0,
        id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: The kernel reads and writes `request`, reads the 16 bytes of `command`, and writes at most `data_len` bytes at
    // `data` and `sense_max` bytes at `sense`. All of them live until the call returns.
    let failed = unsafe { libc::ioctl(fd, SG_IO as _, std::ptr::from_mut(&mut request)) } < 0;
    if failed {
        return Err(last_error());
    }
    Ok(ScsiStatus {
        status: request.status,
        host: request.host_status,
    })
}

fn last_error() -> io::Errno {
    let error = std::io::Error::last_os_error().raw_os_error();
    io::Errno::from_raw_os_error(error.unwrap_or(libc::EIO))
}

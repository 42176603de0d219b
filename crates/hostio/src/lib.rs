//! Implements [`fathom_block::Device`] for real drives and files, behind a safety lock.
//!
//! - [`inspect()`] reports the kind of a path, the drive under it and every reason against writing to it. It opens nothing
//!   for writing.
//! - [`open`] opens a path with io_uring and `O_DIRECT`, unless the safety lock ([`safety`]) refuses.
//! - [`KernelScheduler`] switches the kernel's I/O scheduler of a drive and restores it.
//! - [`DriveQueue`] reads the attributes of a drive's request queue; [`QueueChange`] sets some of them and restores them,
//!   from a journal ([`restore_left`]) where its process was killed.
//! - [`Capture`] records the block requests of the running kernel in a private instance of its tracing.
//! - [`load`] reads at random by the kernel's different interfaces and measures what that costs the caller.
//! - [`Recorder`] records the events that an I/O passes in the kernel, in another such instance, in the clocks of the
//!   processor where the kernel has that clock ([`TraceClock`]). [`IoDevices`] are the devices under a path.
//! - [`drive_log`] reads what a drive logs of its own work, or returns a [`LogError`] that says why not and what to do. An
//!   open device keeps that reason ([`HostDevice::log_error`]).
//! - [`reported`] is what the kernel and the drive say of sizes, limits and features ([`reported::Reported`], with
//!   [`reported::NvmeReported`] and [`reported::AtaReported`]); [`reported::inconsistencies`] are the values that cannot all
//!   be true, each an [`reported::Inconsistency`]. [`reported::reported`] reads them.
//! - [`HostDevice`] is the open device. It sleeps in the kernel, and its clock is the host's monotonic clock.
//!
//! Linux only, 5.11 or later. The attributes of a request queue, with the scheduler among them, and the private trace
//! instance are the only things that this crate changes in the system. It mounts nothing, locks
//! only the device or file that it writes to, and never writes to a file that the user did not name. It cannot see three
//! things: data of an unknown kind on a drive without a known signature (reported as a note, not refused), users of the
//! drive in another machine, and where a file system places the blocks of a file (offsets in a file are not offsets on the
//! drive).

mod buffer;
mod capture;
mod clearance;
mod clock;
mod config;
mod device;
mod error;
mod exclusive;
mod failure;
mod fields;
mod finding;
mod holds;
mod identity;
mod inspect;
mod ioctl;
pub mod load;
mod log;
mod metadata;
mod node;
mod queue;
mod recorder;
pub mod reported;
mod ring;
pub mod safety;
mod scheduler;
mod scratch;
mod signature;
mod sysfs;
mod target;
mod tracing;
mod transfer;
mod usage;

pub use capture::{Capture, CaptureConfig, CaptureEvent, Captured, Disk, Thread, Unsaid};
pub use clearance::Clearance;
pub use config::{HostConfig, MAX_REQUEST_BYTES, QueueDepth};
pub use device::HostDevice;
pub use error::{HostError, Refused};
pub use finding::{Finding, Process, Weight};
pub use identity::{Identity, QueueLimits};
pub use inspect::{Inspection, Kind, inspect};
pub use log::{LogError, drive_log};
pub use queue::{DriveQueue, Left, Outcome, QueueChange, Refusal, Setting, Since, restore_left};
pub use recorder::{IoDevices, Purpose, Recorded, Recorder, RecorderConfig, TraceClock};
pub use scheduler::KernelScheduler;
pub use signature::Signature;
pub use target::{open, refuse_memory};

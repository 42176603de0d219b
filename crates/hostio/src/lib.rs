//! Real drives and files behind [`fathom_block::Device`], and the safety lock in front of them.
//!
//! - [`inspect()`] tells what a path is, which drive stands behind it and what speaks against writing to it. It opens
//!   nothing for writing.
//! - [`open`] opens it through io_uring and `O_DIRECT`, unless the safety lock ([`safety`]) refuses.
//! - [`KernelScheduler`] switches the kernel's scheduler of a drive, and puts it back.
//! - [`HostDevice`] is the device: it sleeps in the kernel, and its clock is the monotonic one of the host.
//!
//! Linux only, 5.11 or later. It changes no setting of the system but that one, it mounts nothing and locks nothing but the device that
//! it writes to, and it never writes to a file that it was not told to by name. What it cannot see: data of an unknown
//! kind on a drive without a known signature (reported as a note, not refused), users of the drive in another machine,
//! and where a file system put the blocks of a file (offsets in a file are not offsets on the drive).

mod buffer;
mod clearance;
mod clock;
mod config;
mod device;
mod error;
mod exclusive;
mod finding;
mod holds;
mod identity;
mod inspect;
mod ioctl;
mod node;
mod ring;
pub mod safety;
mod scheduler;
mod scratch;
mod signature;
mod sysfs;
mod target;
mod transfer;
mod usage;

pub use clearance::Clearance;
pub use config::{HostConfig, MAX_REQUEST_BYTES, QueueDepth};
pub use device::HostDevice;
pub use error::{HostError, Refused};
pub use finding::{Finding, Process, Weight};
pub use identity::{Identity, QueueLimits};
pub use inspect::{Inspection, Kind, inspect};
pub use scheduler::KernelScheduler;
pub use signature::Signature;
pub use target::open;

//! The contract: one [`Device`] for modelled and real drives, devices without a model, layers that wrap a device,
//! and the conformance suite that every one of them passes.
//!
//! Knows no drive model, does no real I/O and reads no clock: the device is the clock.
//!
//! For tests of what stands above a device: [`RamDevice`] keeps bytes, [`Faulty`] lets requests fail, and
//! [`modelled_info`](devices::modelled_info) is what such a device says of itself.

mod access;
pub mod conformance;
pub mod contract;
pub mod devices;
pub mod layers;
pub mod program;
pub mod simulated;
mod subject;

pub use access::Access;
pub use contract::{
    Busy, Completion, Contents, Device, DeviceInfo, IoError, IoErrorKind, Op, Request, RequestId,
    Tag,
};
pub use devices::{NullDevice, RamDevice};
pub use layers::{Faulty, Narrow, Noisy};
pub use subject::{DriveStats, Given, QueueWork, Subject, Wear};

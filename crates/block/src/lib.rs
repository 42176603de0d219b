//! The block device contract: one [`Device`] trait for modelled and real drives, simple devices without a drive model,
//! layers that wrap a device, and the conformance suite that all of them pass.
//!
//! This crate contains no drive model, does no real I/O and reads no clock: the device provides the time.
//!
//! For tests of code above a device: [`RamDevice`] stores bytes, [`ZonedRam`] stores them in zones, which
//! [`fail_zone`](ZonedRam::fail_zone) makes fail ([`ZonedPages`](devices::zoned_ram::ZonedPages) is its store, and
//! [`is_active`](ZoneState::is_active) tells which zones count for a limit), [`Faulty`] makes requests fail, and
//! [`modelled_info`](devices::modelled_info) returns the properties of such a device. Devices of one latency are a
//! [`Fixed`](devices::Fixed) over what [serves](devices::Serve) their requests.

mod access;
pub mod conformance;
pub mod contract;
pub mod devices;
mod error_kind;
pub mod kernel;
pub mod layers;
mod log;
pub mod program;
pub mod simulated;
mod subject;
pub mod zoned;

pub use access::Access;
pub use contract::{
    Busy, Completion, Contents, Device, DeviceInfo, IoError, Op, Payload, Request, RequestId, Tag,
};
pub use devices::{NullDevice, RamDevice, ZonedRam};
pub use error_kind::IoErrorKind;
pub use layers::{Faulty, Limited, Narrow, Noisy};
pub use log::DriveLog;
pub use subject::{DriveStats, Given, QueueWork, Subject, Wear};
pub use zoned::{Zone, ZoneAction, ZoneState, Zoned};

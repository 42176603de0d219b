//! The contract: one [`Device`] for modelled and real drives, devices without a model, layers that wrap a device,
//! and the conformance suite that every one of them passes.
//!
//! Knows no drive model, does no real I/O and reads no clock: the device is the clock.

pub mod contract;

pub use contract::{
    Busy, Completion, Device, DeviceInfo, IoError, IoErrorKind, Op, Request, RequestId, Tag,
};

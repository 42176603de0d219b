//! Layers: devices that wrap a device. A stack of them is a value.
//!
//! Every layer keeps the contract over a modelled and over a real device: time passes only in the inner device's
//! `wait`. A layer shows the inner device's [`crate::DeviceInfo`] unchanged; [`Narrow`] alone
//! shows another depth.

pub mod faulty;
mod held;
pub mod narrow;
pub mod noisy;

pub use faulty::{Fault, Faulty, Stage, When};
pub use narrow::Narrow;
pub use noisy::{Latencies, Noisy};

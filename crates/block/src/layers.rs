//! Layers: devices that wrap another device. Stacks of them are ordinary values.
//!
//! Every layer keeps the contract over modelled and real devices: time passes only in the inner device's `wait`. A layer
//! shows the inner device's [`crate::DeviceInfo`] unchanged, except that [`Narrow`] shows a different queue depth.

pub mod faulty;
mod held;
mod limit;
pub mod limited;
pub mod narrow;
pub mod noisy;

pub use faulty::{Fault, Faulty, Stage, When};
pub use limit::Limit;
pub use limited::Limited;
pub use narrow::Narrow;
pub use noisy::{Latencies, Noisy};

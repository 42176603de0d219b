//! Layers: devices that wrap a device. A stack of them is a value.
//!
//! Every layer keeps the contract over a modelled and over a real device: time passes only in the inner device's
//! `wait`. A layer shows the inner device's [`crate::DeviceInfo`] unchanged; [`Narrow`] alone
//! shows another depth.

pub mod delay;
pub mod error;
mod held;
pub mod narrow;
pub mod noisy;
pub mod paced;
pub mod stats;
pub mod trace;

pub use delay::{Delayed, OpDelay};
pub use error::{Fault, Faulty, Stage, When};
pub use narrow::Narrow;
pub use noisy::{Latencies, Noisy};
pub use paced::{Limits, Paced};
pub use stats::{OpStats, Stats};
pub use trace::{Event, Sink, Traced};

use crate::Op;

/// One value for each kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerOp<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For flushes.
    pub flush: T,
    /// For trims.
    pub trim: T,
}

impl<T> PerOp<T> {
    /// The value for one kind.
    pub fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Flush => &self.flush,
            Op::Trim => &self.trim,
        }
    }

    /// The value for one kind, to change.
    pub fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Flush => &mut self.flush,
            Op::Trim => &mut self.trim,
        }
    }
}

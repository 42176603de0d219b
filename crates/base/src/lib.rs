//! What every other crate stands on: units, identifiers, seeded randomness, the event queue, a slab,
//! how drive files are read, and the registry of everything that has a name.
//!
//! Knows nothing of drives, reads no clock, no file and no environment, and contains no `unsafe`.

pub mod bad;
pub mod bus;
pub mod drive_file;
pub mod event;
pub mod id;
pub mod memory;
pub mod near;
pub mod registry;
pub mod rng;
pub mod slab;
pub mod unit;

pub use bad::{BadValue, want};
pub use bus::{Bus, Exact};
pub use drive_file::SpecError;
pub use event::EventQueue;
pub use id::{Lpn, Ppn};
pub use registry::{About, Key, Kind, Named};
pub use rng::Rng;
pub use slab::Slab;
pub use unit::{Bytes, Dur, Rate, Time, UnitError};

/// Bytes of the smallest addressable sector that Fathom's models keep track of.
pub const SECTOR_BYTES: u64 = 512;

//! Foundations of all other crates: units, identifiers, seeded random numbers, the event queue, a slab, linked lists,
//! drive file parsing, and the registry of everything that has a name.
//!
//! This crate knows nothing of drives, reads no clock, no file and no environment variable, and contains no `unsafe`.

pub mod bad;
pub mod bus;
pub mod drive_file;
pub mod event;
pub mod id;
pub mod links;
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
pub use links::{Links, List};
pub use registry::{About, Key, Kind, Named};
pub use rng::Rng;
pub use slab::Slab;
pub use unit::{Bytes, Dur, Frequency, Rate, Time, UnitError};

/// Size in bytes of a sector, the smallest unit that Fathom's models keep track of.
pub const SECTOR_BYTES: u64 = 512;

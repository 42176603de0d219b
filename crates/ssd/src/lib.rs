//! The model of a solid state drive: flash array, translation layer, buffers and host link behind the one
//! [`fathom_block::Device`] contract.
//!
//! The effects that a probe measures arise from these mechanisms; no result is built in. The model reads no clock, no
//! file and no environment variable: a run is a function of (spec, seed). It always models time, and stores data bytes on
//! request ([`Ssd::keep_data`]). It does not model bit errors, wear-out or thermal throttling.
//!
//! To study crash consistency, a drive that keeps data can lose power: [`Ssd::cut_power`] cuts it at once,
//! [`Ssd::cut_power_after`] after a given number of flash operations. [`Ssd::power_on`] restores power and
//! [`Ssd::is_powered`] returns the state. Blocks go bad if the spec says so: [`Ssd::bad_blocks_of`] counts those of a
//! group, and [`Ssd::is_worn_out`] is true once no spare block is left. [`Ssd::map_counts`] returns the [`MapCounts`] of
//! a mapping table stored in flash, [`Geometry::physical_units`] the size of the flash. A [`PageBuffer`] works without a
//! drive: it accepts writes, and [`PageBuffer::evict`] removes the next eviction batch. [`Ssd::misplaced_writes`] counts the
//! writes with an unknown placement handle.

mod bits;
mod buffer;
mod engine;
mod event;
mod ftl;
mod geometry;
mod link;
mod nand;
pub mod presets;
mod seed;
pub mod spec;

pub use buffer::pages::{
    Age as BufferAge, Evicted, PageBuffer, PageBufferError, Setup as PageBufferSetup, Stored,
};
pub use buffer::reshape;
pub use engine::{Counters, Ssd};
pub use ftl::{MapCounts, MergeCounts};
pub use geometry::Geometry;
pub use spec::{Spec, SpecError};

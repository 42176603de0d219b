//! The model of a solid state drive: flash array, translation layer, buffers and host link behind the one
//! [`fathom_block::Device`] contract.
//!
//! What a probe sees follows from these mechanisms; nothing here knows an answer. The model reads no clock, no
//! file and no environment: a run is a function of (spec, seed). It models time always and bytes on request
//! ([`Ssd::keep_data`]); it does not model bit errors, wear-out or thermal throttling.
//!
//! For studies of what survives, a drive that keeps data can lose its power: [`Ssd::cut_power`] now or
//! [`Ssd::cut_power_after`] so many flash operations, then [`Ssd::power_on`]; [`Ssd::is_powered`] tells which. Blocks go bad
//! where the spec asks for it: [`Ssd::bad_blocks_of`] a group, and [`Ssd::is_worn_out`] once no spare one is left.
//! [`Ssd::map_counts`] has the [`MapCounts`] of a map that lies in flash, [`Geometry::physical_units`] the size of the
//! flash. A [`PageBuffer`] works without a drive: it takes writes, and [`PageBuffer::evict`] takes out what leaves next.

mod bits;
mod buffer;
mod engine;
mod event;
mod ftl;
mod geometry;
mod link;
mod nand;
pub mod presets;
pub mod spec;

pub use buffer::pages::{
    Age as BufferAge, Evicted, PageBuffer, PageBufferError, Setup as PageBufferSetup, Stored,
};
pub use buffer::reshape;
pub use engine::{Counters, Ssd};
pub use ftl::{MapCounts, MergeCounts};
pub use geometry::Geometry;
pub use spec::{Spec, SpecError};

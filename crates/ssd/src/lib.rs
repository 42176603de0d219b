//! The model of a solid state drive: flash array, translation layer, buffers and host link behind the one
//! [`fathom_block::Device`] contract.
//!
//! What a probe sees follows from these mechanisms; nothing here knows an answer. The model reads no clock, no
//! file and no environment: a run is a function of (spec, seed). It models time always and bytes on request
//! ([`Ssd::keep_data`]); it does not model bit errors, wear-out or thermal throttling.

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

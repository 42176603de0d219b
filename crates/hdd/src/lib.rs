//! The model of a disk: seek, rotation, zones, track cache and write cache behind the one
//! [`fathom_block::Device`] contract.
//!
//! What a benchmark sees follows from these mechanisms; no throughput is a setting. The model reads no clock, no file
//! and no environment: a run is a function of (spec, seed). It models time always and bytes on request
//! ([`Hdd::keep_data`]). It does not model defects and spare sectors, retries, power cuts, spinning down, heat, or
//! surfaces that are written in serpentines; `docs/disk.md` says what that leaves out.
//!
//! [`Hdd::seek_curve`] and [`Hdd::geometry`] say what a disk file comes to: [`SeekCurve::coefficients_ns`],
//! [`Geometry::locate`].

mod cache;
mod dirty;
mod engine;
mod geometry;
mod link;
pub mod presets;
pub mod seek;
pub mod spec;
mod store;

pub use engine::{Counters, Hdd};
pub use geometry::{Geometry, Place, Track, ZoneLayout};
pub use seek::SeekCurve;
pub use spec::{Spec, SpecError};

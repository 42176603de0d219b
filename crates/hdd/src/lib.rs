//! The model of a hard disk: seek, rotation, zones, segmented read cache and write cache behind the one
//! [`fathom_block::Device`] contract.
//!
//! The effects that a benchmark measures arise from these mechanisms; no throughput is a setting. The model reads no
//! clock, no file and no environment variable: a run is a function of (spec, seed). It always models time, and stores
//! data bytes on request ([`Hdd::keep_data`]). It does not model defects and spare sectors, retries, power cuts,
//! spin-down, temperature, or serpentine track layouts; `docs/disk.md` explains the consequences.
//!
//! [`Hdd::seek_curve`] and [`Hdd::geometry`] return the quantities derived from a disk file:
//! [`SeekCurve::coefficients_ns`], [`Geometry::locate`].

mod cache;
mod dirty;
mod engine;
mod geometry;
mod link;
pub mod presets;
pub mod seek;
pub mod spec;

pub use engine::{Counters, Hdd};
pub use geometry::{Geometry, Place, Track, ZoneLayout};
pub use seek::SeekCurve;
pub use spec::{Spec, SpecError};

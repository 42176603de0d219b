//! How often the probes are right: random drives, each probed blind, and the answers compared with what is there.
//!
//! [`draw()`] makes a drive from a seed and an index, of a family that the papers' drives and those of today belong to:
//! block mapping with log blocks or page mapping, SATA or NVMe, SLC to TLC, with and without buffers, prefetch,
//! battery and noise. [`Truth`] says what there is to find in it, by rules that know the drive file and no probe.
//! [`run`] probes through [`fathom_block::Device`] alone, and [`score()`] compares.
//!
//! It does not draw drives that the model cannot build (compression, a second tier of flash, thermal throttling), and
//! it does not judge real drives, whose truth nobody knows.

mod campaign;
mod draw;
mod score;
mod tally;
mod truth;

pub use campaign::{Answer, Plan, Unwatched, Watcher, run};
pub use draw::{Drawn, draw};
pub use score::{INTERVAL_SHARE_MAX, Outcome, covers, score};
pub use tally::{MethodTally, RECALL_MIN, Tally, WRONG_MAX, tally};
pub use truth::Truth;

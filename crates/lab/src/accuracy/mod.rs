//! How often the probes are right: random targets, each probed blind, and the answers compared with what is there.
//!
//! [`draw()`] makes a target from a family, a seed and an index: drives of everything that the model can build
//! ([`Family::Wide`]), drives as they were drawn before ([`Family::Narrow`]), or no drive at all but the latencies of a
//! busy disk ([`Family::Noise`]). [`Truth`] says what there is to find in it, by rules that know the drive file and no
//! probe. [`run`] probes through [`fathom_block::Device`] alone, [`score()`] compares, and [`tally()`] counts.
//!
//! It does not draw drives that the model cannot build (compression, a second tier of flash, thermal throttling), and
//! it does not judge real drives, whose truth nobody knows.

mod campaign;
mod dice;
mod draw;
mod noise;
mod score;
mod tally;
mod truth;

pub use campaign::{About, Answer, Plan, Results, Watcher, run};
pub use draw::{Axes, Drawn, Family, Target, draw};
pub use noise::{Disturbance, NoiseTarget, Recorded, Recording, RecordingError};
pub use score::{Outcome, covers, score};
pub use tally::{INVENTED_MAX, MethodTally, RECALL_MIN, Tally, WRONG_MAX, tally};
pub use truth::{Right, Sight, Truth, mapping_unit, read_unit};

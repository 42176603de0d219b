//! Measures the accuracy of the probes: draws random targets, probes each without knowledge of its parameters, and compares
//! the answers with the ground truth.
//!
//! [`draw()`] makes a target from a family, a seed and an index. [`Family::Wide`] holds drives with every feature that the
//! model has, [`Family::Narrow`] the drives of the first campaigns, [`Family::Modern`] drives of the classes of today, and
//! [`Family::Noise`] only the latencies of a busy disk, without a drive. [`Truth`] is derived from the drive file alone, by rules that are independent of the probes.
//! [`run`] probes through [`fathom_block::Device`] only, [`score()`] compares an answer with the truth, and [`tally()`]
//! counts the outcomes.
//!
//! Real drives are not judged, because their ground truth is unknown.

mod campaign;
mod dice;
mod draw;
mod noise;
mod score;
mod tally;
mod truth;

pub use campaign::{About, Answer, Results, Watcher, run};
pub use draw::{Axes, Drawn, Target, draw};
pub use fathom_report::accuracy::{Family, MethodTally, Outcome, Plan};
pub use noise::{Disturbance, NoiseTarget, Recorded, Recording, RecordingError};
pub use score::{covers, score};
pub use tally::tally;
pub use truth::{Right, Sight, Truth, mapping_unit, read_unit};

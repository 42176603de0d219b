//! A study: drives x policies x workloads x seeds, every combination one run; in parallel, and resumable.
//!
//! A study file is resolved into runs before the first one starts, so that an unknown policy or an impossible drive
//! is told at once and with its place. A run is written whole when it ends: what was killed costs the runs in
//! flight. Runs that start from the same state of the same drive share its preparation: it is prepared once and
//! forked for each.

mod error;
mod file;
mod plan;
mod run;
mod sizes;
mod table;

pub use error::StudyError;
pub use file::{Axis, Point, Sizes, Study};
pub use plan::{Run, plan};
pub use run::{Finished, Watcher, run};
pub use table::rows;

//! Studies: every combination of drive, policy, workload and seed is one run. Runs are parallel and can be resumed.
//!
//! A study file is resolved into runs before the first one starts, so that an unknown policy or an impossible drive is
//! reported at once, with its place. A run is written as a whole when it ends: killing a study loses only the runs in
//! flight. Runs that start from the same state of the same drive share its preconditioning: the drive is prepared once and
//! cloned for each run.

mod asked;
mod error;
mod faults;
mod file;
mod plan;
mod read;
mod run;
mod sizes;
mod table;

pub use error::{Fault, StudyError};
pub use file::{Axis, Point, Sizes, Study};
pub use plan::{Run, plan};
pub use run::{Finished, Watcher, run};
pub use table::rows;
